package scenario

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/shadow"
)

// Comparison is what two configurations make of one scenario, over the same seeds.
type Comparison struct {
	Scenario string             `json:"scenario"`
	A        string             `json:"a"`
	B        string             `json:"b"`
	Seeds    []int64            `json:"seeds"`
	Metrics  []MetricComparison `json:"metrics"`
	// Moved pods have another node under B, or one under only one of the two, in the first seed, in
	// the order of their decisions under A.
	Moved []Moved `json:"moved"`
	// Same counts the other pods.
	Same int `json:"same"`
}

type MetricComparison struct {
	Name string `json:"name"`
	// Unit is empty for a count, or one of share and seconds.
	Unit string `json:"unit,omitempty"`
	A    Range  `json:"a"`
	B    Range  `json:"b"`
	// Better, Equal and Worse are the shares of the pairs of runs in which B is that; nil if
	// neither more nor less of the metric is better.
	Pairs *Pairs `json:"pairs,omitempty"`
}

type Range struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
	// Values in the order of the seeds.
	Values []float64 `json:"values"`
}

// Pairs are shares of all pairs of a run of A and a run of B.
type Pairs struct {
	Better float64 `json:"better"`
	Equal  float64 `json:"equal"`
	Worse  float64 `json:"worse"`
}

// Clear is the share of the pairs from which on a difference counts.
const Clear = 0.95

// Verdict says what B is: better, worse, same or unclear. It is empty for a metric without a
// direction.
func (m MetricComparison) Verdict() string {
	switch {
	case m.Pairs == nil:
		return ""
	case m.Pairs.Equal == 1:
		return "same"
	case m.Pairs.Better >= Clear:
		return "better"
	case m.Pairs.Worse >= Clear:
		return "worse"
	}
	return "unclear"
}

// Moved is a pod that fares otherwise under B.
type Moved struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Owner     string `json:"owner,omitempty"`
	// A and B are its nodes; empty if it has none.
	A string `json:"a"`
	B string `json:"b"`
	// PartedBy is the plugin that parted the two last decisions about the pod; nil when none can be
	// named, mostly because the clusters differed by then.
	PartedBy *shadow.Parting `json:"partedBy,omitempty"`
}

type direction int

const (
	neither direction = iota
	more
	less
)

type metricOf struct {
	name, unit string
	better     direction
	of         func(*Result) (float64, bool)
}

func count(of func(Metrics) int) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) { return float64(of(r.Metrics)), true }
}

var comparedMetrics = []metricOf{
	{"expectations", "", more, func(r *Result) (float64, bool) { return float64(r.Held), r.Expectations > 0 }},
	{"placed", "", more, count(func(m Metrics) int { return m.Placed })},
	{"pending", "", less, count(func(m Metrics) int { return m.Pending })},
	{"nodesUsed", "", less, count(func(m Metrics) int { return m.NodesUsed })},
	{"fragmentation", "share", less, func(r *Result) (float64, bool) { return value(r.Metrics.Fragmentation) }},
	{"skew", "", less, func(r *Result) (float64, bool) { return value(r.Metrics.Skew) }},
	{"gap", "", less, func(r *Result) (float64, bool) { return value(r.Metrics.Gap) }},
	{"costPerHour", "dollars", less, func(r *Result) (float64, bool) { return value(r.Metrics.CostPerHour) }},
	{"unusedPerHour", "dollars", less, func(r *Result) (float64, bool) { return value(r.Metrics.UnusedPerHour) }},
	{"cost", "dollars", less, func(r *Result) (float64, bool) { return value(r.Metrics.Cost) }},
	{"unusedCost", "dollars", less, func(r *Result) (float64, bool) { return value(r.Metrics.UnusedCost) }},
	{"mostNodes", "", less, func(r *Result) (float64, bool) { return float64(r.Metrics.MostNodes), r.Metrics.MostNodes > 0 }},
	{"toNodeP95", "seconds", less, func(r *Result) (float64, bool) {
		if r.Autoscaling == nil {
			return 0, false
		}
		return r.Autoscaling.SecondsToNode.P95, true
	}},
	{"preemptions", "", less, count(func(m Metrics) int { return m.Preemptions })},
	{"waitedMedian", "seconds", less, func(r *Result) (float64, bool) { return r.Metrics.Waited.Median, true }},
	{"waitedP95", "seconds", less, func(r *Result) (float64, bool) { return r.Metrics.Waited.P95, true }},
	{"decisions", "", neither, count(func(m Metrics) int { return m.Decisions })},
}

func value[T int | float64](v *T) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return float64(*v), true
}

// Pair is a scenario with all its seeds under two configurations.
type Pair struct {
	scenario *Scenario
	sides    [2]Configuration
	engine   Engine
	// kept are the clusters of the first seed, whose decisions are compared.
	kept [2]Cluster
}

// Under returns the scenario under two configurations. The caller closes it.
func (s *Scenario) Under(a, b Configuration, engine Engine) *Pair {
	return &Pair{scenario: s, sides: [2]Configuration{a, b}, engine: engine}
}

// Jobs returns the runs to do: those of the first configuration, then as many of the second.
func (p *Pair) Jobs() []Job {
	var jobs []Job
	for side, c := range p.sides {
		for i, seed := range p.scenario.Matrix.Seeds {
			job := Job{Scenario: p.scenario, Combination: Combination{Configuration: c, FeatureGates: p.scenario.Matrix.FeatureGates[0], Seed: seed}, Options: RunOptions{Engine: p.engine, Gap: true}}
			if i == 0 {
				job.Options.KeepPods = true
				job.Options.Kept = func(c Cluster) { p.kept[side] = c }
			}
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// Compare compares the results of the jobs. It fails if one of them could not be done, or if ctx ends.
func (p *Pair) Compare(ctx context.Context, results []*Result) (*Comparison, error) {
	for _, r := range results {
		if r.Outcome == Broken || r.Outcome == Canceled {
			return nil, fmt.Errorf("%s: %s", r.Title(), r.Error)
		}
	}
	n := len(p.scenario.Matrix.Seeds)
	compared := compareResults(results[:n], results[n:], func(side shadow.Side, pod PlacedPod) *result.Cycle {
		if ctx.Err() != nil {
			return nil
		}
		of := p.kept[0]
		if side == shadow.Shadow {
			of = p.kept[1]
		}
		c, err := of.Cycle(ctx, types.UID(pod.UID), pod.Attempts)
		if err != nil {
			return nil
		}
		return c
	})
	return &compared, context.Cause(ctx)
}

func (p *Pair) Close() {
	for _, c := range p.kept {
		if c != nil {
			_ = c.Close() // nothing was written
		}
	}
}

// compareResults compares results of the same seeds. The first ones must have their pods. cycles
// returns the last decision about a pod in the first seed, or nil.
func compareResults(a, b []*Result, cycles func(side shadow.Side, pod PlacedPod) *result.Cycle) Comparison {
	c := Comparison{Scenario: a[0].Scenario, A: a[0].Configuration, B: b[0].Configuration}
	for _, r := range a {
		c.Seeds = append(c.Seeds, r.Seed)
	}
	for _, m := range comparedMetrics {
		c.add(a, b, m)
	}
	var resources []string
	for name := range a[0].Metrics.Allocation {
		resources = append(resources, name)
	}
	slices.Sort(resources)
	for _, name := range resources {
		c.add(a, b, metricOf{"allocation " + name, "share", neither, func(r *Result) (float64, bool) { return r.Metrics.Allocation[name], true }})
	}
	c.move(a[0].Pods, b[0].Pods, cycles)
	return c
}

func (c *Comparison) add(a, b []*Result, m metricOf) {
	va, ok := valuesOf(a, m)
	vb, ok2 := valuesOf(b, m)
	if !ok || !ok2 {
		return
	}
	out := MetricComparison{Name: m.name, Unit: m.unit, A: rangeOf(va), B: rangeOf(vb)}
	if m.better != neither {
		out.Pairs = pairs(va, vb, m.better)
	}
	c.Metrics = append(c.Metrics, out)
}

func valuesOf(runs []*Result, m metricOf) ([]float64, bool) {
	var out []float64
	for _, r := range runs {
		v, ok := m.of(r)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

func rangeOf(values []float64) Range {
	return Range{Min: slices.Min(values), Median: median(values), Max: slices.Max(values), Values: values}
}

func pairs(a, b []float64, better direction) *Pairs {
	var p Pairs
	share := 1 / float64(len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			switch {
			case x == y:
				p.Equal++
			case (y > x) == (better == more):
				p.Better++
			default:
				p.Worse++
			}
		}
	}
	p.Better, p.Equal, p.Worse = p.Better*share, p.Equal*share, p.Worse*share
	return &p
}

func (c *Comparison) move(a, b []PlacedPod, cycles func(shadow.Side, PlacedPod) *result.Cycle) {
	key := func(p PlacedPod) string { return p.Namespace + "/" + p.Name }
	there := map[string]PlacedPod{}
	for _, p := range b {
		there[key(p)] = p
	}
	type at struct {
		Moved
		cycle *result.Cycle
	}
	var moved []at
	for _, p := range a {
		other, exists := there[key(p)]
		delete(there, key(p))
		if exists && other.Node == p.Node {
			c.Same++
			continue
		}
		m := at{Moved: Moved{Namespace: p.Namespace, Name: p.Name, Owner: p.Owner, A: p.Node, B: other.Node}, cycle: cycles(shadow.Live, p)}
		if exists && m.cycle != nil {
			if under := cycles(shadow.Shadow, other); under != nil {
				m.PartedBy = shadow.Compare(m.cycle, under).PartedBy
			}
		}
		moved = append(moved, m)
	}
	for _, p := range there {
		moved = append(moved, at{Moved: Moved{Namespace: p.Namespace, Name: p.Name, Owner: p.Owner, B: p.Node}})
	}
	slices.SortFunc(moved, func(x, y at) int {
		if x.cycle != nil && y.cycle != nil && !x.cycle.StartTime.Equal(y.cycle.StartTime) {
			return x.cycle.StartTime.Compare(y.cycle.StartTime)
		}
		return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
	})
	c.Moved = []Moved{}
	for _, m := range moved {
		c.Moved = append(c.Moved, m.Moved)
	}
}
