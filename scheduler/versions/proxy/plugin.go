package proxy

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Wrap returns a registry of proxies: one for each plugin of registry and of the version.
func (v *Version) Wrap(registry frameworkruntime.Registry) frameworkruntime.Registry {
	if v == nil {
		return registry
	}
	out := frameworkruntime.Registry{}
	known := sets.KeySet(registry)
	for _, profile := range v.scheduler.Started().Profiles {
		for _, point := range profile.Points {
			for _, plugin := range point.Plugins {
				known.Insert(plugin.Name)
			}
		}
	}
	for name := range known {
		out[name] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			p := &plugin{version: v, name: name, handle: h}
			if factory := registry[name]; factory != nil {
				var err error
				if p.real, err = factory(ctx, args, h); err != nil {
					return nil, err
				}
			}
			return p.shaped(), nil
		}
	}
	return out
}

// plugin is a proxy. It has all interfaces that judge pods one by one; the configuration says which of them the scheduler calls.
type plugin struct {
	version *Version
	name    string
	handle  fwk.Handle
	// real is this version's plugin; nil if there is none of the name.
	real fwk.Plugin
}

// hinting is a proxy of a plugin that says which events it waits for.
type hinting struct{ *plugin }

func (p hinting) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	return p.real.(fwk.EnqueueExtensions).EventsToRegister(ctx)
}

// shaped returns the proxy with the interfaces that tell something by being there.
func (p *plugin) shaped() fwk.Plugin {
	if preemption, ok := p.real.(*defaultpreemption.DefaultPreemption); ok {
		f := &foretold{Interface: preemption.Evaluator.Interface}
		preemption.Evaluator.Interface = f
		return preempting{hinting{p}, preemption, f}
	}
	if _, hints := p.real.(fwk.EnqueueExtensions); hints {
		return hinting{p}
	}
	return p
}

func (p *plugin) Name() string { return p.name }

func (p *plugin) PreEnqueue(ctx context.Context, pod *v1.Pod) *fwk.Status {
	if real, ok := p.real.(fwk.PreEnqueuePlugin); ok {
		return real.PreEnqueue(ctx, pod)
	}
	return nil
}

func (p *plugin) Less(a, b fwk.QueuedEntityInfo) bool {
	real, ok := p.real.(fwk.QueueSortPlugin)
	return ok && real.Less(a, b)
}

// reserves reports whether the plugin here hands out something. Its Reserve needs what its PreFilter and Filter find out.
func (p *plugin) reserves() bool {
	_, ok := p.real.(fwk.ReservePlugin)
	return ok
}

func (p *plugin) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	d, err := p.version.decide(state, pod, p.handle.ProfileName())
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	if real, ok := p.real.(fwk.PreFilterPlugin); ok && p.reserves() {
		// Its verdict does not count.
		_, _ = real.PreFilter(ctx, state, pod, nodes)
	}
	switch s := d.PreFilter; {
	case s != nil && (s.Plugin == p.name || s.Plugin == ""):
		return nil, statusOf(s)
	case s == nil && d.Status != nil && d.Status.Code == fwk.Error.String():
		return nil, statusOf(d.Status)
	case d.skipsFilter(p.name):
		return nil, fwk.NewStatus(fwk.Skip)
	case d.Restricted != nil && p.restricts(pod):
		return &fwk.PreFilterResult{NodeNames: sets.New(d.Restricted...)}, nil
	}
	return nil, nil
}

// restricts reports whether the plugin is the one that let Filter see only some nodes. In all versions, NodeAffinity does so for a pod that names
// nodes, and VolumeBinding for volumes that are local.
func (p *plugin) restricts(pod *v1.Pod) bool {
	if namesNodes(pod) {
		return p.name == names.NodeAffinity
	}
	return p.name == names.VolumeBinding
}

func namesNodes(pod *v1.Pod) bool {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil || pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return slices.ContainsFunc(pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t v1.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 })
}

// PreFilterExtensions returns nil: the program knows the nominated pods.
func (p *plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

func (p *plugin) Filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	d := of(state)
	if d == nil {
		return fwk.AsStatus(fmt.Errorf("%s filters pod %s/%s, which PreFilter has not seen", p.name, pod.Namespace, pod.Name))
	}
	if real, ok := p.real.(fwk.FilterPlugin); ok && p.reserves() && !d.skipsFilter(p.name) {
		_ = real.Filter(ctx, state, pod, node) // for Reserve; its verdict does not count
	}
	return d.rejections[p.name][node.Node().Name]
}

func (p *plugin) PreScore(_ context.Context, state fwk.CycleState, _ *v1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	if d := of(state); d == nil || d.skipsScore(p.name) {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

func (p *plugin) Score(_ context.Context, state fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	d := of(state)
	if d == nil || d.skipsScore(p.name) {
		return 0, nil
	}
	row, scored := d.row[node.Node().Name]
	if !scored {
		return 0, fwk.AsStatus(fmt.Errorf("the scheduler of Kubernetes %s has not scored node %s", p.version.options.Minor, node.Node().Name))
	}
	return d.Scores.Raw[row][d.column[p.name]], nil
}

func (p *plugin) ScoreExtensions() fwk.ScoreExtensions { return p }

func (p *plugin) NormalizeScore(_ context.Context, state fwk.CycleState, _ *v1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	d := of(state)
	if d == nil || d.skipsScore(p.name) {
		return nil
	}
	for i := range scores {
		scores[i].Score = d.Scores.Normalized[d.row[scores[i].Name]][d.column[p.name]]
	}
	return nil
}

// PostFilter is that of plugins that do not preempt; see preempting.
func (p *plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	if real, ok := p.real.(fwk.PostFilterPlugin); ok {
		return real.PostFilter(ctx, state, pod, statuses)
	}
	return nil, fwk.NewStatus(fwk.Unschedulable)
}

func (p *plugin) Reserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	real, ok := p.real.(fwk.ReservePlugin)
	if !ok {
		return nil
	}
	status := real.Reserve(ctx, state, pod, node)
	if status.IsSuccess() {
		p.eachPending(pod, p.version.Allocate)
	}
	return status
}

// eachPending calls do with each claim of a pod that DynamicResources is allocating, and does nothing for another plugin.
func (p *plugin) eachPending(pod *v1.Pod, do func(*resourcev1.ResourceClaim)) {
	manager := p.handle.SharedDRAManager()
	if p.name != names.DynamicResources || manager == nil {
		return
	}
	for name := range resourceclaim.PodClaims(pod) {
		claim, err := manager.ResourceClaims().Get(pod.Namespace, name)
		if err != nil {
			continue // it has gone
		}
		if allocation := manager.ResourceClaims().GetPendingAllocation(claim.UID); allocation != nil {
			claim = claim.DeepCopy()
			claim.Status.Allocation = allocation
			do(claim)
		}
	}
}

// release: a claim is no longer being allocated.
func (p *plugin) release(claim *resourcev1.ResourceClaim) { p.version.Release(claim.UID) }

func (p *plugin) Unreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	p.eachPending(pod, p.release)
	if real, ok := p.real.(fwk.ReservePlugin); ok {
		real.Unreserve(ctx, state, pod, node)
	}
}

func (p *plugin) Permit(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (*fwk.Status, time.Duration) {
	if real, ok := p.real.(fwk.PermitPlugin); ok {
		return real.Permit(ctx, state, pod, node)
	}
	return nil, 0
}

func (p *plugin) PreBindPreFlight(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	if real, ok := p.real.(fwk.PreBindPlugin); ok {
		return real.PreBindPreFlight(ctx, state, pod, node)
	}
	return nil, fwk.NewStatus(fwk.Skip)
}

func (p *plugin) PreBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	real, ok := p.real.(fwk.PreBindPlugin)
	if !ok {
		return nil
	}
	p.eachPending(pod, p.release) // the claims that it writes say it themselves
	return real.PreBind(ctx, state, pod, node)
}

func (p *plugin) Bind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if real, ok := p.real.(fwk.BindPlugin); ok {
		return real.Bind(ctx, state, pod, node)
	}
	return fwk.NewStatus(fwk.Skip)
}

func (p *plugin) PostBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	if real, ok := p.real.(fwk.PostBindPlugin); ok {
		real.PostBind(ctx, state, pod, node)
	}
}
