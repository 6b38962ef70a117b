package guard

import (
	"context"
	"io"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
)

// Each method of Guard below returns p with its calls guarded. A call with a status that panics
// returns the status Error, and no score or result.

// PreEnqueue keeps the pod out of the queue after a panic, until the queue asks again.
func (g *Guard) PreEnqueue(p fwk.PreEnqueuePlugin) fwk.PreEnqueuePlugin { return preEnqueue{p, g} }

type preEnqueue struct {
	fwk.PreEnqueuePlugin
	g *Guard
}

func (p preEnqueue) PreEnqueue(ctx context.Context, pod *v1.Pod) (status *fwk.Status) {
	defer p.g.Status("PreEnqueue", pod, &status)
	return p.PreEnqueuePlugin.PreEnqueue(ctx, pod)
}

// QueueSort orders two entities as PrioritySort does when the plugin panics.
func (g *Guard) QueueSort(p fwk.QueueSortPlugin) fwk.QueueSortPlugin { return queueSort{p, g} }

type queueSort struct {
	fwk.QueueSortPlugin
	g *Guard
}

func (p queueSort) Less(a, b fwk.QueuedEntityInfo) (less bool) {
	defer func() {
		if value := recover(); value != nil {
			p.g.caught("Less", nil, value)
			less = (&queuesort.PrioritySort{}).Less(a, b)
		}
	}()
	return p.QueueSortPlugin.Less(a, b)
}

// PreFilter also guards the plugin's extensions.
func (g *Guard) PreFilter(p fwk.PreFilterPlugin) fwk.PreFilterPlugin { return preFilter{p, g} }

type preFilter struct {
	fwk.PreFilterPlugin
	g *Guard
}

func (p preFilter) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (_ *fwk.PreFilterResult, status *fwk.Status) {
	defer p.g.Status("PreFilter", pod, &status)
	return p.PreFilterPlugin.PreFilter(ctx, state, pod, nodes)
}

// PreFilterExtensions returns nil if the plugin does. After a panic it returns
// extensions that fail.
func (p preFilter) PreFilterExtensions() (out fwk.PreFilterExtensions) {
	defer func() {
		if value := recover(); value != nil {
			out = failing{p.g.caught("PreFilterExtensions", nil, value)}
		}
	}()
	inner := p.PreFilterPlugin.PreFilterExtensions()
	if inner == nil {
		return nil
	}
	return preFilterExtensions{inner, p.g}
}

type preFilterExtensions struct {
	fwk.PreFilterExtensions
	g *Guard
}

func (e preFilterExtensions) AddPod(ctx context.Context, state fwk.CycleState, pod *v1.Pod, added fwk.PodInfo, node fwk.NodeInfo) (status *fwk.Status) {
	defer e.g.Status("AddPod", pod, &status)
	return e.PreFilterExtensions.AddPod(ctx, state, pod, added, node)
}

func (e preFilterExtensions) RemovePod(ctx context.Context, state fwk.CycleState, pod *v1.Pod, removed fwk.PodInfo, node fwk.NodeInfo) (status *fwk.Status) {
	defer e.g.Status("RemovePod", pod, &status)
	return e.PreFilterExtensions.RemovePod(ctx, state, pod, removed, node)
}

// failing are extensions that the plugin could not return.
type failing struct{ why *Panic }

var (
	_ fwk.PreFilterExtensions      = failing{}
	_ fwk.ScoreExtensions          = failing{}
	_ fwk.PlacementScoreExtensions = failing{}
)

func (f failing) AddPod(context.Context, fwk.CycleState, *v1.Pod, fwk.PodInfo, fwk.NodeInfo) *fwk.Status {
	return fwk.AsStatus(f.why)
}

func (f failing) RemovePod(context.Context, fwk.CycleState, *v1.Pod, fwk.PodInfo, fwk.NodeInfo) *fwk.Status {
	return fwk.AsStatus(f.why)
}

func (f failing) NormalizeScore(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeScoreList) *fwk.Status {
	return fwk.AsStatus(f.why)
}

func (f failing) NormalizePlacementScore(context.Context, fwk.PodGroupCycleState, fwk.PodGroupInfo, []fwk.PlacementScore) *fwk.Status {
	return fwk.AsStatus(f.why)
}

// Filter guards calls that Kubernetes makes on many goroutines.
func (g *Guard) Filter(p fwk.FilterPlugin) fwk.FilterPlugin { return &filter{p, g} }

type filter struct {
	fwk.FilterPlugin
	g *Guard
}

func (p *filter) Filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (status *fwk.Status) {
	defer p.g.Status("Filter", pod, &status)
	return p.FilterPlugin.Filter(ctx, state, pod, node)
}

// PostFilter guards preemption, except for what it does on goroutines of its own.
func (g *Guard) PostFilter(p fwk.PostFilterPlugin) fwk.PostFilterPlugin { return postFilter{p, g} }

type postFilter struct {
	fwk.PostFilterPlugin
	g *Guard
}

func (p postFilter) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (_ *fwk.PostFilterResult, status *fwk.Status) {
	defer p.g.Status("PostFilter", pod, &status)
	return p.PostFilterPlugin.PostFilter(ctx, state, pod, statuses)
}

// PreScore guards the plugin at this extension point.
func (g *Guard) PreScore(p fwk.PreScorePlugin) fwk.PreScorePlugin { return preScore{p, g} }

type preScore struct {
	fwk.PreScorePlugin
	g *Guard
}

func (p preScore) PreScore(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (status *fwk.Status) {
	defer p.g.Status("PreScore", pod, &status)
	return p.PreScorePlugin.PreScore(ctx, state, pod, nodes)
}

// Score guards calls that Kubernetes makes on many goroutines. It also guards the
// plugin's extensions.
func (g *Guard) Score(p fwk.ScorePlugin) fwk.ScorePlugin { return &score{p, g} }

type score struct {
	fwk.ScorePlugin
	g *Guard
}

func (p *score) Score(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (value int64, status *fwk.Status) {
	defer p.g.Status("Score", pod, &status)
	return p.ScorePlugin.Score(ctx, state, pod, node)
}

// ScoreExtensions returns nil if the plugin does. After a panic it returns extensions
// that fail.
func (p *score) ScoreExtensions() (out fwk.ScoreExtensions) {
	defer func() {
		if value := recover(); value != nil {
			out = failing{p.g.caught("ScoreExtensions", nil, value)}
		}
	}()
	inner := p.ScorePlugin.ScoreExtensions()
	if inner == nil {
		return nil
	}
	return scoreExtensions{inner, p.g}
}

type scoreExtensions struct {
	fwk.ScoreExtensions
	g *Guard
}

func (e scoreExtensions) NormalizeScore(ctx context.Context, state fwk.CycleState, pod *v1.Pod, scores fwk.NodeScoreList) (status *fwk.Status) {
	defer e.g.Status("NormalizeScore", pod, &status)
	return e.ScoreExtensions.NormalizeScore(ctx, state, pod, scores)
}

// Reserve guards Reserve and Unreserve. Unreserve cannot fail: after a panic, what the
// plugin has reserved may stay reserved.
func (g *Guard) Reserve(p fwk.ReservePlugin) fwk.ReservePlugin { return reserve{p, g} }

type reserve struct {
	fwk.ReservePlugin
	g *Guard
}

func (p reserve) Reserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer p.g.Status("Reserve", pod, &status)
	return p.ReservePlugin.Reserve(ctx, state, pod, node)
}

func (p reserve) Unreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	defer p.g.swallow("Unreserve", pod)
	p.ReservePlugin.Unreserve(ctx, state, pod, node)
}

// Permit guards the plugin at this extension point.
func (g *Guard) Permit(p fwk.PermitPlugin) fwk.PermitPlugin { return permit{p, g} }

type permit struct {
	fwk.PermitPlugin
	g *Guard
}

func (p permit) Permit(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status, _ time.Duration) {
	defer p.g.Status("Permit", pod, &status)
	return p.PermitPlugin.Permit(ctx, state, pod, node)
}

// PreBind guards PreBindPreFlight and PreBind, which Kubernetes may call for several
// plugins at once.
func (g *Guard) PreBind(p fwk.PreBindPlugin) fwk.PreBindPlugin { return preBind{p, g} }

type preBind struct {
	fwk.PreBindPlugin
	g *Guard
}

func (p preBind) PreBindPreFlight(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (_ *fwk.PreBindPreFlightResult, status *fwk.Status) {
	defer p.g.Status("PreBindPreFlight", pod, &status)
	return p.PreBindPlugin.PreBindPreFlight(ctx, state, pod, node)
}

func (p preBind) PreBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer p.g.Status("PreBind", pod, &status)
	return p.PreBindPlugin.PreBind(ctx, state, pod, node)
}

// Bind guards the plugin at this extension point.
func (g *Guard) Bind(p fwk.BindPlugin) fwk.BindPlugin { return bind{p, g} }

type bind struct {
	fwk.BindPlugin
	g *Guard
}

func (p bind) Bind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer p.g.Status("Bind", pod, &status)
	return p.BindPlugin.Bind(ctx, state, pod, node)
}

// PostBind guards a call that cannot fail: the pod is bound.
func (g *Guard) PostBind(p fwk.PostBindPlugin) fwk.PostBindPlugin { return postBind{p, g} }

type postBind struct {
	fwk.PostBindPlugin
	g *Guard
}

func (p postBind) PostBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	defer p.g.swallow("PostBind", pod)
	p.PostBindPlugin.PostBind(ctx, state, pod, node)
}

// Sign guards signing, without which a pod is scheduled without batching.
func (g *Guard) Sign(p fwk.SignPlugin) fwk.SignPlugin { return sign{p, g} }

type sign struct {
	fwk.SignPlugin
	g *Guard
}

func (p sign) SignPod(ctx context.Context, pod *v1.Pod) (_ []fwk.SignFragment, status *fwk.Status) {
	defer p.g.Status("SignPod", pod, &status)
	return p.SignPlugin.SignPod(ctx, pod)
}

// Closer turns a panic of Close into its error.
func (g *Guard) Closer(p io.Closer) io.Closer { return closer{p, g} }

type closer struct {
	io.Closer
	g *Guard
}

func (p closer) Close() (err error) {
	defer p.g.Err("Close", nil, &err)
	return p.Closer.Close()
}

// PodGroupPostFilter guards preemption for a whole group.
func (g *Guard) PodGroupPostFilter(p fwk.PodGroupPostFilterPlugin) fwk.PodGroupPostFilterPlugin {
	return podGroupPostFilter{p, g}
}

type podGroupPostFilter struct {
	fwk.PodGroupPostFilterPlugin
	g *Guard
}

func (p podGroupPostFilter) PodGroupPostFilter(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, schedule fwk.PodGroupSchedulingFunc) (_ *fwk.PodGroupPostFilterResult, status *fwk.Status) {
	defer p.g.Status("PodGroupPostFilter", nil, &status)
	return p.PodGroupPostFilterPlugin.PodGroupPostFilter(ctx, state, group, schedule)
}

// PlacementGenerate guards the plugin at this extension point.
func (g *Guard) PlacementGenerate(p fwk.PlacementGeneratePlugin) fwk.PlacementGeneratePlugin {
	return placementGenerate{p, g}
}

type placementGenerate struct {
	fwk.PlacementGeneratePlugin
	g *Guard
}

func (p placementGenerate) GeneratePlacements(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, parent *fwk.Placement) (_ *fwk.GeneratePlacementsResult, status *fwk.Status) {
	defer p.g.Status("GeneratePlacements", nil, &status)
	return p.PlacementGeneratePlugin.GeneratePlacements(ctx, state, group, parent)
}

// PlacementScore also guards the plugin's extensions.
func (g *Guard) PlacementScore(p fwk.PlacementScorePlugin) fwk.PlacementScorePlugin {
	return placementScore{p, g}
}

type placementScore struct {
	fwk.PlacementScorePlugin
	g *Guard
}

func (p placementScore) ScorePlacement(ctx context.Context, state fwk.PlacementCycleState, group fwk.PodGroupInfo, placement *fwk.PodGroupAssignments) (value int64, status *fwk.Status) {
	defer p.g.Status("ScorePlacement", nil, &status)
	return p.PlacementScorePlugin.ScorePlacement(ctx, state, group, placement)
}

// PlacementScoreExtensions returns nil if the plugin does. After a panic it returns
// extensions that fail.
func (p placementScore) PlacementScoreExtensions() (out fwk.PlacementScoreExtensions) {
	defer func() {
		if value := recover(); value != nil {
			out = failing{p.g.caught("PlacementScoreExtensions", nil, value)}
		}
	}()
	inner := p.PlacementScorePlugin.PlacementScoreExtensions()
	if inner == nil {
		return nil
	}
	return placementScoreExtensions{inner, p.g}
}

type placementScoreExtensions struct {
	fwk.PlacementScoreExtensions
	g *Guard
}

func (e placementScoreExtensions) NormalizePlacementScore(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, scores []fwk.PlacementScore) (status *fwk.Status) {
	defer e.g.Status("NormalizePlacementScore", nil, &status)
	return e.PlacementScoreExtensions.NormalizePlacementScore(ctx, state, group, scores)
}

// PlacementFeasible guards the plugin at this extension point.
func (g *Guard) PlacementFeasible(p framework.PlacementFeasiblePlugin) framework.PlacementFeasiblePlugin {
	return placementFeasible{p, g}
}

type placementFeasible struct {
	framework.PlacementFeasiblePlugin
	g *Guard
}

func (p placementFeasible) PlacementFeasible(ctx context.Context, state fwk.PlacementCycleState, group fwk.PodGroupInfo, progress framework.PlacementProgress) (status *fwk.Status) {
	defer p.g.Status("PlacementFeasible", nil, &status)
	return p.PlacementFeasiblePlugin.PlacementFeasible(ctx, state, group, progress)
}
