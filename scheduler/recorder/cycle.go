package recorder

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// Verdicts on nodes that every Filter plugin let through. They are not nil,
// because nil means not evaluated.
var (
	passed = &fwk.Status{}
	// considered nodes went on to scoring or were selected.
	considered = &fwk.Status{}
)

// cycle is the record of an attempt while it is being made. The scheduling
// goroutine owns it until a node is selected; then mu guards what the binding
// cycle adds.
type cycle struct {
	recorder *Recorder
	profile  *profile
	pod      result.Pod
	start    time.Time

	nodes *nodeTable
	// verdicts has one slot per node of the snapshot. A worker of Filter writes
	// to the slot of its node and to no other.
	verdicts   []*fwk.Status
	skipFilter sets.Set[string]
	// state is the cycle's own: a Filter call with another is on a clone, with
	// nominated pods added.
	state fwk.CycleState
	queue *result.Queue
	hint  *result.Hint
	group *groupRecord
	// searching is true while the scheduler looks for feasible nodes: what
	// Filter says then is the verdict, and not a dry run.
	searching   bool
	searched    bool
	filterStart time.Time

	skipScore sets.Set[string]
	scores    *scores

	// err is SchedulePod's, by which a failed try is known again.
	err      error
	selected string
	counts   result.NodeCounts
	// sampled are the durations of Filter and Score calls, per plugin.
	sampledFilter, sampledScore map[string]sample

	preemption  preemptionRecord
	comparisons comparisons
	nominated   nominatedPasses

	mu         sync.Mutex
	points     []result.ExtensionPoint
	preEnqueue []result.PluginResult
	preFilter  []result.PluginResult
	postFilter []result.PluginResult
	preScore   []result.PluginResult
	reserve    []result.PluginResult
	permit     []result.PluginResult
	preBind    []result.PluginResult
	bind       []result.PluginResult
	postBind   []result.PluginResult

	// attempt is set by the recorder's goroutine when it first builds the cycle.
	attempt int
}

// scores are copied from the framework's answer: what it compared.
type scores struct {
	nodes         []string
	plugins       []string
	raw, weighted [][]int64 // per plugin, per node
	totals        []int64
}

// ending is how a cycle ended.
type ending struct {
	at            time.Time
	outcome       result.Outcome
	status        *fwk.Status
	nominatedNode string
}

// point notes that an extension point ran. When it runs again, the later stays.
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

// pluginResult renders a status. nil is success, as in the framework.
func pluginResult(plugin string, s *fwk.Status, took time.Duration) result.PluginResult {
	return result.PluginResult{
		Plugin:          plugin,
		Status:          s.Code().String(),
		Reasons:         reasons(s),
		DurationSeconds: took.Seconds(),
	}
}

// reasons returns what a plugin said, nil for a success. An error is among its
// status's reasons.
func reasons(s *fwk.Status) []string {
	if s.IsSuccess() {
		return nil
	}
	return s.Reasons()
}

// noteScores copies what the framework answered, before the scheduler adds the
// extenders' scores and turns the slice into a heap.
func (c *cycle) noteScores(answer []fwk.NodePluginScores) {
	s := &scores{nodes: make([]string, len(answer)), totals: make([]int64, len(answer))}
	c.scores = s
	if len(answer) == 0 {
		return
	}
	plugins := len(answer[0].Scores)
	values := make([]int64, 2*plugins*len(answer))
	for p := range plugins {
		s.plugins = append(s.plugins, answer[0].Scores[p].Name)
		s.raw = append(s.raw, values[:len(answer):len(answer)])
		values = values[len(answer):]
		s.weighted = append(s.weighted, values[:len(answer):len(answer)])
		values = values[len(answer):]
	}
	for i, node := range answer {
		s.nodes[i] = node.Name
		s.totals[i] = node.TotalScore
		for p := range plugins {
			s.raw[p][i] = node.RawScores[p].Score
			s.weighted[p][i] = node.Scores[p].Score
		}
	}
}

// build turns the record into its immutable form. It runs on the recorder's
// goroutine and may be called twice: for a pod that waits, and for its end.
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
			Message:         e.status.Message(),
			Nodes:           c.counts,
		},
		Queue:           c.queue,
		Hint:            c.hint,
		PodGroup:        c.group.build(),
		Preemption:      c.preemption.build(e.nominatedNode),
		ExtensionPoints: append([]result.ExtensionPoint(nil), c.points...),
		PreEnqueue:      c.profile.ordered(c.preEnqueue, c.profile.preEnqueueOrder),
		PreFilter:       append([]result.PluginResult(nil), c.preFilter...),
		PostFilter:      append([]result.PluginResult(nil), c.postFilter...),
		PreScore:        append([]result.PluginResult(nil), c.preScore...),
		Reserve:         append([]result.PluginResult(nil), c.reserve...),
		Permit:          append([]result.PluginResult(nil), c.permit...),
		PreBind:         append([]result.PluginResult(nil), c.preBind...),
		Bind:            append([]result.PluginResult(nil), c.bind...),
		PostBind:        append([]result.PluginResult(nil), c.postBind...),
	}
	out.Filter = c.buildFilter()
	out.Score = c.buildScore()
	out.Nodes.Total = len(c.nodes.names)
	if out.Filter != nil {
		out.Nodes.Evaluated = len(out.Filter.Nodes)
	}
	if e.outcome != result.Waiting {
		r.returnVerdicts(c.verdicts)
		c.verdicts = nil
	}
	return out
}

// buildFilter keeps each distinct verdict once. Nodes that passed after the
// search had found enough were thrown away by the scheduler; they count as not
// evaluated, as they do for it.
func (c *cycle) buildFilter() *result.Filter {
	plugins := c.profile.filterPlugins
	letters := newStateLetters(plugins, c.skipFilter)
	// What was thrown away can be told when a node was selected and no extender
	// took nodes out behind the plugins.
	surplus := c.selected != "" && !c.profile.hasExtenders
	if i, ok := c.nodes.index[c.selected]; ok && surplus {
		c.verdicts[i] = considered // also when it alone was feasible
	}

	b := result.NewFilterBuilder(plugins, c.counts.Feasible)
	calls := make([]int, len(plugins))
	for i, status := range c.verdicts {
		switch {
		case status == nil, status == passed && surplus:
		case status == passed, status == considered:
			b.Add(c.nodes.names[i], letters.passed, "", nil)
			letters.count(calls, letters.passed)
		default:
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
		f.Nodes = c.nodes.names // the same names in the same order, held once
	}
	f.DurationSeconds = extrapolate(plugins, calls, c.sampledFilter)
	f.Comparisons = c.comparisons.sorted()
	f.Nominated = c.nominated.sorted()
	return f
}

// consider marks nodes that went on to scoring. It is called on the scheduling
// goroutine, to which the snapshot's nodes belong.
func (c *cycle) consider(nodes []fwk.NodeInfo) {
	for _, n := range nodes {
		if i, ok := c.nodes.index[n.Node().Name]; ok {
			c.verdicts[i] = considered
		}
	}
}

func (c *cycle) buildScore() *result.Score {
	if c.scores == nil {
		return nil
	}
	s := c.scores
	out := &result.Score{Nodes: s.nodes, Totals: result.NewColumn(s.totals)}
	calls := make([]int, len(s.plugins))
	for p, name := range s.plugins {
		weight := c.profile.weights[name]
		normalized := make([]int64, len(s.nodes))
		for i, w := range s.weighted[p] {
			normalized[i] = w / weight
		}
		out.Plugins = append(out.Plugins, result.ScorePlugin{Name: name, Weight: weight})
		out.Raw = append(out.Raw, result.NewColumn(s.raw[p]))
		out.Normalized = append(out.Normalized, result.NewColumn(normalized))
		out.Weighted = append(out.Weighted, result.NewColumn(s.weighted[p]))
		calls[p] = len(s.nodes)
	}
	for _, name := range c.profile.scorePlugins {
		if c.skipScore.Has(name) {
			out.Skipped = append(out.Skipped, name)
		}
	}
	out.FindTied()
	out.DurationSeconds = extrapolate(s.plugins, calls, c.sampledScore)
	return out
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

// rejectedBy returns the row of a node that a plugin rejected: those before it
// passed, those behind it did not run. A status without a plugin comes from the
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

// extrapolate estimates the time of all calls from the sampled ones.
func extrapolate(plugins []string, calls []int, sampled map[string]sample) []float64 {
	out := make([]float64, len(plugins))
	for p, name := range plugins {
		if s := sampled[name]; s.calls > 0 {
			out[p] = s.took.Seconds() / float64(s.calls) * float64(calls[p])
		}
	}
	return out
}

// endingOf translates what the scheduler told its failure handler.
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
