package scenario

import (
	"maps"
	"slices"
)

// PointOutcome is what a point came to, over all seeds.
type PointOutcome struct {
	// Point is its number.
	Point  int   `json:"-"`
	Values []any `json:"values"`
	// Unchanged: the configuration has these values already.
	Unchanged bool `json:"unchanged,omitempty"`
	Runs      int  `json:"runs"`
	Passed    int  `json:"passed"`
	// Metrics are medians over the seeds.
	Metrics map[string]float64 `json:"metrics"`
}

// PointOutcome returns what the runs of a point came to.
func (s *Sweep) PointOutcome(point int, runs []RunOutcome) PointOutcome {
	o := PointOutcome{Point: point, Values: s.Values(point), Unchanged: point == s.Unchanged, Runs: len(runs), Metrics: map[string]float64{}}
	all := map[string][]float64{}
	for _, r := range runs {
		if r.Outcome == Passed {
			o.Passed++
		}
		all[MetricExpectations] = append(all[MetricExpectations], float64(r.Held))
		for name, value := range r.Values {
			all[name] = append(all[name], value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		o.Metrics[name] = median(all[name])
	}
	o.Metrics[MetricPassed] = float64(o.Passed)
	return o
}

// RunOutcome is what a sweep keeps of a run.
type RunOutcome struct {
	Point   int                `json:"point"`
	Seed    int64              `json:"seed"`
	Outcome Outcome            `json:"outcome"`
	Held    int                `json:"held"`
	Of      int                `json:"of"`
	Error   string             `json:"error,omitempty"`
	Values  map[string]float64 `json:"values,omitempty"`
	// Failures are kept if the file asks for it.
	Failures []ExpectationResult `json:"failures,omitempty"`
}

// OutcomeOf returns what the sweep keeps of a run.
func (s *Sweep) OutcomeOf(point int, r *Result) RunOutcome {
	o := RunOutcome{Point: point, Seed: r.Seed, Outcome: r.Outcome, Held: r.Held, Of: r.Expectations, Error: r.Error, Values: r.Values}
	if !s.KeepFailures {
		return o
	}
	for _, step := range r.Steps {
		for _, e := range step.Expectations {
			if !e.Passed {
				o.Failures = append(o.Failures, e)
			}
		}
	}
	return o
}

// Rank sorts outcomes, the best first. Equal ones keep their order. It returns the rank of each,
// from 1: equal ones have the same.
func (s *Sweep) Rank(outcomes []PointOutcome) []int {
	compare := func(a, b PointOutcome) int {
		for _, g := range s.Best {
			x, y := a.Metrics[g.Metric], b.Metrics[g.Metric]
			if x == y {
				continue
			}
			if (x > y) == g.Most {
				return -1
			}
			return 1
		}
		return 0
	}
	slices.SortStableFunc(outcomes, compare)
	ranks := make([]int, len(outcomes))
	for i := range outcomes {
		ranks[i] = i + 1
		if i > 0 && compare(outcomes[i-1], outcomes[i]) == 0 {
			ranks[i] = ranks[i-1]
		}
	}
	return ranks
}

// SweepResult is what came of a sweep so far.
type SweepResult struct {
	Parameters []Parameter `json:"parameters"`
	// Metrics are the names of its own metrics.
	Metrics []string `json:"metrics"`
	Best    []Goal   `json:"best"`
	Seeds   []int64  `json:"seeds"`
	// Points are the ranked ones, the best first, and then the others.
	Points []SweepPoint `json:"points"`
}

// SweepPoint is a combination of values. The result of its run with the seed number i has the index
// Point × seeds + i.
type SweepPoint struct {
	Point  int   `json:"point"`
	Values []any `json:"values"`
	// Unchanged: the configuration has these values already.
	Unchanged bool `json:"unchanged,omitempty"`
	// Rank is that among the points whose runs have all ended, from 1; 0 for others.
	Rank   int `json:"rank,omitempty"`
	Done   int `json:"done"`
	Passed int `json:"passed"`
	// Metrics are medians over the runs that have ended.
	Metrics map[string]float64 `json:"metrics"`
}

// Result returns what came of a sweep whose runs have these results so far; nil for those that have
// not ended.
func (s *Sweep) Result(results []*Result) *SweepResult {
	out := &SweepResult{Parameters: s.Parameters, Metrics: []string{}, Best: s.Best, Seeds: s.Seeds, Points: []SweepPoint{}}
	for _, m := range s.Metrics {
		out.Metrics = append(out.Metrics, m.Name)
	}
	var complete []PointOutcome
	var others []SweepPoint
	for i := range s.Len() {
		var ended []RunOutcome
		for _, result := range results[i*len(s.Seeds) : (i+1)*len(s.Seeds)] {
			if result != nil && result.Outcome != Canceled && result.Outcome != Broken {
				ended = append(ended, s.OutcomeOf(i, result))
			}
		}
		outcome := s.PointOutcome(i, ended)
		if len(ended) == len(s.Seeds) {
			complete = append(complete, outcome)
			continue
		}
		others = append(others, resultOf(outcome, 0))
	}
	ranks := s.Rank(complete)
	for i, outcome := range complete {
		out.Points = append(out.Points, resultOf(outcome, ranks[i]))
	}
	out.Points = append(out.Points, others...)
	return out
}

func resultOf(o PointOutcome, rank int) SweepPoint {
	metrics := o.Metrics
	if o.Runs == 0 {
		metrics = map[string]float64{}
	}
	return SweepPoint{Point: o.Point, Values: o.Values, Unchanged: o.Unchanged, Rank: rank, Done: o.Runs, Passed: o.Passed, Metrics: metrics}
}
