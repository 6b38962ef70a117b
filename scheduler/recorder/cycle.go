package recorder

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/result"
)

// cycle is the record of a running attempt. The scheduling goroutine owns it until a
// node is selected; from then on mu guards the fields that the binding cycle adds
// to.
type cycle struct {
	recorder *Recorder
	profile  *profile
	pod      result.Pod
	object   *v1.Pod
	start    time.Time

	nodes      *nodeTable
	verdicts   *verdicts
	skipFilter sets.Set[string]
	// A Filter call with another state uses a clone, with nominated pods added.
	state      fwk.CycleState
	queue      *result.Queue
	hint       *result.Hint
	nomination *result.Nomination
	// triesOneFirst: the scheduler tries the nominated or the hinted node first. visits then counts
	// its filtered nodes, repeats included.
	triesOneFirst bool
	visits        atomic.Int32
	// searchable is how many nodes the search may visit.
	searchable int
	group      *groupRecord
	placement  fwk.PlacementCycleState
	// searching is true while the scheduler looks for feasible nodes: only then are
	// Filter's answers verdicts, not dry runs.
	searching bool
	searched  bool
	// brief: see Recorder.Briefly.
	brief       bool
	filterStart time.Time

	skipScore sets.Set[string]
	scores    *scores
	offered   offered

	// err is SchedulePod's error, which identifies the failed try.
	err                         error
	selected                    string
	counts                      result.NodeCounts
	sampledFilter, sampledScore samples

	preemption  preemptionRecord
	comparisons []result.Comparison
	passes      *result.Passes
	requests    []result.PodRequest
	facts       *pluginfact.Log
	nominated   nominatedPasses
	panics      panics
	extensions  extensionCalls
	// evictions is nil when no plugin of the cycle may preempt.
	evictions *evictions
	others    others

	mu        sync.Mutex
	points    []result.ExtensionPoint
	answers   result.Cycle
	wait      *permitWait
	extenders []extenderCall
	claims    []result.ClaimAllocation
	// early: see Recorder.searchEarly.
	early bool

	// The recorder's goroutine sets the following when it first builds the cycle or its
	// tables, and releases nodes, verdicts and scores: a pod may wait for a permit or a
	// volume for a long time.
	attempt int
	builds  int
	built   *search
}

// search is the final form of the search for a node.
type search struct {
	total     int // nodes of the snapshot
	evaluated int
	filter    *result.Filter
	score     *result.Score
}

type ending struct {
	at            time.Time
	outcome       result.Outcome
	status        *fwk.Status
	nominatedNode string
}

// point notes that an extension point ran. A later run replaces an earlier one.
func (c *cycle) point(name string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.points = slices.DeleteFunc(c.points, func(p result.ExtensionPoint) bool { return p.Name == name })
	c.points = append(c.points, result.ExtensionPoint{Name: name, DurationSeconds: took.Seconds()})
}

func (c *cycle) note(list *[]result.PluginResult, p result.PluginResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*list = append(*list, p)
}

// reserveAgain forgets an earlier trial in the same cycle.
func (c *cycle) reserveAgain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers.Reserve, c.answers.Unreserve = nil, nil
	c.points = slices.DeleteFunc(c.points, func(p result.ExtensionPoint) bool { return p.Name == "unreserve" })
}

func (c *cycle) noteNominatedPass(node fwk.NodeInfo) {
	if i, ok := c.nodes.find(node); ok {
		c.nominated.note(node, len(c.nodes.list[i].GetPods()))
	}
}

func (c *cycle) noteClaims(claims []result.ClaimAllocation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claims = claims
}

// A nil status is success, as in the framework.
func pluginResult(plugin string, s *fwk.Status, took time.Duration) result.PluginResult {
	return result.PluginResult{
		Plugin:          plugin,
		Status:          s.Code().String(),
		Reasons:         reasons(s),
		DurationSeconds: took.Seconds(),
	}
}

// reasons returns nil for a success, and includes the error of a status that has one. Like
// messageOf, it survives an error that panics: Kubernetes may never render the rejection of a node,
// and then only the recorder would panic.
func reasons(s *fwk.Status) (said []string) {
	if s.IsSuccess() {
		return nil
	}
	defer func() {
		if recover() != nil {
			said = []string{unreadable(s)}
		}
	}()
	return s.Reasons()
}

// messageOf survives errors that panic: the recorder's goroutine has no guard, and Kubernetes'
// FitError panics without the statuses of nodes.
func messageOf(s *fwk.Status) (message string) {
	defer func() {
		if recover() != nil {
			message = unreadable(s)
		}
	}()
	return s.Message()
}

func unreadable(s *fwk.Status) string {
	return fmt.Sprintf("an error of type %T that has no message", s.AsError())
}

// build turns the record into its immutable form. It runs on the recorder's goroutine. For a pod
// that waits it runs twice: at the start of the wait and at the end of the cycle.
func (r *Recorder) build(c *cycle, e ending) *result.Cycle {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.attempt == 0 {
		c.attempt = r.sink.NextAttempt(c.pod.UID)
	}
	out := &result.Cycle{
		Summary: result.Summary{
			Pod:             c.pod,
			Hypothetical:    r.hypothetical,
			Attempt:         c.attempt,
			Updates:         c.builds,
			Profile:         c.profile.name,
			StartTime:       c.start,
			DurationSeconds: e.at.Sub(c.start).Seconds(),
			Outcome:         e.outcome,
			SelectedNode:    c.selected,
			NominatedNode:   e.nominatedNode,
			Message:         messageOf(e.status),
			Nodes:           c.counts,
		},
		Queue:           c.queue,
		Hint:            c.hint,
		Nomination:      c.nomination,
		PodGroup:        c.group.build(c.placement, e.outcome == result.Error),
		Preemption:      c.preemption.build(e.nominatedNode),
		ExtensionPoints: append([]result.ExtensionPoint(nil), c.points...),
		PermitWait:      c.wait.build(c.profile.permitOrder),
	}
	if c.object != nil {
		out.Owner = result.OwnerOf(c.object)
	}
	out.CopyAnswers(&c.answers)
	out.PreEnqueue = c.profile.ordered(out.PreEnqueue, c.profile.preEnqueueOrder)
	out.PreBind = c.profile.ordered(append(skipped(out.PreBindPreFlight), out.PreBind...), c.profile.preBindOrder)
	c.builds++
	out.PreFilterExtensions = c.extensions.sorted(c.profile.preFilterOrder)
	if out.Preemption != nil {
		out.Preemption.Evictions = c.evictions.build()
	}
	out.Facts, out.FactsDropped = factsOf(c.facts)
	out.Extenders = c.buildExtenders()
	out.Claims = c.claims
	out.Panics = c.panicsOf(e)
	search := c.search()
	out.Nodes.Total, out.Nodes.Evaluated, out.Filter, out.Score = search.total, search.evaluated, search.filter, search.score
	out.Refusal = result.FindRefusal(out)
	return out
}

func skipped(answers []result.PluginResult) []result.PluginResult {
	return slices.DeleteFunc(slices.Clone(answers), func(p result.PluginResult) bool { return p.Status != fwk.Skip.String() })
}

// search builds the tables and releases their inputs. Later calls return the same tables.
func (c *cycle) search() *search {
	if c.built != nil {
		return c.built
	}
	c.built = &search{total: len(c.nodes.names)}
	if c.brief && c.selected != "" {
		passing, rejections := c.separate()
		c.built.evaluated = passing + len(rejections)
	} else {
		filter, feasible := c.buildFilter()
		c.built.filter, c.built.score = filter, c.buildScore(feasible)
		if filter != nil {
			c.built.evaluated = filter.Nodes.Len()
		}
	}
	c.recorder.returnVerdicts(c.verdicts)
	c.recorder.returnScores(c.scores)
	c.nodes, c.verdicts, c.scores = nil, nil, nil
	return c.built
}

// buildFilter keeps each distinct verdict once. It returns the feasible nodes separately, and sets
// scratch.rank for them. The scheduler discards nodes that pass after its search has found enough.
// Like the scheduler, we report them as not evaluated.
func (c *cycle) buildFilter() (f *result.Filter, feasible result.NodeList) {
	plugins := c.profile.filterPlugins
	letters := newStateLetters(plugins, c.skipFilter, c.recorder.hypothetical)
	passing, rejections := c.separate()
	if passing+len(rejections) == 0 {
		return nil, result.NodeList{}
	}
	b := result.NewFilterBuilder(plugins, passing+len(rejections))
	b.AddPassed(passing, letters.passed)
	for _, i := range rejections {
		first, also := c.verdicts.on(i, plugins)
		b.AddVerdict(letters.rejectedBy(first, also), pluginReasons(first), furtherReasons(also)...)
	}
	f = b.Filter()
	f.Nodes = c.evaluated(passing, rejections)
	f.DurationSeconds = c.sampledFilter.extrapolate(plugins, letters.calls(f))
	f.Comparisons, f.Passes, f.Requests = c.comparisons, c.passes, c.requests
	f.Nominated = c.nominated.sorted()
	return f, f.Nodes.Head(passing)
}

// separate sets scratch.rank, and returns the number of feasible nodes and the indexes of the
// rejected ones, valid until the next call.
func (c *cycle) separate() (passing int, rejections []int32) {
	// Only if some nodes went on can we tell which the scheduler discarded. They go to an extender,
	// to scoring or, if only one was feasible, to selection.
	surplus := !c.recorder.hypothetical && (c.selected != "" || c.offered.any)
	if i, ok := c.nodes.index[c.selected]; ok && int(i) < len(c.verdicts.of) {
		c.verdicts.of[i] = considered // A single feasible node is not scored.
	}
	scratch := &c.recorder.scratch
	rank := slices.Grow(scratch.rank[:0], len(c.verdicts.of))[:len(c.verdicts.of)]
	rejections = scratch.rejected[:0]
	for i, v := range c.verdicts.of {
		rank[i] = -1
		switch {
		case v == rejected:
			rejections = append(rejections, int32(i))
		case v == considered, v == passed && !surplus:
			rank[i] = int32(passing)
			passing++
		}
	}
	scratch.rank, scratch.rejected = rank, rejections
	return passing, rejections
}

// evaluated lists the nodes that have a rank and then the rejected ones.
func (c *cycle) evaluated(passing int, rejections []int32) result.NodeList {
	scratch := &c.recorder.scratch
	at := slices.Grow(scratch.column[:0], passing+len(rejections))
	for i, rank := range scratch.rank {
		if rank >= 0 {
			at = append(at, int64(i))
		}
	}
	for _, i := range rejections {
		at = append(at, int64(i))
	}
	scratch.column = at
	return c.nodes.nodeList(at)
}

func factsOf(log *pluginfact.Log) (facts []result.Fact, dropped int) {
	recorded, dropped := log.Facts()
	for _, f := range recorded {
		facts = append(facts, result.Fact(f))
	}
	return facts, dropped
}

// consider marks nodes that went on to an extender or to scoring. It runs on the scheduling
// goroutine, which owns the snapshot's nodes.
func (c *cycle) consider(nodes []fwk.NodeInfo) {
	c.verdicts.last = c.verdicts.last[:0]
	for _, n := range nodes {
		if i, ok := c.nodes.find(n); ok {
			c.verdicts.of[i] = considered
			c.verdicts.last = append(c.verdicts.last, i)
		}
	}
}

// stateLetters writes Verdict.States. Patterns repeat, so it makes each once.
type stateLetters struct {
	plugins  []string
	passed   string
	rejected map[string]string // by plugins
	// goesOn: Filter goes on after a rejection.
	goesOn bool
}

func newStateLetters(plugins []string, skipped sets.Set[string], goesOn bool) *stateLetters {
	row := make([]byte, len(plugins))
	for p, name := range plugins {
		row[p] = result.Passed
		if skipped.Has(name) {
			row[p] = result.Skipped
		}
	}
	return &stateLetters{plugins: plugins, passed: string(row), rejected: map[string]string{}, goesOn: goesOn}
}

// rejectedBy returns the row of a rejected node: the plugins before the first rejection passed, and
// those after it did not run, unless Filter goes on after a rejection. Then also are the further
// rejections. A status without a plugin comes from the framework itself, before any plugin ran.
func (l *stateLetters) rejectedBy(first *fwk.Status, also []*fwk.Status) string {
	key := letterKey(first)
	for _, s := range also {
		key += "," + letterKey(s)
	}
	if row, ok := l.rejected[key]; ok {
		return row
	}
	row := []byte(l.passed)
	for _, s := range append([]*fwk.Status{first}, also...) {
		if at := slices.Index(l.plugins, s.Plugin()); at >= 0 {
			row[at] = result.Rejected
			if s.IsError() {
				row[at] = result.Failed
			}
		}
	}
	if after := slices.Index(l.plugins, first.Plugin()) + 1; !l.goesOn || after == 0 {
		for p := after; p < len(row); p++ {
			if row[p] != result.Skipped {
				row[p] = result.NotRun
			}
		}
	}
	l.rejected[key] = string(row)
	return string(row)
}

func letterKey(s *fwk.Status) string {
	if s.IsError() {
		return s.Plugin() + "!"
	}
	return s.Plugin()
}

func (l *stateLetters) calls(f *result.Filter) []int {
	nodes := make([]int, len(f.Verdicts))
	for _, v := range f.VerdictOf {
		nodes[v]++
	}
	calls := make([]int, len(l.plugins))
	for v, n := range nodes {
		for p := range calls {
			switch f.Verdicts[v].States[p] {
			case result.Passed, result.Rejected, result.Failed:
				calls[p] += n
			}
		}
	}
	return calls
}

func endingOf(status *fwk.Status, nominating *fwk.NominatingInfo) ending {
	e := ending{outcome: result.Error, status: status}
	if status.IsRejected() {
		e.outcome = result.Unschedulable
	}
	if nominating != nil && nominating.Mode() == fwk.ModeOverride {
		e.nominatedNode = nominating.NominatedNodeName
	}
	return e
}
