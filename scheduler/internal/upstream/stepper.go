package upstream

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Stepper is a scheduler that takes a turn only on request. Call its methods from one goroutine at
// a time, and ScheduleOne only while Ready reports true: otherwise it waits forever for a pod.
type Stepper struct {
	*scheduler.Scheduler
	queue           *internalqueue.PriorityQueue
	active, backoff unsafe.Pointer
	// popsFromBackoff: an empty active queue takes pods from the backoff queue.
	popsFromBackoff bool
}

// BuildStepper builds a scheduler like Build, but nothing of it runs in the background. parts.Clock
// is the clock of the queue; Kubernetes reads the real one for metrics only. PreEnqueue plugins
// answer as if asked in the order of the profile, and queueing hints in that of the plugins' names:
// Kubernetes asks both in random order until one rejects the pod or wants it back.
func BuildStepper(ctx context.Context, parts Parts, observer Observer) (*Stepper, error) {
	parts.passive, parts.ordered = true, true
	sched, snapshot, err := parts.observed(ctx, observer)
	if err != nil {
		return nil, err
	}
	observer.Attach(sched, func() []fwk.NodeInfo { return nodesOf(snapshot) })
	s := &Stepper{
		Scheduler: sched, queue: parts.made,
		popsFromBackoff: utilfeature.DefaultFeatureGate.Enabled(features.SchedulerPopFromBackoffQ),
	}
	if s.active, err = partOf(s.queue, "activeQ", "*queue.activeQueue"); err != nil {
		return nil, err
	}
	s.backoff, err = partOf(s.queue, "backoffQ", "*queue.backoffQueue")
	return s, err
}

// partOf returns a part of the queue, which must be of type kind.
func partOf(queue *internalqueue.PriorityQueue, name, kind string) (unsafe.Pointer, error) {
	v := field(reflect.ValueOf(queue), name)
	if v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() || v.Type().String() != kind {
		return nil, fmt.Errorf("the scheduling queue has no part %s of type %s", name, kind)
	}
	return v.UnsafePointer(), nil
}

// Ready reports whether ScheduleOne would find a pod or a pod group.
func (s *Stepper) Ready() bool {
	return lenActive(s.active) > 0 || s.popsFromBackoff && lenBackoff(s.backoff) > 0
}

// BacksOff reports whether a pod or a pod group is in the backoff queue.
func (s *Stepper) BacksOff() bool { return lenAllBackoff(s.backoff) > 0 }

// FlushBackoff moves the pods whose backoff is over to the active queue. Kubernetes does so in
// every full second.
func (s *Stepper) FlushBackoff(logger klog.Logger) { flushBackoff(s.queue, logger) }

// FlushUnschedulable moves the pods that have been unschedulable for too long. Kubernetes does so
// every 30 seconds.
func (s *Stepper) FlushUnschedulable(logger klog.Logger) { flushUnschedulable(s.queue, logger) }

// The queue does the following in the background, or within its Pop, which waits. The receivers are
// pointers because the types of the queue's parts are not exported.

//go:linkname flushBackoff k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushBackoffQCompleted
func flushBackoff(*internalqueue.PriorityQueue, klog.Logger)

//go:linkname flushUnschedulable k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulableEntitiesLeftover
func flushUnschedulable(*internalqueue.PriorityQueue, klog.Logger)

//go:linkname lenActive k8s.io/kubernetes/pkg/scheduler/backend/queue.(*activeQueue).len
func lenActive(unsafe.Pointer) int

//go:linkname lenBackoff k8s.io/kubernetes/pkg/scheduler/backend/queue.(*backoffQueue).lenBackoff
func lenBackoff(unsafe.Pointer) int

//go:linkname lenAllBackoff k8s.io/kubernetes/pkg/scheduler/backend/queue.(*backoffQueue).len
func lenAllBackoff(unsafe.Pointer) int

// Released reports whether a pod's wait for a permit is over, even if its binding cycle does not
// know it yet. waiting comes from a framework.
func Released(waiting fwk.WaitingPod) bool {
	signal := field(reflect.ValueOf(waiting), "s")
	return signal.IsValid() && signal.Kind() == reflect.Chan && signal.Len() > 0
}

// apart splits the events of a registration so that each real event matches at most one of them.
// The queue asks the plugins of matching registrations in random order, until one wants the pod
// back, but those of one registration in the order of queueingHints.
func apart(events []fwk.ClusterEvent) []fwk.ClusterEvent {
	// general matches fwk.Update, the largest event, and no particular update: those of nodes
	// happen to nodes only.
	const nodeUpdates = fwk.UpdateNodeAllocatable | fwk.UpdateNodeLabel | fwk.UpdateNodeTaint | fwk.UpdateNodeCondition | fwk.UpdateNodeAnnotation | fwk.UpdateNodeDeclaredFeature
	const general = fwk.UpdateNodeAllocatable | 1<<40
	var out []fwk.ClusterEvent
	for _, e := range events {
		if e.Resource == fwk.WildCard {
			out = append(out, e)
			continue
		}
		for bit := fwk.ActionType(1); bit <= fwk.All; bit <<= 1 {
			if e.ActionType&bit != 0 && (e.Resource == fwk.Node || bit&nodeUpdates == 0) {
				out = append(out, fwk.ClusterEvent{Resource: e.Resource, ActionType: bit})
			}
		}
		if e.Resource != fwk.Node && e.ActionType&fwk.Update != 0 && fwk.Update <= e.ActionType {
			out = append(out, fwk.ClusterEvent{Resource: e.Resource, ActionType: general})
		}
	}
	return out
}

// preEnqueueOrder makes the answers of PreEnqueue plugins independent of the order in which the
// queue asks: a plugin passes a pod that an earlier plugin rejects.
type preEnqueueOrder struct {
	fwk.PreEnqueuePlugin
	earlier []fwk.PreEnqueuePlugin
}

func (o preEnqueueOrder) PreEnqueue(ctx context.Context, pod *v1.Pod) *fwk.Status {
	for _, plugin := range o.earlier {
		if !plugin.PreEnqueue(ctx, pod).IsSuccess() {
			return nil
		}
	}
	return o.PreEnqueuePlugin.PreEnqueue(ctx, pod)
}

func (p *Parts) preEnqueuePlugins(f framework.Framework) map[string]fwk.PreEnqueuePlugin {
	out := map[string]fwk.PreEnqueuePlugin{}
	all := f.PreEnqueuePlugins()
	for i, plugin := range all {
		out[plugin.Name()] = plugin
		if p.ordered {
			out[plugin.Name()] = preEnqueueOrder{plugin, all[:i:i]}
		}
	}
	return out
}
