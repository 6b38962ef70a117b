package recorder

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
)

// NewHypothetical returns a recorder of decisions that are made on a copy of the state. To learn
// more, it changes what the scheduler does:
//
//   - A pod that a plugin rejected in PreFilter is shown to the other plugins as well.
//   - All nodes are evaluated: also when nothing scores them, after the nominated node was
//     found to fit, and those to which PreFilter does not restrict the search.
//   - Filter goes on after a rejection, so that every plugin that rejects a node is known.
//   - DefaultPreemption chooses victims and evicts none.
//
// None of this changes which node is selected, except by chance among equals. If the configuration
// lets a search end early, and it finds enough nodes, the others are not evaluated.
//
// It has no goroutine: Conclude ends and returns each cycle; do not call Start and Stop. Run all
// cycles on one goroutine.
func NewHypothetical(plugins Plugins, clock func() time.Time) *Recorder {
	r := New(nil, plugins, clock)
	r.hypothetical = true
	return r
}

// WithoutOthers makes a hypothetical recorder leave the nodes that Filter does not see, and a pod that PreFilter rejected, to the plugins that
// decided so: plugins that only repeat what was decided elsewhere have no answer of their own about these.
func (r *Recorder) WithoutOthers() { r.withoutOthers = true }

// Conclude ends the cycle of a pod after SchedulePod, and returns its record, or nil if there is
// none. status is that of the scheduling cycle, nil if a node was selected. nominating is
// PostFilter's, and may be nil. The scheduler's snapshot must not have changed since.
func (r *Recorder) Conclude(uid types.UID, status *fwk.Status, nominating *fwk.NominatingInfo) *result.Cycle {
	e := hypotheticalEnding(status, nominating)
	c := r.take(uid, e.status)
	r.Forget(uid)
	if c == nil {
		return nil
	}
	e.at = r.now()
	return r.buildHypothetical(c, e)
}

// ConcludeMember is Conclude for a pod of a pod group. SchedulePod need not have run for it: its
// group may have failed before. nodes are the snapshot's.
func (r *Recorder) ConcludeMember(profile string, pod *framework.QueuedPodInfo, nodes []fwk.NodeInfo, status *fwk.Status, nominating *fwk.NominatingInfo) *result.Cycle {
	if c := r.Conclude(pod.Pod.UID, status, nominating); c != nil {
		return c
	}
	e := hypotheticalEnding(status, nominating)
	e.at = r.now()
	return r.buildHypothetical(r.without(profile, pod, nodes, e.at), e)
}

func hypotheticalEnding(status *fwk.Status, nominating *fwk.NominatingInfo) ending {
	if status.IsSuccess() {
		return ending{outcome: result.Scheduled}
	}
	return endingOf(status, nominating)
}

// buildHypothetical leaves out that the cycle of a pod group reserves each member's node while it
// tries the next members.
func (r *Recorder) buildHypothetical(c *cycle, e ending) *result.Cycle {
	c.attempt, c.queue, c.answers.Reserve, c.answers.Unreserve = 1, nil, nil, nil
	c.points = slices.DeleteFunc(c.points, func(p result.ExtensionPoint) bool { return p.Name == "reserve" || p.Name == "unreserve" })
	return r.build(c, e)
}

// others is what a hypothetical cycle notes about plugins that reject the pod, or nodes, in
// PreFilter. It changes only while no worker of Filter runs.
type others struct {
	// asked: askOthers runs.
	asked bool
	// rejections are the statuses of the plugins that rejected the pod in PreFilter.
	rejections map[string]*fwk.Status
	// restrictions are the only nodes that plugins let Filter see.
	restrictions map[string]sets.Set[string]
	rest         func()
}

func (c *cycle) preFiltered(answer result.PluginResult, res *fwk.PreFilterResult, status *fwk.Status) *fwk.PreFilterResult {
	if !c.recorder.hypothetical {
		c.note(&c.answers.PreFilter, answer)
		return res
	}
	o := &c.others
	if !slices.ContainsFunc(c.answers.PreFilter, func(p result.PluginResult) bool { return p.Plugin == answer.Plugin }) {
		c.note(&c.answers.PreFilter, answer)
	}
	switch {
	case status.IsRejected():
		o.rejections[answer.Plugin] = status
	case status.IsSuccess() && !res.AllNodes():
		o.restrictions[answer.Plugin] = res.NodeNames
	}
	if o.asked {
		return nil
	}
	return res
}

// leavesOut reports whether a plugin is treated as if it did not exist.
func (o *others) leavesOut(plugin string) bool { return o.asked && o.rejections[plugin] != nil }

// seeAllNodes makes Filter see the nodes that it would not see in a live cycle.
func (f *recorded) seeAllNodes(ctx context.Context, c *cycle, pod *v1.Pod, status *fwk.Status) {
	switch {
	case f.recorder.withoutOthers:
	case status.IsSuccess():
		c.others.rest = func() { f.evaluateRest(ctx, c, pod) }
	case status.IsRejected():
		f.askOthers(ctx, c, pod)
	}
}

// askOthers finds out what the other plugins say about a pod that PreFilter rejected, as if the
// plugins that rejected it did not exist, and then filters all nodes. Plugins that depend on a
// skipped one may fail; askOthers keeps what is known by then.
func (f *recorded) askOthers(ctx context.Context, c *cycle, pod *v1.Pod) {
	original := c.state
	defer func() { c.state, c.others.asked = original, false }()
	c.others.asked = true
	// Each round finds another plugin that rejects the pod.
	for before := -1; len(c.others.rejections) != before; {
		before = len(c.others.rejections)
		c.state = framework.NewCycleState()
		_, status, _ := f.Framework.RunPreFilterPlugins(ctx, c.state, pod)
		switch {
		case status.IsRejected():
			continue
		case !status.IsSuccess():
			return
		}
		c.skipFilter = c.state.GetSkipFilterPlugins().Difference(sets.KeySet(c.others.rejections))
		c.searching = true
		c.filterStart = f.recorder.now()
		f.evaluateRest(ctx, c, pod)
		c.endSearch()
		return
	}
}

func (f *recorded) evaluateRest(ctx context.Context, c *cycle, pod *v1.Pod) {
	var rest []int
	placement := c.group.nodesOf(c.placement)
	tried := make(map[string]bool, len(placement))
	for _, node := range placement {
		tried[node.Node().Name] = true
	}
	for i, v := range c.verdicts.of {
		if v == notEvaluated && (placement == nil || tried[c.nodes.names[i]]) {
			rest = append(rest, i)
		}
	}
	visits := c.visits.Load()
	f.Parallelizer().Until(ctx, len(rest), func(i int) {
		f.RunFilterPluginsWithNominatedPods(ctx, c.state, pod, c.nodes.list[rest[i]])
	}, metrics.Filter)
	c.visits.Store(visits)
	c.completeVerdicts()
}

// notSearched is the status of a node outside a plugin's PreFilter result, in the scheduler's
// words.
func notSearched(plugin string) *fwk.Status {
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) didn't satisfy plugin(s) [%s]", plugin)).WithPlugin(plugin)
}

// further returns a node's rejections after the first.
func (f *recorded) further(ctx context.Context, c *cycle, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo, first *fwk.Status) []*fwk.Status {
	var found []*fwk.Status
	skip := state.GetSkipFilterPlugins()
	for status := first; !status.IsSuccess() && status.Plugin() != ""; {
		skip = c.without(skip, status.Plugin(), f.recorder.nominating.Load())
		if status = f.Framework.RunFilterPluginsWithNominatedPods(ctx, &skipping{state, skip}, pod, node); !status.IsSuccess() {
			found = append(found, status)
		}
	}
	return found
}

// without also skips a plugin that rejected a node. The plugins before it passed the node and are
// skipped too, unless the node has nominated pods: then some have seen the node only with them.
func (c *cycle) without(skip sets.Set[string], plugin string, nominated bool) sets.Set[string] {
	plugins := c.profile.filterPlugins
	at := slices.Index(plugins, plugin)
	if at < 0 || nominated {
		return skip.Union(sets.New(plugin))
	}
	return skip.Union(sets.New(plugins[:at+1]...))
}

// skipping is a cycle state in which further plugins are skipped.
type skipping struct {
	fwk.CycleState
	skip sets.Set[string]
}

func (s *skipping) GetSkipFilterPlugins() sets.Set[string] { return s.skip }

func (s *skipping) Clone() fwk.CycleState { return &skipping{s.CycleState.Clone(), s.skip} }

// calledWith returns the state behind the one that a Filter call got.
func calledWith(state fwk.CycleState) fwk.CycleState {
	if s, ok := state.(*skipping); ok {
		return s.CycleState
	}
	return state
}

// completeVerdicts adds PreFilter's answers to the verdicts on nodes: a plugin that rejects the pod
// there rejects every node, and one that restricts the search rejects the other nodes. If such a
// plugin has no Filter, those nodes count as not evaluated.
func (c *cycle) completeVerdicts() {
	o := &c.others
	if len(o.rejections) == 0 && len(o.restrictions) == 0 {
		return
	}
	for i := range c.verdicts.of {
		at := int32(i)
		for _, plugin := range c.profile.filterPlugins {
			if status := o.about(plugin, c.nodes.names[i]); status != nil {
				c.verdicts.reject(at, status)
			}
		}
		if c.verdicts.of[i] == passed && slices.ContainsFunc(slices.Collect(maps.Values(o.restrictions)), func(nodes sets.Set[string]) bool { return !nodes.Has(c.nodes.names[i]) }) {
			c.verdicts.of[i] = notEvaluated
		}
	}
}

func (c *cycle) foundEnough() bool {
	wanted := upstream.NodesToFind(c.searchable, c.profile.percentageOfNodesToScore)
	return wanted < c.searchable && c.passing() >= wanted
}

func (c *cycle) passing() int {
	n := 0
	for _, v := range c.verdicts.of {
		if v == passed || v == considered {
			n++
		}
	}
	return n
}

func (o *others) about(plugin, node string) *fwk.Status {
	if status := o.rejections[plugin]; status != nil {
		return status
	}
	if nodes, restricted := o.restrictions[plugin]; restricted && !nodes.Has(node) {
		return notSearched(plugin)
	}
	return nil
}

// on returns the rejections of a node in the order of the plugins.
func (v *verdicts) on(node int32, plugins []string) (first *fwk.Status, also []*fwk.Status) {
	if v.also == nil || len(v.also[node]) == 0 {
		return v.rejections[node], nil
	}
	all := append([]*fwk.Status{v.rejections[node]}, v.also[node]...)
	slices.SortStableFunc(all, func(a, b *fwk.Status) int {
		return slices.Index(plugins, a.Plugin()) - slices.Index(plugins, b.Plugin())
	})
	return all[0], all[1:]
}

func furtherReasons(also []*fwk.Status) []result.PluginReasons {
	var out []result.PluginReasons
	for _, s := range also {
		out = append(out, pluginReasons(s))
	}
	return out
}

func pluginReasons(s *fwk.Status) result.PluginReasons {
	return result.PluginReasons{Plugin: s.Plugin(), Reasons: reasons(s), Status: s.Code().String()}
}

// reject ignores a second rejection by the same plugin. A node that was not evaluated stays so.
func (v *verdicts) reject(node int32, status *fwk.Status) {
	of := func(s *fwk.Status) bool { return s.Plugin() == status.Plugin() }
	switch {
	case v.of[node] == notEvaluated:
	case v.of[node] != rejected:
		v.note(node, status)
	case !of(v.rejections[node]) && !slices.ContainsFunc(v.also[node], of):
		v.also[node] = append(v.also[node], status)
	}
}

// HasScorePlugins returns true in a hypothetical cycle: without Score plugins the scheduler takes
// the first node that fits.
func (f *recorded) HasScorePlugins() bool {
	return f.recorder.hypothetical || f.Framework.HasScorePlugins()
}

// unscored returns equal scores for a profile without Score plugins, otherwise nil.
func (f *recorded) unscored(nodes []fwk.NodeInfo) []fwk.NodePluginScores {
	if !f.recorder.hypothetical || f.Framework.HasScorePlugins() {
		return nil
	}
	out := make([]fwk.NodePluginScores, len(nodes))
	for i, node := range nodes {
		out[i] = fwk.NodePluginScores{Name: node.Node().Name, TotalScore: 1}
	}
	return out
}

// StoreScheduleResults keeps nothing in a hypothetical cycle, because GetNodeHint returns no hint.
func (f *recorded) StoreScheduleResults(ctx context.Context, signature fwk.PodSignature, hint, chosen string, others framework.SortedScoredNodes, cycleCount int64) {
	if !f.recorder.hypothetical {
		f.Framework.StoreScheduleResults(ctx, signature, hint, chosen, others, cycleCount)
	}
}
