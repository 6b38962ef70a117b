package recorder

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// recorded decorates a profile's framework for the scheduler's calls. Plugins keep the undecorated
// framework as their handle, so the plugins that they run themselves, as in preemption's dry runs,
// bypass the decorator.
type recorded struct {
	framework.Framework
	recorder *Recorder
}

var _ framework.Framework = (*recorded)(nil)

// Framework returns f with a decorator that records to r. f must be built from a registry that Wrap
// returned. percentageOfNodesToScore is the configuration's, for profiles without their own; nil
// means adaptive.
func (r *Recorder) Framework(f framework.Framework, percentageOfNodesToScore *int32) framework.Framework {
	r.profile(f.ProfileName()).learn(f, percentageOfNodesToScore)
	return &recorded{Framework: f, recorder: r}
}

func (f *recorded) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	c := f.recorder.scheduling(pod)
	if c == nil {
		return f.Framework.RunPreFilterPlugins(ctx, state, pod)
	}
	start := f.recorder.now()
	res, status, plugins := f.Framework.RunPreFilterPlugins(ctx, state, pod)
	end := f.recorder.now()
	c.point("preFilter", end.Sub(start))
	c.skipFilter = state.GetSkipFilterPlugins()
	c.searchable = c.inPlacement(res)
	c.filterStart = end
	c.searching = status.IsSuccess()
	c.searched = c.searching
	if f.recorder.hypothetical {
		f.seeAllNodes(ctx, c, pod, status)
	}
	return res, status, plugins
}

// GetNodeHint runs Filter and Score again on the previous pod's node, outside the search for this
// pod.
func (f *recorded) GetNodeHint(ctx context.Context, pod *v1.Pod, signature fwk.PodSignature, state fwk.CycleState, cycleCount int64) string {
	c := f.recorder.scheduling(pod)
	switch {
	case f.recorder.hypothetical:
		return ""
	case c == nil:
		return f.Framework.GetNodeHint(ctx, pod, signature, state, cycleCount)
	}
	c.searching = false
	c.facts.Pause(true)
	hint := f.Framework.GetNodeHint(ctx, pod, signature, state, cycleCount)
	c.facts.Pause(false)
	if hint != "" {
		c.hint = &result.Hint{Node: hint}
		c.triesOneFirst = true
	}
	c.searching = true
	c.filterStart = f.recorder.now()
	return hint
}

// RunFilterPluginsWithNominatedPods is called for each node of the scheduler's
// search, by many workers at once.
func (f *recorded) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	c := f.recorder.scheduling(pod)
	if c == nil {
		return f.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	}
	if c.triesOneFirst && c.visits.Add(1) > 1 {
		c.nominated.forget(node.Node().Name) // only the latest verdict on a node counts
	}
	status := f.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	i, ok := c.nodes.find(node)
	if !ok {
		return status
	}
	c.verdicts.note(i, status)
	if f.recorder.hypothetical {
		c.verdicts.also[i] = f.further(ctx, c, state, pod, node, status)
	}
	return status
}

func (c *cycle) endSearch() {
	if !c.searching {
		return
	}
	if c.others.rest != nil && !c.foundEnough() {
		c.others.rest()
	}
	c.searching = false
	c.point("filter", c.recorder.now().Sub(c.filterStart))
	c.sampledFilter = readSamples(c.profile.filterSamplers)
	if c.brief {
		c.profile.forgetRejections()
		return
	}
	traced := result.MaxUses
	if c.recorder.hypothetical {
		traced = result.MaxComparisons
	}
	c.comparisons = c.profile.comparisons(traced)
	c.requests = c.recorder.plugins.Requests(c.object)
}

func (f *recorded) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	start := f.recorder.now()
	res, status := f.Framework.RunPostFilterPlugins(ctx, state, pod, statuses)
	f.schedulingPoint(pod, "postFilter", start)
	return res, status
}

func (f *recorded) RunPreScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	c := f.recorder.scheduling(pod)
	if c == nil {
		return f.Framework.RunPreScorePlugins(ctx, state, pod, nodes)
	}
	c.endSearch()
	c.consider(nodes)
	start := f.recorder.now()
	status := f.Framework.RunPreScorePlugins(ctx, state, pod, nodes)
	c.point("preScore", f.recorder.now().Sub(start))
	c.skipScore = state.GetSkipScorePlugins()
	return status
}

func (f *recorded) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	if scores := f.unscored(nodes); scores != nil {
		return scores, nil
	}
	c := f.recorder.scheduling(pod)
	if c == nil {
		return f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	}
	start := f.recorder.now()
	scores, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	c.point("score", f.recorder.now().Sub(start))
	c.sampledScore = readSamples(c.profile.scoreSamplers)
	if status.IsSuccess() && !c.brief {
		c.noteScores(nodes, scores)
	}
	return scores, status
}

// RunReservePluginsReserve is called twice for a member of a pod group: when the member finds a
// node, and when the whole group has nodes. It records the second call.
func (f *recorded) RunReservePluginsReserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	f.recorder.choose(pod, state)
	if c := f.recorder.scheduling(pod); c != nil {
		c.reserveAgain()
	}
	start := f.recorder.now()
	status := f.Framework.RunReservePluginsReserve(ctx, state, pod, node)
	f.schedulingPoint(pod, "reserve", start)
	return status
}

// RunReservePluginsUnreserve is called when a pod loses its place, and for a member of a
// pod group at the end of each trial.
func (f *recorded) RunReservePluginsUnreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	start := f.recorder.now()
	f.Framework.RunReservePluginsUnreserve(ctx, state, pod, node)
	if c := f.recorder.reserved(state, pod); c != nil {
		c.point("unreserve", f.recorder.now().Sub(start))
	}
}

// reserved returns the record of the try that reserved a node for the pod. Trials of preemption for
// pod groups have none.
func (r *Recorder) reserved(state fwk.CycleState, pod *v1.Pod) *cycle {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.inFlight[pod.UID]; t != nil {
		for _, c := range t.all {
			if c.state == state {
				return c
			}
		}
	}
	return nil
}

// RunPreBindPreFlights is the first step of a binding cycle.
func (f *recorded) RunPreBindPreFlights(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	start := f.recorder.now()
	status := f.Framework.RunPreBindPreFlights(ctx, state, pod, node)
	f.bindingPoint(pod, "preBindPreFlight", start)
	return status
}

func (f *recorded) RunPreBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	start := f.recorder.now()
	status := f.Framework.RunPreBindPlugins(ctx, state, pod, node)
	f.bindingPoint(pod, "preBind", start)
	return status
}

func (f *recorded) RunBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	start := f.recorder.now()
	status := f.Framework.RunBindPlugins(ctx, state, pod, node)
	f.bindingPoint(pod, "bind", start)
	return status
}

// RunPostBindPlugins is the last step of the scheduler for a bound pod, whether or
// not there are PostBind plugins.
func (f *recorded) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	start := f.recorder.now()
	f.Framework.RunPostBindPlugins(ctx, state, pod, node)
	f.bindingPoint(pod, "postBind", start)
	f.recorder.end(pod.UID, ending{outcome: result.Scheduled})
}

func (f *recorded) schedulingPoint(pod *v1.Pod, name string, start time.Time) {
	if c := f.recorder.scheduling(pod); c != nil {
		c.point(name, f.recorder.now().Sub(start))
	}
}

func (f *recorded) bindingPoint(pod *v1.Pod, name string, start time.Time) {
	if c := f.recorder.binding(pod); c != nil {
		c.point(name, f.recorder.now().Sub(start))
	}
}
