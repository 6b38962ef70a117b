package noderesourcetopology

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/customresource"
	"kube-scheduler-simulator/scheduler/plugins/follow"
	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
)

const Name = "NodeResourceTopologyMatch"

type Plugin struct {
	topologies topologies
	view       *follow.View
	arguments  *Arguments
	// zoneScorer is nil for LeastNUMANodes.
	zoneScorer zoneScorer
	leave      func()
}

var (
	_ fwk.PreFilterPlugin     = (*Plugin)(nil)
	_ fwk.PreFilterExtensions = (*Plugin)(nil)
	_ fwk.FilterPlugin        = (*Plugin)(nil)
	_ fwk.ScorePlugin         = (*Plugin)(nil)
	_ fwk.ReservePlugin       = (*Plugin)(nil)
	_ fwk.PostBindPlugin      = (*Plugin)(nil)
	_ fwk.EnqueueExtensions   = (*Plugin)(nil)
)

// New is the plugin's factory. The plugin follows NodeResourceTopologies, and with a cache
// also pods, with informers of the handle, which their owner starts. Mistakes in the
// arguments are argument.Errors.
func New(_ context.Context, raw runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	args, err := readArguments(raw)
	if err != nil {
		return nil, err
	}
	objects, err := customresource.New[v1alpha2.NodeResourceTopology](h, v1alpha2.NodeResourceTopologies)
	if err != nil {
		return nil, err
	}
	l := newLatest()
	p := &Plugin{topologies: l, view: follow.NewView(), arguments: args, zoneScorer: args.ScoringStrategy.zoneScorer(), leave: func() {}}
	added := func(t *v1alpha2.NodeResourceTopology, _ bool) { l.set(t) }
	updated := l.set
	hypothetical := customresource.Hypothetical(h)
	switch {
	case args.DiscardReservedNodes && hypothetical: // a node is only discarded until the pod is bound
	case args.DiscardReservedNodes:
		p.topologies = newDiscarding(l)
	case args.CacheResyncPeriodSeconds > 0:
		var o *overReserving
		if o, err = p.reserves(h, l); err != nil {
			return nil, err
		}
		added = func(t *v1alpha2.NodeResourceTopology, initially bool) {
			l.set(t)
			if initially || hypothetical {
				o.start(t)
			}
		}
		if hypothetical {
			updated = func(t *v1alpha2.NodeResourceTopology) {
				l.set(t)
				o.start(t)
			}
		}
	}
	return p, follow.Follow(p.view, objects.Informer(), follow.Handlers[*v1alpha2.NodeResourceTopology]{
		Added: added, Updated: func(_, t *v1alpha2.NodeResourceTopology) { updated(t) }, Deleted: l.forget,
	})
}

// reserves switches on the cache that follows pods.
func (p *Plugin) reserves(h fwk.Handle, l *latest) (*overReserving, error) {
	profiles, leave := join(h)
	p.leave = leave
	o := newOverReserving(l, p.arguments, func(scheduler string) bool { return !profiles.has(scheduler) }, time.Now)
	p.topologies = o
	return o, follow.Follow(p.view, podsOf(h, p.arguments.Cache.InformerMode), follow.Handlers[*v1.Pod]{
		Added:   func(pod *v1.Pod, _ bool) { o.podChanged(pod, false) },
		Updated: func(_, pod *v1.Pod) { o.podChanged(pod, false) },
		Deleted: func(pod *v1.Pod) { o.podChanged(pod, true) },
	})
}

// everyPod is the key of an informer that, unlike the scheduler's, has finished pods too.
type everyPod struct{ v1.Pod }

// podsOf returns the scheduler's informer of pods, or one that has finished pods too, which
// profiles share.
func podsOf(h fwk.Handle, mode string) cache.SharedIndexInformer {
	if mode == Shared || customresource.Hypothetical(h) {
		return h.SharedInformerFactory().Core().V1().Pods().Informer()
	}
	return h.SharedInformerFactory().InformerFor(&everyPod{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		informer := coreinformers.NewPodInformer(client, v1.NamespaceAll, resync, cache.Indexers{})
		// The informer has not started, so this cannot fail.
		_ = informer.SetTransform(func(obj any) (any, error) {
			if pod, ok := obj.(*v1.Pod); ok {
				pod.ManagedFields, pod.Annotations = nil, nil
			}
			return obj, nil
		})
		return informer
	})
}

func (*Plugin) Name() string { return Name }

// Close removes the plugin from what profiles share.
func (p *Plugin) Close() error {
	p.leave()
	return nil
}

// EventsToRegister names the events that may make a rejected pod schedulable.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	kind := v1alpha2.NodeResourceTopologies
	topologies := fwk.EventResource(fmt.Sprintf("%s.%s.%s", kind.Resource, kind.Version, kind.Group))
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete}},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAllocatable}},
		{Event: fwk.ClusterEvent{Resource: topologies, ActionType: fwk.Add | fwk.Update}, QueueingHintFn: p.view.Wake},
	}, nil
}

const requestKey fwk.StateKey = Name + "/request"

// PreFilter reads what the pod asks for. It rejects no pod.
func (p *Plugin) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, _ []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if err := p.view.Wait(ctx); err != nil {
		return nil, fwk.AsStatus(err)
	}
	p.topologies.resync()
	r := requestOf(pod)
	r.topologies = p.topologies
	state.Write(requestKey, r)
	return nil, nil
}

// read returns what PreFilter wrote, or makes it if PreFilter did not run, for example because only
// Filter is enabled.
func read(state fwk.CycleState, pod *v1.Pod) *request {
	if data, err := state.Read(requestKey); err == nil {
		if r, ok := data.(*request); ok {
			return r
		}
	}
	return requestOf(pod)
}

// PreFilterExtensions keep the victims of dry runs of preemption.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return p }

// AddPod forgets a victim.
func (*Plugin) AddPod(_ context.Context, state fwk.CycleState, pod *v1.Pod, added fwk.PodInfo, _ fwk.NodeInfo) *fwk.Status {
	r := read(state, pod)
	r.victims = slices.DeleteFunc(r.victims, func(v *v1.Pod) bool { return v.UID == added.GetPod().UID })
	return nil
}

// RemovePod keeps a victim.
func (*Plugin) RemovePod(_ context.Context, state fwk.CycleState, pod *v1.Pod, removed fwk.PodInfo, _ fwk.NodeInfo) *fwk.Status {
	r := read(state, pod)
	r.victims = append(r.victims, removed.GetPod())
	return nil
}

// notFresh is why a cache leaves out a node.
const notFresh = "invalid node topology data"

// Filter rejects a node without a zone for a part of the pod.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	r := read(state, pod)
	if r.unaligned {
		return nil
	}
	name := node.Node().Name
	l, fresh := p.topologies.layout(name)
	switch {
	case !fresh:
		return fwk.NewStatus(fwk.Unschedulable, notFresh)
	case l == nil || l.policy != v1alpha2.PolicySingleNUMANode:
		return nil
	}
	l, err := p.withVictims(l, r, name)
	if err != nil {
		return fwk.NewStatus(fwk.Unschedulable, "eviction simulation in NRT is not possible: "+err.Error())
	}
	m := l.misfit(r, node)
	if m == nil {
		return nil
	}
	if len(r.victims) == 0 {
		p.topologies.refused(name)
	}
	return fwk.NewStatus(fwk.Unschedulable, m.message())
}

// withVictims gives what a dry run's victims hold back to the zones, if the arguments say so and
// the agent reports which zones.
func (p *Plugin) withVictims(l *layout, r *request, node string) (*layout, error) {
	if p.arguments.PreemptionMode != Enabled || len(r.victims) == 0 {
		return l, nil
	}
	t, placed := p.topologies.placed(node)
	if placed == nil {
		return l, nil
	}
	return l.with(r.victims, t, placed)
}

// Score returns how well the pod fits the zones of a node. Only Guaranteed pods prefer nodes.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	r := read(state, pod)
	if !r.guaranteed {
		return fwk.MaxScore, nil
	}
	l, fresh := p.topologies.layout(node.Node().Name)
	switch {
	case !fresh || l == nil:
		return fwk.MinScore, nil
	case p.zoneScorer == nil:
		return l.leastNUMANodes(r), nil
	case l.policy != v1alpha2.PolicySingleNUMANode:
		return fwk.MinScore, nil
	}
	return l.score(r, p.zoneScorer), nil
}

// ScoreExtensions is nil: the scores need no normalization.
func (*Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

// Reserve tells the cache that the pod is on its way.
func (p *Plugin) Reserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	p.topologies.reserve(node, pod)
	return nil
}

// Unreserve tells the cache that it is not.
func (p *Plugin) Unreserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) {
	p.topologies.release(node, pod)
}

// PostBind tells the cache that the pod has arrived.
func (p *Plugin) PostBind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) {
	p.topologies.bound(node, pod)
}

// AlignedOn returns the zones that the parts of a pod get on a node that passed Filter in the cycle
// of state, in the order of alignment; nil if the plugin aligns nothing there. It leaves out the
// parts that need nothing of one zone, such as those of a pod that is not Guaranteed and requests
// no devices. Like MisfitOn, it reads the present topology.
func AlignedOn(state fwk.CycleState, node fwk.NodeInfo) []Alignment {
	r, l := alignedBy(state, node)
	if l == nil || r.unaligned {
		return nil
	}
	var out []Alignment
	l.align(r, node, func(p *part, zone int) {
		if zone < len(l.zones) && tied(&l.zones[zone], p, r.guaranteed) {
			out = append(out, Alignment{Role: p.role, Container: p.name, Zone: l.zones[zone].name})
		}
	})
	return out
}

// MisfitOn returns why Filter rejected a node in the cycle of state; nil if zones' resources were
// not the reason, or if PreFilter did not run. The present topology that it reads may be later than
// Filter's.
func MisfitOn(state fwk.CycleState, node fwk.NodeInfo) *Misfit {
	r, l := alignedBy(state, node)
	if l == nil {
		return nil
	}
	if m := l.misfit(r, node); m != nil {
		return m.explain(r.guaranteed, node)
	}
	return nil
}

// alignedBy returns PreFilter's request and the node's topology; no topology if the plugin aligns
// nothing there.
func alignedBy(state fwk.CycleState, node fwk.NodeInfo) (*request, *layout) {
	data, err := state.Read(requestKey)
	if err != nil {
		return nil, nil
	}
	r, ok := data.(*request)
	if !ok {
		return nil, nil
	}
	l, fresh := r.topologies.layout(node.Node().Name)
	if !fresh || l == nil || l.policy != v1alpha2.PolicySingleNUMANode {
		return nil, nil
	}
	return r, l
}
