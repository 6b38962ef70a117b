package replay

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
)

// Outcome says how a decision compares with the recorded one.
type Outcome string

const (
	Matching  Outcome = "matching"
	Different Outcome = "different"
	// Pending: the recording has a node and the simulated scheduler has none yet.
	Pending Outcome = "pending"
	// NotCompared: there is no decision to compare, as Reason explains.
	NotCompared Outcome = "notCompared"
)

// Outcomes lists them.
var Outcomes = []Outcome{Matching, Different, Pending, NotCompared}

// Counts counts decisions. Compared is the sum of matching, different and pending ones.
type Counts struct {
	Compared  int `json:"compared"`
	Matching  int `json:"matching"`
	Different int `json:"different"`
	Pending   int `json:"pending"`
	// Tied counts the different decisions in which both nodes had the best total, so that
	// chance decided.
	Tied int `json:"tied"`
}

// Decision is the placement of a pod in the recording and in the simulator. Its JSON form is
// public.
type Decision struct {
	// Pod has the UID of the simulated pod, by which its results are found.
	Pod result.Pod `json:"pod"`
	// Time is when the pod was bound in the recording.
	Time    time.Time `json:"time"`
	Outcome Outcome   `json:"outcome"`
	// RecordedNode is empty when the pod has no node in the recording.
	RecordedNode string `json:"recordedNode"`
	// SimulatedNode is empty when the simulated scheduler found none.
	SimulatedNode string `json:"simulatedNode"`
	// Reason explains the other fields. Its kind is one of those that explain.Comparisons lists.
	Reason explain.Statement `json:"reason"`
	// Why is Reason in English.
	Why string `json:"why"`
	// Attempt is the simulated attempt that Reason is about; 0 when there is none.
	Attempt int `json:"attempt,omitempty"`
	Finding
}

// Finding is the simulated cycle's verdict on the recorded node.
type Finding struct {
	// RecordedNodeEvaluated: at least one Filter plugin ran for it.
	RecordedNodeEvaluated bool `json:"recordedNodeEvaluated"`
	// RecordedNodeMissing: the simulated cluster did not have it.
	RecordedNodeMissing bool `json:"recordedNodeMissing,omitempty"`
	// RecordedNodeRejectedBy is nil when no plugin rejected it.
	RecordedNodeRejectedBy *Rejection `json:"recordedNodeRejectedBy,omitempty"`
	// The totals are nil when the nodes were not scored.
	RecordedNodeTotal *int64 `json:"recordedNodeTotal,omitempty"`
	SelectedNodeTotal *int64 `json:"selectedNodeTotal,omitempty"`
	// Tie: both nodes have the best total.
	Tie bool `json:"tie,omitempty"`
	// Most is the plugin or extender whose scores differ most; nil for a tie.
	Most *Parted `json:"mostDifferent,omitempty"`
}

// Rejection names the plugin that rejected a node, or the pod on all nodes, and its reasons.
type Rejection struct {
	Plugin  string   `json:"plugin"`
	Reasons []string `json:"reasons"`
}

// Parted are the weighted scores that a plugin gave two nodes.
type Parted struct {
	Plugin   string `json:"plugin"`
	Recorded int64  `json:"recorded"`
	Selected int64  `json:"selected"`
}

// Comparison is a page of decisions, in the order in which the pods were created.
type Comparison struct {
	Counts
	// NodesMissing counts the decisions whose recorded node did not exist in the simulated
	// cluster.
	NodesMissing int        `json:"nodesMissing"`
	Items        []Decision `json:"items"`
	// Continue requests the next page; empty on the last one.
	Continue string `json:"continue"`
}

// ComparisonQuery selects decisions. Zero fields select all.
type ComparisonQuery struct {
	Outcome Outcome
	// Limit bounds a page; 0 means DefaultLimit.
	Limit int
	// Continue is the value of the previous page.
	Continue string
}

// From returns the place where the page begins.
func (q ComparisonQuery) From() (int, error) {
	if q.Continue == "" {
		return 0, nil
	}
	from, err := strconv.Atoi(q.Continue)
	if err != nil || from < 0 {
		return 0, fmt.Errorf("continue %q is not from an earlier page", q.Continue)
	}
	return from, nil
}

// DefaultLimit is the default length of a page.
const DefaultLimit = 100

// entry is the comparison of a pod.
type entry struct {
	Decision
	leftOut     bool
	nodeMissing bool
	// tied are the nodes that share the best total.
	tied    []string
	message string
}

// outcome compares the nodes that are known so far.
func (e *entry) outcome() Outcome {
	switch {
	case e.leftOut || e.RecordedNode == "":
		return NotCompared
	case e.SimulatedNode == "":
		return Pending
	case e.SimulatedNode == e.RecordedNode:
		return Matching
	}
	return Different
}

// comparison collects decisions. Its user locks it.
type comparison struct {
	entries []*entry
	byUID   map[types.UID]*entry
}

func newComparison() *comparison { return &comparison{byUID: map[types.UID]*entry{}} }

// add adds a pod to the comparison.
func (c *comparison) add(change Change, uid types.UID) *entry {
	e := &entry{}
	e.Pod = result.Pod{Namespace: change.Namespace, Name: change.Name, UID: uid}
	e.Time = change.Time
	c.entries = append(c.entries, e)
	if uid != "" {
		c.byUID[uid] = e
	}
	return e
}

// leftOut records a pod that is not compared, and why.
func (c *comparison) leftOut(change Change, uid types.UID, node string, why explain.LeftOut) {
	e := c.add(change, uid)
	e.leftOut, e.RecordedNode = true, node
	e.because(why)
}

// because sets the reason.
func (d *Decision) because(o explain.Operands) {
	d.Reason = explain.Statement{Operands: o}
	d.Why = d.Reason.String()
}

func (c *comparison) expect(uid types.UID, node string, at time.Time, present bool) {
	if e := c.byUID[uid]; e != nil {
		e.RecordedNode, e.Time, e.nodeMissing = node, at, !present
	}
}

// note records an attempt. Attempts after the binding are ignored.
func (c *comparison) note(cycle *result.Cycle) {
	e := c.byUID[cycle.Pod.UID]
	if e == nil || e.leftOut || e.SimulatedNode != "" || cycle.Attempt < e.Attempt {
		return // an earlier attempt is published again when its victims are evicted
	}
	e.Attempt, e.message = cycle.Attempt, cycle.Message
	if cycle.Outcome != result.Scheduled {
		return
	}
	e.SimulatedNode = cycle.SelectedNode
	if cycle.Score != nil {
		e.tied = cycle.Score.Tied()
	}
}

func (c *comparison) counts() Counts {
	var n Counts
	for _, e := range c.entries {
		switch e.outcome() {
		case Matching:
			n.Matching++
		case Different:
			n.Different++
			if slices.Contains(e.tied, e.RecordedNode) {
				n.Tied++
			}
		case Pending:
			n.Pending++
		}
	}
	n.Compared = n.Matching + n.Different + n.Pending
	return n
}

// selected returns copies of the entries of a page.
func (c *comparison) selected(q ComparisonQuery) (page []entry, next string, err error) {
	from, err := q.From()
	if err != nil {
		return nil, "", err
	}
	limit := q.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	for i := from; i < len(c.entries); i++ {
		e := *c.entries[i]
		e.Outcome = e.outcome()
		if q.Outcome != "" && e.Outcome != q.Outcome {
			continue
		}
		if len(page) == limit {
			return page, strconv.Itoa(i), nil
		}
		page = append(page, e)
	}
	return page, "", nil
}

func (c *comparison) nodesMissing() int {
	n := 0
	for _, e := range c.entries {
		if o := e.outcome(); e.nodeMissing && (o == Different || o == Pending) {
			n++
		}
	}
	return n
}

// decision completes an entry with the findings of its cycle.
func (e *entry) decision(results Results) (Decision, error) {
	d := e.Decision
	switch {
	case d.Outcome == NotCompared && e.leftOut:
		return d, nil
	case d.Outcome == Matching:
		// There are many of these, and their cycles explain nothing.
		d.RecordedNodeEvaluated = true
		d.because(why(d, nil, ""))
		return d, nil
	}
	var cycle *result.Cycle
	if d.Attempt > 0 {
		var err error
		if cycle, err = results.Get(d.Pod.UID, d.Attempt); err != nil {
			return d, fmt.Errorf("reading the result of %s/%s: %w", d.Pod.Namespace, d.Pod.Name, err)
		}
	}
	d.Explain(cycle, e.nodeMissing, e.message)
	return d, nil
}

// Explain finds out why a decision is what it is, in the cycle that it speaks of: nil when none is
// kept. The message is that of the cycle's summary.
func (d *Decision) Explain(cycle *result.Cycle, nodeMissing bool, message string) {
	d.RecordedNodeMissing = nodeMissing
	if cycle != nil && d.RecordedNode != "" {
		d.Finding = find(cycle, d.RecordedNode)
		d.RecordedNodeMissing = nodeMissing && !d.RecordedNodeEvaluated
	}
	d.because(why(*d, cycle, message))
}

// find returns a cycle's verdict on a node. It is pure.
func find(c *result.Cycle, node string) Finding {
	var f Finding
	if c.Filter != nil {
		if i := c.Filter.Nodes.Index(node); i >= 0 {
			f.RecordedNodeEvaluated = true
			if v := c.Filter.Verdict(i); v.Plugin != "" {
				f.RecordedNodeRejectedBy = &Rejection{v.Plugin, v.Reasons}
				return f
			}
		}
	}
	if f.RecordedNodeRejectedBy = rejectedElsewhere(c, node, f.RecordedNodeEvaluated); f.RecordedNodeRejectedBy != nil {
		return f
	}
	score := c.Score
	if score == nil {
		return f
	}
	recorded, selected := score.Nodes.Index(node), score.Nodes.Index(c.SelectedNode)
	if recorded < 0 || selected < 0 {
		return f
	}
	mine, theirs := score.Totals.At(recorded), score.Totals.At(selected)
	f.RecordedNodeTotal, f.SelectedNodeTotal = &mine, &theirs
	f.Tie = mine == theirs && node != c.SelectedNode
	if mine != theirs {
		f.Most = mostDifferent(score, recorded, selected)
	}
	return f
}

// rejectedElsewhere looks for a rejection of the node, or of the pod, outside Filter.
func rejectedElsewhere(c *result.Cycle, node string, evaluated bool) *Rejection {
	for i := range c.Extenders {
		r := c.Extenders[i].Rejected
		if r == nil {
			continue
		}
		if at := slices.Index(r.Nodes, node); at >= 0 {
			return &Rejection{c.Extenders[i].Plugin, []string{r.Reason(at).Reason}}
		}
	}
	if evaluated {
		return nil
	}
	for _, p := range c.PreFilter {
		if p.Status != "Success" && p.Status != "Skip" {
			return &Rejection{p.Plugin, p.Reasons}
		}
	}
	return nil
}

// mostDifferent returns the plugin or extender whose scores differ most in favour of the node with
// the better total.
func mostDifferent(s *result.Score, recorded, selected int) *Parted {
	var most *Parted
	sign := int64(1)
	if s.Totals.At(recorded) > s.Totals.At(selected) {
		sign = -1
	}
	consider := func(name string, column result.Column) {
		p := Parted{name, column.At(recorded), column.At(selected)}
		if most == nil || sign*(p.Selected-p.Recorded) > sign*(most.Selected-most.Recorded) {
			most = &p
		}
	}
	for i, plugin := range s.Plugins {
		consider(plugin.Name, s.Weighted[i])
	}
	for _, e := range s.Extenders {
		consider(e.Name, e.Counted)
	}
	return most
}
