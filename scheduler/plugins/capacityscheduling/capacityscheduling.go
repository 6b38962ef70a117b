package capacityscheduling

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"kube-scheduler-simulator/scheduler/customresource"
	"kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/plugins/follow"
	"kube-scheduler-simulator/scheduler/result"
)

const Name = "CapacityScheduling"

// Plugin is a profile's instance, with an account of its own.
type Plugin struct {
	handle    fwk.Handle
	ledger    *ledger
	view      *follow.View
	executor  *preemption.Executor
	evaluator *preemption.Evaluator
}

var (
	_ fwk.PreFilterPlugin     = (*Plugin)(nil)
	_ fwk.PreFilterExtensions = (*Plugin)(nil)
	_ fwk.PostFilterPlugin    = (*Plugin)(nil)
	_ fwk.ReservePlugin       = (*Plugin)(nil)
	_ fwk.EnqueueExtensions   = (*Plugin)(nil)
	_ preemption.Interface    = (*Plugin)(nil)
)

// New is the plugin's factory. The plugin follows ElasticQuotas and pods with informers of
// the handle, which their owner starts.
func New(ctx context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	quotas, err := customresource.New[v1alpha1.ElasticQuota](h, v1alpha1.ElasticQuotas)
	if err != nil {
		return nil, err
	}
	p := &Plugin{handle: h, view: follow.NewView()}
	p.ledger = newLedger(func(namespace string) []*v1alpha1.ElasticQuota {
		return listed(quotas.Informer().GetIndexer(), namespace)
	})
	pods := h.SharedInformerFactory().Core().V1().Pods().Informer()
	if customresource.Hypothetical(h) {
		p.ledger.placed = func(namespace string) []*v1.Pod { return placed(pods.GetIndexer(), namespace) }
	}
	err = follow.Follow(p.view, quotas.Informer(), follow.Handlers[*v1alpha1.ElasticQuota]{
		Added:   func(q *v1alpha1.ElasticQuota, _ bool) { p.ledger.added(q) },
		Updated: func(_, q *v1alpha1.ElasticQuota) { p.ledger.updated(q) },
		Deleted: p.ledger.deleted,
	})
	if err != nil {
		return nil, err
	}
	quotasListed := quotas.Informer().HasSyncedChecker().Done()
	err = follow.Follow(p.view, pods, follow.Handlers[*v1.Pod]{
		Added: func(pod *v1.Pod, initially bool) {
			if initially {
				// The existing quotas count these pods, so wait for them.
				select {
				case <-quotasListed:
				case <-ctx.Done():
				}
			}
			p.podAdded(pod)
		},
		Updated: p.podChanged,
		Deleted: p.ledger.release,
	})
	if err != nil {
		return nil, err
	}
	// Without asynchronous preemption, PostFilter returns after it has deleted the victims.
	p.executor = preemption.NewExecutor(h, feature.Features{})
	p.evaluator = preemption.NewEvaluator(Name, h, p, p.executor)
	return p, nil
}

func listed(indexer cache.Indexer, namespace string) (out []*v1alpha1.ElasticQuota) {
	// The informer has the index.
	objects, _ := indexer.ByIndex(cache.NamespaceIndex, namespace)
	for _, object := range objects {
		if q, ok := object.(*v1alpha1.ElasticQuota); ok {
			out = append(out, q)
		}
	}
	slices.SortFunc(out, func(a, b *v1alpha1.ElasticQuota) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func placed(indexer cache.Indexer, namespace string) (out []*v1.Pod) {
	// The informer has the index.
	objects, _ := indexer.ByIndex(cache.NamespaceIndex, namespace)
	for _, object := range objects {
		if pod, ok := object.(*v1.Pod); ok && pod.Spec.NodeName != "" && pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed {
			out = append(out, pod)
		}
	}
	return out
}

func (p *Plugin) podAdded(pod *v1.Pod) {
	if pod.Spec.NodeName != "" {
		p.ledger.place(pod)
	}
}

// podChanged counts a pod when it gets a node, and stops when its phase is neither Pending nor
// Running. No other change makes it count.
func (p *Plugin) podChanged(before, pod *v1.Pod) {
	switch {
	case pod.Spec.NodeName == "":
	case before.Spec.NodeName == "":
		p.ledger.place(pod)
	case before.Status.Phase == v1.PodSucceeded, before.Status.Phase == v1.PodFailed:
	case pod.Status.Phase != v1.PodRunning && pod.Status.Phase != v1.PodPending:
		p.ledger.release(pod)
	}
}

func (*Plugin) Name() string { return Name }

func (p *Plugin) Preemption() (*preemption.Evaluator, *preemption.Executor) {
	return p.evaluator, p.executor
}

// EventsToRegister names the events that may make a rejected pod schedulable.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	quotas := fwk.EventResource(fmt.Sprintf("%s.%s.%s", v1alpha1.ElasticQuotas.Resource, v1alpha1.ElasticQuotas.Version, v1alpha1.ElasticQuotas.Group))
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete}, QueueingHintFn: p.view.Wake},
		{Event: fwk.ClusterEvent{Resource: quotas, ActionType: fwk.All}, QueueingHintFn: p.view.Wake},
	}, nil
}

// PreFilter rejects the pod if it would take its namespace above its max, or all quotas
// together above the sum of their mins.
func (p *Plugin) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if err := p.view.Wait(ctx); err != nil {
		return nil, fwk.AsStatus(err)
	}
	quotas := p.ledger.snapshot()
	check := p.check(quotas, pod, nodes)
	state.Write(quotasKey, quotas)
	state.Write(checkKey, check)
	check.record(state, pod.Namespace)
	switch check.exceeded {
	case result.ExceededMax:
		return nil, fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf("Pod %s/%s is rejected in PreFilter because ElasticQuota %s is more than Max", pod.Namespace, pod.Name, pod.Namespace))
	case result.ExceededTotal:
		return nil, fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf("Pod %s/%s is rejected in PreFilter because total ElasticQuota used is more than min", pod.Namespace, pod.Name))
	}
	return nil, nil
}

const (
	quotasKey fwk.StateKey = Name + "/quotas"
	checkKey  fwk.StateKey = Name + "/check"
)

func read(state fwk.CycleState) (*accounts, *check, bool) {
	first, errFirst := state.Read(quotasKey)
	second, errSecond := state.Read(checkKey)
	if errFirst != nil || errSecond != nil {
		return nil, nil, false
	}
	quotas, okQuotas := first.(*accounts)
	check, okCheck := second.(*check)
	return quotas, check, okQuotas && okCheck
}

// PreFilterExtensions keep the quotas correct in dry runs of preemption.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return p }

func (p *Plugin) AddPod(_ context.Context, state fwk.CycleState, _ *v1.Pod, added fwk.PodInfo, _ fwk.NodeInfo) *fwk.Status {
	if quotas, _, ok := read(state); ok {
		if q := quotas.change(added.GetPod().Namespace); q != nil {
			q.add(added.GetPod())
		}
	}
	return nil
}

// RemovePod stops counting a pod in a dry run.
func (p *Plugin) RemovePod(_ context.Context, state fwk.CycleState, _ *v1.Pod, removed fwk.PodInfo, _ fwk.NodeInfo) *fwk.Status {
	if quotas, _, ok := read(state); ok {
		if q := quotas.change(removed.GetPod().Namespace); q != nil {
			q.remove(removed.GetPod().UID)
		}
	}
	return nil
}

func (p *Plugin) Reserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	p.ledger.place(pod)
	return nil
}

func (p *Plugin) Unreserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) {
	p.ledger.release(pod)
}
