package runs

import (
	"kube-scheduler-simulator/simulator/runner"
	"kube-scheduler-simulator/simulator/scenario"
)

// Sweep is what came of a sweep so far.
type Sweep struct {
	Parameters []Parameter `json:"parameters"`
	// Metrics are the names of its own metrics.
	Metrics []string `json:"metrics"`
	Best    []Goal   `json:"best"`
	Seeds   []int64  `json:"seeds"`
	// Points are the ranked ones, the best first, and then the others.
	Points []Point `json:"points"`
}

// Parameter is what the sweep changes.
type Parameter struct {
	Name   string `json:"name"`
	Values []any  `json:"values"`
}

// Goal says by what points are ranked.
type Goal struct {
	Metric string `json:"metric"`
	Most   bool   `json:"most"`
}

// Point is a combination of values. The result of its run with the seed number i has the index Point × seeds + i.
type Point struct {
	Point  int   `json:"point"`
	Values []any `json:"values"`
	// Rank is that among the points whose runs have all ended, from 1; 0 for others.
	Rank   int `json:"rank,omitempty"`
	Done   int `json:"done"`
	Passed int `json:"passed"`
	// Metrics are medians over the runs that have ended.
	Metrics map[string]float64 `json:"metrics"`
}

// startSweep begins the runs of a sweep in the background.
func (r *Runs) startSweep(q Request) (Entry, error) {
	if q.Against != "" {
		return Entry{}, wrong("against: a sweep compares nothing with a second configuration")
	}
	l, err := runner.ReadSweep([]byte(q.Sweep), scenario.Options{File: "sweep", Parse: r.options.Parse, Read: r.reader(q)}, nil)
	if err != nil {
		return Entry{}, wrongFile(err)
	}
	if l.Runs() > MaxRuns {
		return Entry{}, wrong("the sweep has %d runs; the limit of this server is %d: use the command sweep for more", l.Runs(), MaxRuns)
	}
	if err := sameGates(l.Scenario.Matrix.FeatureGates[0]); err != nil {
		return Entry{}, wrong("%s", err)
	}
	var jobs []scenario.Job
	for i := range l.Len() {
		point, err := l.Point(i)
		if err != nil {
			return Entry{}, wrong("%s", err)
		}
		for _, seed := range l.Seeds {
			job := l.Job(point, seed, r.options.Engine)
			job.Options.KeepDecisions = true
			jobs = append(jobs, job)
		}
	}
	return r.begin(Entry{Name: l.Name, Scenario: q.Sweep}, l, l.Scenario, jobs, nil)
}

// outcomeOf returns what came of a sweep so far.
func outcomeOf(l *runner.Loaded, results []*scenario.Result) *Sweep {
	out := &Sweep{Parameters: []Parameter{}, Metrics: []string{}, Seeds: l.Seeds, Points: []Point{}}
	for _, p := range l.Parameters {
		out.Parameters = append(out.Parameters, Parameter{p.Name, p.Values})
	}
	for _, m := range l.Metrics {
		out.Metrics = append(out.Metrics, m.Name)
	}
	for _, g := range l.Best {
		out.Best = append(out.Best, Goal{g.Metric, g.Most})
	}
	var complete []scenario.PointOutcome
	var others []Point
	for i := range l.Len() {
		values := l.Values(i)
		var ended []scenario.RunOutcome
		for _, result := range results[i*len(l.Seeds) : (i+1)*len(l.Seeds)] {
			if result != nil && result.Outcome != scenario.Canceled && result.Outcome != scenario.Broken {
				ended = append(ended, l.OutcomeOf(i, result))
			}
		}
		outcome := scenario.NewPointOutcome(values, ended)
		if len(ended) == len(l.Seeds) {
			complete = append(complete, outcome)
			continue
		}
		outcome.Point = i
		others = append(others, pointOf(outcome, 0))
	}
	ranks := l.Rank(complete)
	for i, outcome := range complete {
		out.Points = append(out.Points, pointOf(outcome, ranks[i]))
	}
	out.Points = append(out.Points, others...)
	return out
}

func pointOf(o scenario.PointOutcome, rank int) Point {
	metrics := o.Metrics
	if o.Runs == 0 {
		metrics = map[string]float64{}
	}
	return Point{Point: o.Point, Values: o.Values, Rank: rank, Done: o.Runs, Passed: o.Passed, Metrics: metrics}
}
