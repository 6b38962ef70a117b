package scheduler

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"

	"kube-scheduler-simulator/scheduler/extender"
	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
)

// observer plugs the recorder into the scheduler, and decorates the queue and the
// cache for Idle and for the annotations.
type observer struct {
	*recorder.Recorder
	own  *ownUpdates
	seen *seenObjects
}

var _ upstream.Observer = (*observer)(nil)

// Extenders returns stand-ins that record.
func (o *observer) Extenders(made []fwk.Extender, configured []config.Extender) ([]fwk.Extender, error) {
	return extender.Wrap(made, configured, o.Recorder)
}

// Queue returns a queue that ignores updates of our own annotations, and that tells the
// recorder when it names nominated pods.
func (o *observer) Queue(q internalqueue.SchedulingQueue) internalqueue.SchedulingQueue {
	return observedQueue{q, o.own, o.seen, o.Recorder}
}

// Cache returns a cache that notes which objects the scheduler has seen.
func (o *observer) Cache(c internalcache.Cache) internalcache.Cache {
	return observedCache{c, o.seen}
}

// observedCache notes which nodes and bound pods the scheduler has seen, including
// those that move no waiting pod.
type observedCache struct {
	internalcache.Cache
	seen *seenObjects
}

func (c observedCache) UpdateNode(logger klog.Logger, oldNode, newNode *v1.Node) {
	c.Cache.UpdateNode(logger, oldNode, newNode)
	c.seen.note(oldNode, newNode)
}

func (c observedCache) UpdatePod(logger klog.Logger, oldPod, newPod *v1.Pod) error {
	err := c.Cache.UpdatePod(logger, oldPod, newPod)
	c.seen.note(oldPod, newPod)
	return err
}

// observedQueue hides pod updates in which only our annotations changed. It also
// notes which objects the scheduler has seen: calling the queue is the last step of
// each of its event handlers.
type observedQueue struct {
	internalqueue.SchedulingQueue
	own      *ownUpdates
	seen     *seenObjects
	recorder *recorder.Recorder
}

// NominatedPodsForNode is called by Filter's workers, once per node.
func (q observedQueue) NominatedPodsForNode(node string) []fwk.PodInfo {
	pods := q.SchedulingQueue.NominatedPodsForNode(node)
	if len(pods) > 0 {
		q.recorder.SawNominatedPods()
	}
	return pods
}

func (q observedQueue) Add(ctx context.Context, pod *v1.Pod) {
	q.SchedulingQueue.Add(ctx, pod)
	q.seen.note(nil, pod)
}

func (q observedQueue) Update(ctx context.Context, oldPod, newPod *v1.Pod) {
	if !q.own.only(oldPod, newPod) {
		q.SchedulingQueue.Update(ctx, oldPod, newPod)
	}
	q.seen.note(oldPod, newPod)
}

// Delete is also called for a pod that was bound, by this scheduler or another.
func (q observedQueue) Delete(logger klog.Logger, pod *v1.Pod) {
	q.SchedulingQueue.Delete(logger, pod)
	if q.seen.leftQueue(pod) {
		q.own.forget(pod.UID)
	}
}

func (q observedQueue) MoveAllToActiveOrBackoffQueue(logger klog.Logger, event fwk.ClusterEvent, oldObj, newObj any, check internalqueue.PreEnqueueCheck) {
	oldPod, _ := oldObj.(*v1.Pod)
	newPod, _ := newObj.(*v1.Pod)
	if !q.own.only(oldPod, newPod) {
		q.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, event, oldObj, newObj, check)
	}
	if newObj != nil || oldPod == nil || oldPod.Spec.NodeName != "" { // otherwise the call only ends a nomination
		q.seen.note(oldObj, newObj)
		if newObj == nil && oldPod != nil {
			q.own.forget(oldPod.UID)
		}
	}
}
