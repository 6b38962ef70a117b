package result

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Preemption is the result of PostFilter's dry runs.
type Preemption struct {
	// Candidates are nodes on which removing the victims makes room, by name, at most
	// MaxCandidates: see KeepCandidates. Extenders may have changed the victims and removed
	// candidates.
	Candidates []Candidate `json:"candidates"`
	// CandidatesDropped counts the others.
	CandidatesDropped int `json:"candidatesDropped,omitempty"`
	// Ineligible says why the plugin made no dry run; empty when it made them.
	Ineligible Ineligibility `json:"ineligible,omitempty"`
	// Unhelpful are the nodes whose dry run found no victims.
	Unhelpful []UnhelpfulNodes `json:"unhelpful,omitempty"`
	// Chosen is the candidate that was chosen; empty when there was none.
	Chosen string `json:"chosen,omitempty"`
	// Rule decided between the candidates; empty when there was one.
	Rule PreemptionRule `json:"rule,omitempty"`
	// Evictions is nil when the scheduler evicted no pod.
	Evictions *Evictions `json:"evictions,omitempty"`
}

// Candidate is a node with the victims that preemption would remove from it.
type Candidate struct {
	Node string `json:"node"`
	// Victims are the most important MaxVictims, in order. VictimsDropped counts the others.
	Victims        []Victim `json:"victims"`
	VictimsDropped int      `json:"victimsDropped,omitempty"`
	// Reprieved pods also have a lower priority, but they fit beside the preemptor. They
	// have the same bound.
	Reprieved        []Victim `json:"reprieved,omitempty"`
	ReprievedDropped int      `json:"reprievedDropped,omitempty"`
	// PDBViolations counts the PodDisruptionBudgets that the victims violate.
	PDBViolations int `json:"pdbViolations"`
	// ChangedBy is the extender that replaced the victims; the request of its preempt call has the
	// original ones.
	ChangedBy string `json:"changedBy,omitempty"`
	// RemovedBy is the extender that removed the candidate.
	RemovedBy string `json:"removedBy,omitempty"`
	// Surplus: the scheduler had already found as many candidates as it looks for, and ignored this
	// one.
	Surplus bool `json:"surplus,omitempty"`
}

// Bounds of a Preemption. The scheduler looks for 100 candidates, or for a tenth of the nodes if
// that is more, and every pod of a node may be a victim.
const (
	MaxCandidates = 32
	MaxVictims    = 200
)

// Victim is a pod in a dry run.
type Victim struct {
	Pod       Pod        `json:"pod"`
	Priority  int32      `json:"priority"`
	StartTime *time.Time `json:"startTime,omitempty"`
	// Node is where it runs; empty when that is the candidate's node.
	Node string `json:"node,omitempty"`
	// PodGroup is the name of its group, in its own namespace; empty when it is in none. If the
	// group's disruption mode is all, preemption removes the whole group, wherever its pods run.
	PodGroup string `json:"podGroup,omitempty"`
}

// GroupPreemption is the dry run for a pod group, over all nodes at once: it removes every pod of
// lower priority and then puts back those that fit beside the group.
type GroupPreemption struct {
	// Helpful: without the pods of lower priority the group fits. Otherwise all of these are
	// reprieved.
	Helpful bool `json:"helpful"`
	// Victims are sorted by priority, highest first: the first MaxGroupVictims of
	// VictimCount.
	Victims     []Victim `json:"victims"`
	VictimCount int      `json:"victimCount"`
	// Reprieved are the pods of lower priority that stay on nodes with victims, in the
	// same order and with the same bound. ReprievedCount counts them on all nodes.
	Reprieved      []Victim `json:"reprieved,omitempty"`
	ReprievedCount int      `json:"reprievedCount,omitempty"`
	// Evictions is nil when the scheduler evicted no pod.
	Evictions *Evictions `json:"evictions,omitempty"`
}

// MaxGroupVictims bounds the lists of a GroupPreemption.
const MaxGroupVictims = 100

// Ineligibility is why a pod may not preempt.
type Ineligibility string

// The values of Ineligibility.
const (
	// NeverPreempts: the pod's preemptionPolicy is Never.
	NeverPreempts Ineligibility = "never"
	// VictimsTerminating: earlier victims still terminate on the pod's nominated node.
	VictimsTerminating Ineligibility = "victimsTerminating"
	// IneligibleOtherwise: another plugin has a reason of its own.
	IneligibleOtherwise Ineligibility = "other"
)

// NoVictims is why a dry run found no victims.
type NoVictims string

// The values of NoVictims.
const (
	// NoPods: no pod runs on the node.
	NoPods NoVictims = "noPods"
	// NobodyLower: pods run there, but none has a lower priority.
	NobodyLower NoVictims = "nobodyLower"
	// NobodyMay: pods run there, but the plugin's own rule lets none give way.
	NobodyMay NoVictims = "nobodyMay"
	// NotEnough: even without the pods that may give way, the pod does not fit.
	NotEnough NoVictims = "notEnough"
	// DryRunFailed: the dry run ended with an error.
	DryRunFailed NoVictims = "failed"
)

// Tried returns the outcome of the dry run on a node: its candidate, or the nodes that also have no
// victims. Both are nil if there was no dry run, or the record dropped the candidate.
func (p *Preemption) Tried(node string) (*Candidate, *UnhelpfulNodes) {
	if p == nil {
		return nil, nil
	}
	for i := range p.Candidates {
		if p.Candidates[i].Node == node {
			return &p.Candidates[i], nil
		}
	}
	for i := range p.Unhelpful {
		if _, found := slices.BinarySearch(p.Unhelpful[i].Nodes, node); found {
			return nil, &p.Unhelpful[i]
		}
	}
	return nil, nil
}

// UnhelpfulNodes are nodes with the same reason, by name.
type UnhelpfulNodes struct {
	// Why is empty in a record that an earlier version made.
	Why NoVictims `json:"why,omitempty"`
	// Status, Plugin and Reasons are the dry run's, not those of the earlier rejection.
	Status  string   `json:"status"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons"`
	Nodes   []string `json:"nodes"`
}

// PreemptionRule is a rule by which the scheduler chooses between candidates. It applies them in
// this order.
type PreemptionRule string

const (
	FewestPDBViolations     PreemptionRule = "fewestPDBViolations"
	LowestHighestPriority   PreemptionRule = "lowestHighestPriority"
	LowestSumOfPriorities   PreemptionRule = "lowestSumOfPriorities"
	FewestVictims           PreemptionRule = "fewestVictims"
	LatestEarliestStartTime PreemptionRule = "latestEarliestStartTime"
	// FirstFound: the candidates are equal under every rule.
	FirstFound PreemptionRule = "firstFound"
)

// preemptionRules are the rules of pickOneNodeForPreemption in
// k8s.io/kubernetes/pkg/scheduler/framework/preemption: the highest value wins.
var preemptionRules = []struct {
	rule  PreemptionRule
	value func(Candidate) int64
}{
	{FewestPDBViolations, func(c Candidate) int64 { return -int64(c.PDBViolations) }},
	{LowestHighestPriority, func(c Candidate) int64 { return -int64(c.highestPriority()) }},
	{LowestSumOfPriorities, func(c Candidate) int64 { return -c.sumOfPriorities() }},
	{FewestVictims, func(c Candidate) int64 { return -int64(len(c.Victims)) }},
	{LatestEarliestStartTime, func(c Candidate) int64 { return c.earliestStart() }},
}

// DecidingRule returns the rule that decided among the considered candidates; empty when there was
// no choice.
func DecidingRule(candidates []Candidate, chosen string) PreemptionRule {
	if chosen == "" {
		return ""
	}
	left := slices.DeleteFunc(slices.Clone(candidates), func(c Candidate) bool { return c.RemovedBy != "" || c.Surplus })
	if len(left) < 2 {
		return ""
	}
	for _, r := range preemptionRules {
		best := r.value(slices.MaxFunc(left, func(a, b Candidate) int {
			return cmp.Compare(r.value(a), r.value(b))
		}))
		left = slices.DeleteFunc(left, func(c Candidate) bool { return r.value(c) != best })
		if len(left) == 1 {
			return r.rule
		}
	}
	return FirstFound
}

// KeepCandidates returns the ascending indexes of the candidates that a record keeps: the chosen
// one, then those that come closest to it by the rules, and last those that the scheduler did not
// compare: first those that an extender removed, then surplus ones.
func KeepCandidates(candidates []Candidate, chosen string) []int {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	if len(order) <= MaxCandidates {
		return order
	}
	values := make([][]int64, len(candidates))
	for i, c := range candidates {
		for _, r := range preemptionRules {
			values[i] = append(values[i], r.value(c))
		}
	}
	last := func(i int) int {
		switch c := candidates[i]; {
		case c.Node == chosen:
			return 0
		case c.Surplus:
			return 3
		case c.RemovedBy != "":
			return 2
		}
		return 1
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), slices.Compare(values[b], values[a]))
	})
	kept := order[:MaxCandidates]
	slices.Sort(kept)
	return kept
}

func (c Candidate) highestPriority() int32 {
	if len(c.Victims) == 0 {
		return 0
	}
	return c.Victims[0].Priority
}

// sumOfPriorities shifts each priority above 0, as the scheduler does, so that two victims of
// negative priority weigh more than one.
func (c Candidate) sumOfPriorities() int64 {
	const lift = 1 << 31
	var sum int64
	for _, v := range c.Victims {
		sum += int64(v.Priority) + lift
	}
	return sum
}

// earliestStart returns the earliest start time of the victims with the highest priority, in
// nanoseconds. As in the scheduler, a victim without a start time starts now, later than all
// others. Two such candidates count as equal: the scheduler reads the clock for each, so chance
// decides.
func (c Candidate) earliestStart() int64 {
	const now = math.MaxInt64
	earliest, highest := int64(now), c.highestPriority()
	for _, v := range c.Victims { // an extender need not name the most important one first
		highest = max(highest, v.Priority)
	}
	for _, v := range c.Victims {
		if v.Priority == highest && v.StartTime != nil {
			earliest = min(earliest, v.StartTime.UnixNano())
		}
	}
	return earliest
}
