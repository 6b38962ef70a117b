package recorder

import (
	"context"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

type enqueueExtensions struct {
	to    *base
	inner fwk.EnqueueExtensions
}

func newEnqueueExtensions(b *base) enqueueExtensions {
	return enqueueExtensions{b, b.guard.EnqueueExtensions(b.plugin.(fwk.EnqueueExtensions))}
}

// EventsToRegister returns the plugin's events, with hints that note when they move
// a pod back into the queue.
func (p enqueueExtensions) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	events, err := p.inner.EventsToRegister(ctx)
	out := make([]fwk.ClusterEventWithHint, len(events))
	for i, event := range events {
		out[i] = event
		out[i].QueueingHintFn = p.hint(event)
	}
	return out, err
}

// hint wraps the plugin's hint. The queue calls it under its lock, for each event and each waiting
// pod that the plugin rejected, so it notes only answers that move the pod. As in the queue, an
// event without a hint means Queue.
func (p enqueueExtensions) hint(event fwk.ClusterEventWithHint) fwk.QueueingHintFn {
	inner := event.QueueingHintFn
	return func(logger klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
		answer, err := fwk.Queue, error(nil)
		if inner != nil {
			answer, err = inner(logger, pod, oldObj, newObj)
		}
		// The queue treats an error as Queue.
		if answer == fwk.Queue || err != nil {
			p.to.recorder.noteRequeue(p.to.Name(), pod, event.Event, oldObj, newObj)
		}
		return answer, err
	}
}

// noteRequeue keeps the first event since the pod's last attempt that may have moved
// it back into the queue.
func (r *Recorder) noteRequeue(plugin string, pod *v1.Pod, registered fwk.ClusterEvent, oldObj, newObj any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.requeued[pod.UID]; known {
		return
	}
	requeue := &result.Requeue{Time: r.now(), Plugin: plugin, Event: eventLabel(registered, pod, oldObj, newObj)}
	if obj, ok := present(oldObj, newObj).(metav1.Object); ok {
		requeue.Kind = strings.TrimPrefix(reflect.TypeOf(obj).String(), "*v1.")
		requeue.Namespace, requeue.Name = obj.GetNamespace(), obj.GetName()
	}
	r.requeued[pod.UID] = requeue
}

func present(oldObj, newObj any) any {
	if newObj != nil {
		return newObj
	}
	return oldObj
}

// eventLabel names an event as the queue does. The queue does not pass the event to the hint, but
// the objects reveal it: without an older version the object was added, without a newer one
// deleted, and the scheduler's own functions find the changes between two versions.
func eventLabel(registered fwk.ClusterEvent, waiting *v1.Pod, oldObj, newObj any) string {
	event := fwk.ClusterEvent{Resource: registered.Resource, ActionType: fwk.Update}
	switch {
	case oldObj == nil:
		event.ActionType = fwk.Add
	case newObj == nil:
		event.ActionType = fwk.Delete
	}
	oldPod, _ := oldObj.(*v1.Pod)
	newPod, _ := newObj.(*v1.Pod)
	oldNode, _ := oldObj.(*v1.Node)
	newNode, _ := newObj.(*v1.Node)
	var changes []fwk.ClusterEvent
	switch {
	case oldPod != nil && newPod != nil:
		changes = framework.PodSchedulingPropertiesChange(newPod, oldPod, newPod.UID == waiting.UID)
	case oldNode != nil && newNode != nil:
		changes = framework.NodeSchedulingPropertiesChange(newNode, oldNode)
	case newPod != nil || oldPod != nil:
		event.Resource = fwk.UnscheduledPod
		if present(oldObj, newObj).(*v1.Pod).Spec.NodeName != "" {
			event.Resource = fwk.AssignedPod
		}
	}
	if len(changes) > 0 {
		event = changes[0]
		for _, change := range changes {
			if change.ActionType&registered.ActionType != 0 {
				event = change
				break
			}
		}
	}
	return event.Label()
}
