package scheduler

import (
	"context"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

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
	tee  *atomic.Pointer[tee]
	turn turn
}

// turn is what the scheduler is deciding about. It belongs to the scheduling goroutine.
type turn struct {
	// pod is nil in the turn of a pod group.
	pod *v1.Pod
}

var _ upstream.Observer = (*observer)(nil)

func (o *observer) Extenders(made []fwk.Extender, configured []config.Extender) ([]fwk.Extender, error) {
	return extender.Wrap(made, configured, o.Recorder)
}

// Queue returns a queue that ignores updates of our own annotations and reports nominated pods to
// the recorder.
func (o *observer) Queue(q internalqueue.SchedulingQueue) internalqueue.SchedulingQueue {
	return observedQueue{q, o.own, o.seen, o.Recorder, o.tee}
}

func (o *observer) Cache(c internalcache.Cache) internalcache.Cache {
	return observedCache{c, o.seen, o.tee, &o.turn}
}

// Attach makes sched report its cycles, and notes whose turn it is.
func (o *observer) Attach(sched *kubescheduler.Scheduler, nodes func() []fwk.NodeInfo) {
	o.Recorder.Attach(sched, nodes)
	next := sched.NextEntity
	sched.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		o.turn.pod = nil
		entity, err := next(logger)
		if single, ok := entity.(*framework.QueuedPodInfo); ok {
			o.turn.pod = single.Pod
		}
		return entity, err
	}
}

// observedCache notes which nodes and bound pods the scheduler has seen, including
// those that move no waiting pod, and writes them to the tee.
type observedCache struct {
	internalcache.Cache
	seen *seenObjects
	tee  *atomic.Pointer[tee]
	turn *turn
}

// observedQueue hides pod updates in which only our annotations changed. It also
// notes which objects the scheduler has seen: calling the queue is the last step of
// each of its event handlers.
type observedQueue struct {
	internalqueue.SchedulingQueue
	own      *ownUpdates
	seen     *seenObjects
	recorder *recorder.Recorder
	tee      *atomic.Pointer[tee]
}

// AddNominatedPod is called when preemption has made room for a pod, and to end a nomination.
func (q observedQueue) AddNominatedPod(logger klog.Logger, pod fwk.PodInfo, nominating *fwk.NominatingInfo) {
	q.SchedulingQueue.AddNominatedPod(logger, pod, nominating)
	if t := q.tee.Load(); t != nil && nominating.Mode() == fwk.ModeOverride {
		t.nominate(pod.GetPod(), nominating.NominatedNodeName)
	}
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
