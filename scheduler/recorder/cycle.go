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
	// object is the pod as the scheduler has it in this cycle.
	object *v1.Pod
	start  time.Time

	nodes      *nodeTable
	verdicts   *verdicts
	skipFilter sets.Set[string]
	// state is the state of the cycle. A Filter call with another state uses a
	// clone, with nominated pods added.
	state fwk.CycleState
	queue *result.Queue
	hint  *result.Hint
	// nomination is nil when the pod had no nominated node at the start.
	nomination *result.Nomination
	// triesOneFirst: the scheduler tries the nominated or the hinted node before all
	// others. visits then counts how often it filtered a node.
	triesOneFirst bool
	visits        atomic.Int32
	// searchable is how many nodes the search may visit.
	searchable int
	group      *groupRecord
	// placement is the state of the group's placement in which the scheduler tries
	// the pod.
	placement fwk.PlacementCycleState
	// searching is true while the scheduler looks for feasible nodes: only then are
	// Filter's answers verdicts, not dry runs.
	searching   bool
	searched    bool
	filterStart time.Time

	skipScore sets.Set[string]
	scores    *scores
	offered   offered

	// err is SchedulePod's error. It identifies the failed try.
	err      error
	selected string
	counts   result.NodeCounts
	// sampled are the durations of Filter and Score calls, per plugin.
	sampledFilter, sampledScore map[string]sample

	preemption  preemptionRecord
	comparisons []result.Comparison
	facts       *pluginfact.Log
	nominated   nominatedPasses
	panics      panics
	extensions  extensionCalls
	// evictions is nil when no plugin of the cycle may preempt.
	evictions *evictions

	mu         sync.Mutex
	points     []result.ExtensionPoint
	preEnqueue []result.PluginResult
	preFilter  []result.PluginResult
	postFilter []result.PluginResult
	preScore   []result.PluginResult
	reserve    []result.PluginResult
	permit     []result.PluginResult
	wait       *permitWait

	preBindPreFlight []result.PluginResult

	preBind   []result.PluginResult
	bind      []result.PluginResult
	postBind  []result.PluginResult
	unreserve []result.PluginResult
	extenders []extenderCall
	claims    []result.ClaimAllocation

	// attempt is set by the recorder's goroutine when it first builds the cycle.
	attempt int
}

// scores holds the framework's answer. The rows are copied, because the scheduler
// adds the extenders' scores to them and turns them into a heap; the plugins' scores
// that a row points to do not change.
type scores struct {
	rows      []fwk.NodePluginScores
	extenders []extenderScores
}

// ending is how a cycle ended.
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

// note appends a plugin's answer to one of the cycle's lists.
func (c *cycle) note(list *[]result.PluginResult, p result.PluginResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*list = append(*list, p)
}

// reserveAgain forgets an earlier trial in the same cycle.
func (c *cycle) reserveAgain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserve, c.unreserve = nil, nil
	c.points = slices.DeleteFunc(c.points, func(p result.ExtensionPoint) bool { return p.Name == "unreserve" })
}

// noteNominatedPass notes a pass of Filter over a copy of a node.
func (c *cycle) noteNominatedPass(node fwk.NodeInfo) {
	if i, ok := c.nodes.find(node); ok {
		c.nominated.note(node, len(c.nodes.list[i].GetPods()))
	}
}

// noteClaims keeps the devices that the pod's claims hold.
func (c *cycle) noteClaims(claims []result.ClaimAllocation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claims = claims
}

// pluginResult renders a status. nil is success, as in the framework.
func pluginResult(plugin string, s *fwk.Status, took time.Duration) result.PluginResult {
	return result.PluginResult{
		Plugin:          plugin,
		Status:          s.Code().String(),
		Reasons:         reasons(s),
		DurationSeconds: took.Seconds(),
	}
}

// reasons returns a plugin's reasons, nil for a success. The reasons of an error
// status include the error.
func reasons(s *fwk.Status) []string {
	if s.IsSuccess() {
		return nil
	}
	return s.Reasons()
}

// messageOf renders a status. The recorder's goroutine has no guard, and Kubernetes'
// FitError panics without the statuses of nodes.
func messageOf(s *fwk.Status) (message string) {
	defer func() {
		if recover() != nil {
			message = fmt.Sprintf("an error of type %T that has no message", s.AsError())
		}
	}()
	return s.Message()
}

// noteScores copies the framework's answer.
func (c *cycle) noteScores(answer []fwk.NodePluginScores) {
	c.scores = &scores{rows: append(c.recorder.takeRows(), answer...)}
}

// build turns the record into its immutable form. It runs on the recorder's
// goroutine. For a pod that waits it runs twice: when the wait starts and when the
// cycle has ended.
func (r *Recorder) build(c *cycle, e ending) *result.Cycle {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.attempt == 0 {
		c.attempt = r.sink.NextAttempt(c.pod.UID)
	}
	out := &result.Cycle{
		Summary: result.Summary{
			Pod:             c.pod,
			Attempt:         c.attempt,
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
		PreEnqueue:      c.profile.ordered(c.preEnqueue, c.profile.preEnqueueOrder),
		PreFilter:       append([]result.PluginResult(nil), c.preFilter...),
		PostFilter:      append([]result.PluginResult(nil), c.postFilter...),
		PreScore:        append([]result.PluginResult(nil), c.preScore...),
		Reserve:         append([]result.PluginResult(nil), c.reserve...),
		Permit:          append([]result.PluginResult(nil), c.permit...),
		PermitWait:      c.wait.build(c.profile.permitOrder),
		PreBind:         c.profile.ordered(append(skipped(c.preBindPreFlight), c.preBind...), c.profile.preBindOrder),
		Unreserve:       append([]result.PluginResult(nil), c.unreserve...),
		Bind:            append([]result.PluginResult(nil), c.bind...),
		PostBind:        append([]result.PluginResult(nil), c.postBind...),
	}
	out.PreBindPreFlight = append([]result.PluginResult(nil), c.preBindPreFlight...)
	out.PreFilterExtensions = c.extensions.sorted(c.profile.preFilterOrder)
	if out.Preemption != nil {
		out.Preemption.Evictions = c.evictions.build()
	}
	out.Facts, out.FactsDropped = factsOf(c.facts)
	out.Extenders = c.buildExtenders()
	out.Claims = c.claims
	out.Panics = c.panicsOf(e)
	out.Filter = c.buildFilter()
	out.Score = c.buildScore()
	out.Nodes.Total = len(c.nodes.names)
	if out.Filter != nil {
		out.Nodes.Evaluated = len(out.Filter.Nodes)
	}
	out.Refusal = result.FindRefusal(out)
	if e.outcome != result.Waiting {
		r.returnVerdicts(c.verdicts)
		c.verdicts = nil
		if c.scores != nil {
			r.returnRows(c.scores.rows)
			c.scores = nil
		}
	}
	return out
}

// skipped returns the plugins that answered Skip.
func skipped(answers []result.PluginResult) []result.PluginResult {
	return slices.DeleteFunc(slices.Clone(answers), func(p result.PluginResult) bool { return p.Status != fwk.Skip.String() })
}

// buildFilter keeps each distinct verdict once. The scheduler discards nodes that
// passed after its search had found enough; we report them as not evaluated, as the
// scheduler does.
func (c *cycle) buildFilter() *result.Filter {
	plugins := c.profile.filterPlugins
	letters := newStateLetters(plugins, c.skipFilter)
	// We can tell which nodes were discarded only if others went on: to an extender,
	// to scoring, or, if only one was feasible, to selection.
	surplus := c.selected != "" || c.offered.any
	if i, ok := c.nodes.index[c.selected]; ok {
		c.verdicts.of[i] = considered // A single feasible node is not scored.
	}

	b := result.NewFilterBuilder(plugins, c.counts.Feasible)
	calls := make([]int, len(plugins))
	for i, v := range c.verdicts.of {
		switch {
		case v == notEvaluated, v == passed && surplus:
		case v == passed, v == considered:
			b.Add(c.nodes.names[i], letters.passed, "", nil)
			letters.count(calls, letters.passed)
		default:
			status := c.verdicts.rejections[i]
			states := letters.rejectedBy(status)
			letters.count(calls, states)
			b.Add(c.nodes.names[i], states, status.Plugin(), reasons(status))
		}
	}
	f := b.Filter()
	if len(f.Nodes) == 0 {
		return nil
	}
	if len(f.Nodes) == len(c.nodes.names) {
		f.Nodes = c.nodes.names // the same names in the same order, so share the slice
	}
	f.DurationSeconds = extrapolate(plugins, calls, c.sampledFilter)
	f.Comparisons = c.comparisons
	f.Nominated = c.nominated.sorted()
	return f
}

// factsOf returns the facts that plugins attached to the cycle.
func factsOf(log *pluginfact.Log) (facts []result.Fact, dropped int) {
	recorded, dropped := log.Facts()
	for _, f := range recorded {
		facts = append(facts, result.Fact(f))
	}
	return facts, dropped
}

// consider marks nodes that went on to an extender or to scoring. It is called
// on the scheduling goroutine, to which the snapshot's nodes belong.
func (c *cycle) consider(nodes []fwk.NodeInfo) {
	for _, n := range nodes {
		if i, ok := c.nodes.find(n); ok {
			c.verdicts.of[i] = considered
		}
	}
}

func (c *cycle) buildScore() *result.Score {
	if c.scores == nil {
		return nil
	}
	rows := c.scores.rows
	out := &result.Score{Nodes: make([]string, len(rows))}
	// The recorder's goroutine builds one cycle at a time.
	column := slices.Grow(c.recorder.column[:0], len(rows))[:len(rows)]
	c.recorder.column = column
	for i := range rows {
		out.Nodes[i] = rows[i].Name
	}
	names := scored(rows)
	calls := make([]int, len(names))
	for p, name := range names {
		calls[p] = len(rows)
		weight := c.profile.weights[name]
		out.Plugins = append(out.Plugins, result.ScorePlugin{Name: name, Weight: weight})
		for i := range rows {
			column[i] = rows[i].RawScores[p].Score
		}
		out.Raw = append(out.Raw, result.NewColumn(column))
		for i := range rows {
			column[i] = rows[i].Scores[p].Score
		}
		weighted := result.NewColumn(column)
		out.Weighted = append(out.Weighted, weighted)
		if weight == 1 {
			out.Normalized = append(out.Normalized, weighted) // the same values, so share the column
			continue
		}
		for i := range column {
			column[i] /= weight
		}
		out.Normalized = append(out.Normalized, result.NewColumn(column))
	}
	for _, name := range c.profile.scorePlugins {
		if c.skipScore.Has(name) {
			out.Skipped = append(out.Skipped, name)
		}
	}
	for i := range rows {
		column[i] = rows[i].TotalScore
	}
	c.scores.addExtenders(out, column)
	out.Totals = result.NewColumn(column)
	out.FindTied()
	out.DurationSeconds = extrapolate(names, calls, c.sampledScore)
	return out
}

// scored returns the plugins that scored, in their order.
func scored(rows []fwk.NodePluginScores) []string {
	if len(rows) == 0 {
		return nil
	}
	names := make([]string, len(rows[0].Scores))
	for p := range names {
		names[p] = rows[0].Scores[p].Name
	}
	return names
}

// stateLetters writes Verdict.States. Patterns repeat, so each is made once.
type stateLetters struct {
	plugins  []string
	passed   string
	rejected map[string]string // by plugin
}

func newStateLetters(plugins []string, skipped sets.Set[string]) *stateLetters {
	row := make([]byte, len(plugins))
	for p, name := range plugins {
		row[p] = result.Passed
		if skipped.Has(name) {
			row[p] = result.Skipped
		}
	}
	return &stateLetters{plugins: plugins, passed: string(row), rejected: map[string]string{}}
}

// rejectedBy returns the row of a node that a plugin rejected: the plugins before it
// passed, those after it did not run. A status without a plugin comes from the
// framework itself, before any plugin ran.
func (l *stateLetters) rejectedBy(s *fwk.Status) string {
	key := s.Plugin()
	if s.IsError() {
		key += "!"
	}
	if row, ok := l.rejected[key]; ok {
		return row
	}
	row := []byte(l.passed)
	ran := s.Plugin() != ""
	for p, name := range l.plugins {
		switch {
		case name == s.Plugin():
			row[p] = result.Rejected
			if s.IsError() {
				row[p] = result.Failed
			}
			ran = false
		case !ran && row[p] != result.Skipped:
			row[p] = result.NotRun
		}
	}
	l.rejected[key] = string(row)
	return string(row)
}

// count adds one call for each plugin that ran in states.
func (l *stateLetters) count(calls []int, states string) {
	for p := range calls {
		switch states[p] {
		case result.Passed, result.Rejected, result.Failed:
			calls[p]++
		}
	}
}

// extrapolate estimates the time of all calls from the sampled ones. It is nil for a
// plugin without any.
func extrapolate(plugins []string, calls []int, sampled map[string]sample) []*float64 {
	out := make([]*float64, len(plugins))
	for p, name := range plugins {
		if s := sampled[name]; s.calls > 0 {
			estimate := s.took.Seconds() / float64(s.calls) * float64(calls[p])
			out[p] = &estimate
		}
	}
	return out
}

// endingOf translates the arguments of the scheduler's failure handler.
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
