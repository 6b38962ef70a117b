package scenario

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
)

// Outcome says how a run ended.
type Outcome string

const (
	// Passed: every expectation held, and every wait ended.
	Passed Outcome = "passed"
	// Failed: an expectation did not hold, or a wait did not end.
	Failed Outcome = "failed"
	// Broken: a step could not be done, so the rest was not run.
	Broken Outcome = "error"
	// Canceled: the run was ended from outside.
	Canceled Outcome = "canceled"
)

// Result is what a run found. Equal runs have equal results, apart from the durations, which are of
// real time.
type Result struct {
	Scenario      string          `json:"scenario"`
	Configuration string          `json:"configuration"`
	FeatureGates  map[string]bool `json:"featureGates,omitempty"`
	// KubernetesVersion is as in Versioned.
	KubernetesVersion string  `json:"kubernetesVersion,omitempty"`
	Seed              int64   `json:"seed"`
	Outcome           Outcome `json:"outcome"`
	// Error says why the run ended early.
	Error string `json:"error,omitempty"`
	// Expectations counts those that were judged, and Held those that held.
	Expectations int          `json:"expectations"`
	Held         int          `json:"held"`
	Steps        []StepResult `json:"steps"`
	// Metrics describe the cluster at the end.
	Metrics Metrics            `json:"metrics"`
	Values  map[string]float64 `json:"values,omitempty"`
	// Autoscaling is what the autoscaler did; nil without one.
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`
	// Measurements are those of a workload of scheduler_perf.
	Measurements []Measurement `json:"measurements,omitempty"`
	// Pods are where the pods are at the end, by namespace and name. They are nil unless
	// RunOptions.KeepPods.
	Pods           []PlacedPod `json:"pods,omitempty"`
	ClusterSeconds float64     `json:"clusterSeconds"`
	// DurationSeconds is real time.
	DurationSeconds float64 `json:"durationSeconds,omitempty"`
}

type StepResult struct {
	// Number counts from 1.
	Number int    `json:"number"`
	Line   int    `json:"line"`
	Name   string `json:"name,omitempty"`
	Verb   string `json:"verb"`
	// What says what the step is about, and Said what came of it.
	What string `json:"what,omitempty"`
	Said string `json:"said,omitempty"`
	// Placed is what Said says of the pods after time has passed; nil for other steps.
	Placed *Placed `json:"placed,omitempty"`
	// Failed: a wait did not end, or an expectation did not hold. Error: the step could not be
	// done.
	Failed       bool                `json:"failed,omitempty"`
	Error        string              `json:"error,omitempty"`
	Expectations []ExpectationResult `json:"expectations,omitempty"`
	// AtSeconds is the cluster's time at the end of the step, since the start of the run.
	AtSeconds       float64 `json:"atSeconds"`
	DurationSeconds float64 `json:"durationSeconds,omitempty"`
}

type Placed struct {
	Pods     int `json:"pods"`
	WithNode int `json:"withNode"`
	// Pending are the names of the pods without a node, if they are at most maxPendingNames.
	Pending []string `json:"pending,omitempty"`
	// Gone is how many pods fewer there are than before the step.
	Gone int `json:"gone,omitempty"`
}

const maxPendingNames = 3

func (p *Placed) String() string {
	said := []string{fmt.Sprintf("%d of %d pods have a node", p.WithNode, p.Pods)}
	switch pending := p.Pods - p.WithNode; {
	case len(p.Pending) > 0:
		said = append(said, strings.Join(p.Pending, ", ")+" pending")
	case pending > 0:
		said = append(said, fmt.Sprintf("%d pending", pending))
	}
	if p.Gone > 0 {
		said = append(said, Plural(p.Gone, "pod")+" gone")
	}
	return strings.Join(said, ", ")
}

type ExpectationResult struct {
	Line   int    `json:"line"`
	Say    string `json:"say,omitempty"`
	That   string `json:"that"`
	Passed bool   `json:"passed"`
	// Error: the expression could not be evaluated.
	Error string `json:"error,omitempty"`
	// Findings are what was found, for each condition that and joins; of a failed expectation, only
	// for those that do not hold.
	Findings []Finding `json:"findings,omitempty"`
	// Decision explains a failure; nil if no decision is about the pods of the expression.
	Decision *Decision `json:"decision,omitempty"`
}

type Finding struct {
	Expected string `json:"expected"`
	// Value is that of the left side of a comparison, or of the whole condition.
	Value string `json:"value,omitempty"`
	// Held of Of items hold, of a condition about all items of a list; Of is nil for others.
	// Offenders are the names of those that do not, at most maxOffenders.
	Held      int      `json:"held,omitempty"`
	Of        *int     `json:"of,omitempty"`
	Offenders []string `json:"offenders,omitempty"`
	// Domains are those of spread().
	Domains []Domain `json:"domains,omitempty"`
}

// String says in a few English words what was found.
func (f Finding) String() string {
	var said []string
	if f.Value != "" {
		said = append(said, f.Value)
	}
	if f.Of != nil {
		text := fmt.Sprintf("%d of %d", f.Held, *f.Of)
		if len(f.Offenders) > 0 {
			text += ", not " + strings.Join(f.Offenders, ", ")
		}
		if more := *f.Of - f.Held - len(f.Offenders); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		said = append(said, text)
	}
	if len(f.Domains) > 0 {
		parts := make([]string, len(f.Domains))
		for i, d := range f.Domains {
			parts[i] = fmt.Sprintf("%s %d", d.Name, d.Pods)
		}
		said = append(said, "("+strings.Join(parts, ", ")+")")
	}
	return strings.Join(said, " ")
}

// Decision is the scheduling cycle that explains a failure.
type Decision struct {
	result.Summary
	// Sentence says in English why the pod went where it did, or nowhere.
	Sentence string `json:"sentence"`
	// Headline is the same as data.
	Headline explain.Statement `json:"headline"`
	// Rejections are why nodes were rejected, most nodes first.
	Rejections []result.Rejection `json:"rejections,omitempty"`
	// Cycle is the whole decision; nil unless RunOptions.KeepDecisions.
	Cycle *result.Cycle `json:"-"`
	// Kept: the whole decision can be had from where the result came from.
	Kept bool `json:"kept,omitempty"`
}

// Decisions visits the decisions that explain failures, in the order of the steps.
func (r *Result) Decisions() iter.Seq[*Decision] {
	return func(yield func(*Decision) bool) {
		for _, step := range r.Steps {
			for _, e := range step.Expectations {
				if e.Decision != nil && !yield(e.Decision) {
					return
				}
			}
		}
	}
}

// MaxDecisionNodes bounds the whole decisions that are kept of many runs, by the nodes that they
// have together.
const MaxDecisionNodes = 200_000

// LimitDecisions forgets whole decisions when those of many results together have more than so many
// nodes. It returns what is left for other results.
func (r *Result) LimitDecisions(nodes int) (left int) {
	for d := range r.Decisions() {
		if d.Cycle == nil {
			continue
		}
		if nodes -= max(1, d.Nodes.Evaluated); nodes < 0 {
			d.Cycle, nodes = nil, 0
		}
	}
	return nodes
}

// PlacedPod is a pod at the end of a run.
type PlacedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Owner     string `json:"owner,omitempty"`
	Node      string `json:"node,omitempty"`
	// UID and Attempts lead to its last decision.
	UID           string  `json:"uid"`
	Attempts      int     `json:"attempts"`
	WaitedSeconds float64 `json:"waitedSeconds"`
}

// Metrics describe the cluster at the end of a run.
type Metrics struct {
	Pods    int `json:"pods"`
	Placed  int `json:"placed"`
	Pending int `json:"pending"`
	Nodes   int `json:"nodes"`
	// NodesUsed counts the nodes with at least one pod.
	NodesUsed int `json:"nodesUsed"`
	// Allocation is the share of each resource that pods request, from 0 to 1.
	Allocation map[string]float64 `json:"allocation"`
	// Fragmentation is the share of the free CPU that lies on nodes without room for a large pod:
	// one that requests, of each of CPU and memory, what nine tenths of the pods do not exceed. It
	// is nil if no CPU is free or no pod requests any.
	Fragmentation *float64 `json:"fragmentation"`
	// Skew is the largest of all workloads: the most of its pods in a zone minus the fewest. It is
	// nil without zones.
	Skew *int `json:"skew"`
	// Gap is how much more the pods cost where they are than at the least possible cost, by the
	// cost model CPU-MEM of the flow scheduler. The costs are a model. It is nil unless
	// RunOptions.Gap, and for too many pods.
	Gap *float64 `json:"gap"`
	// CostPerHour is what the nodes cost in US dollars, as their labels say, and UnusedPerHour how much of that is for what no pod
	// requests: a node is in use as much as its most requested resource. Both are nil if no node has a price, and leave out those
	// without one, which Unpriced counts.
	CostPerHour   *float64 `json:"costPerHour,omitempty"`
	UnusedPerHour *float64 `json:"unusedPerHour,omitempty"`
	Unpriced      int      `json:"unpriced,omitempty"`
	// Cost is what the nodes have cost over the run in US dollars, and UnusedCost how much of that was for what no pod requested. They
	// are nil if no node ever had a price.
	Cost       *float64 `json:"cost,omitempty"`
	UnusedCost *float64 `json:"unusedCost,omitempty"`
	// NodeHours are the hours of all nodes together, and MostNodes how many there were at most at a time. They are left out if no node
	// ever had a price and no autoscaler acts.
	NodeHours *float64 `json:"nodeHours,omitempty"`
	MostNodes int      `json:"mostNodes,omitempty"`
	// Preemptions counts the pods that were evicted for others.
	Preemptions int `json:"preemptions"`
	// Waited is how long pods waited for their nodes, or have waited so far, in seconds.
	Waited Quantiles `json:"waited"`
	// Decisions counts scheduling cycles.
	Decisions int `json:"decisions"`
}

type Quantiles struct {
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Max    float64 `json:"max"`
}

func seconds(d time.Duration) float64 { return d.Seconds() }
