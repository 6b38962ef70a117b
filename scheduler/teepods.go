package scheduler

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"kube-scheduler-simulator/scheduler/feed"
)

// podHandler follows the pods without a node. The cache reports those with one.
func (t *tee) podHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { t.sawPod(nil, obj) },
		UpdateFunc: func(before, obj any) { t.sawPod(before, obj) },
		DeleteFunc: func(obj any) {
			if pod, ok := last(obj).(*v1.Pod); ok {
				t.do(func(add func(feed.Operation)) {
					delete(t.pending, pod.UID)
					delete(t.nominated, pod.UID)
					if !t.placed(pod) {
						add(deleted(pod))
					}
				})
			}
		},
	}
}

func (t *tee) placed(pod *v1.Pod) bool {
	_, err := t.of.sched.Cache.GetPod(pod)
	return err == nil
}

func (t *tee) sawPod(before, obj any) {
	pod, ok := obj.(*v1.Pod)
	if !ok {
		return
	}
	t.do(func(add func(feed.Operation)) {
		if pod.Spec.NodeName != "" {
			delete(t.pending, pod.UID)
			delete(t.nominated, pod.UID)
			return
		}
		t.pending[pod.UID] = pod
		// Like the queue, keep a nomination that the API server does not know yet.
		if old, ok := before.(*v1.Pod); pod.Status.NominatedNodeName != "" || ok && old.Status.NominatedNodeName != "" {
			delete(t.nominated, pod.UID)
		}
		if !t.placed(pod) {
			add(feed.Operation{Set: t.withNomination(pod)})
		}
	})
}

func (t *tee) withNomination(pod *v1.Pod) *v1.Pod {
	node, made := t.nominated[pod.UID]
	if !made || node == pod.Status.NominatedNodeName {
		return pod
	}
	nominated := *pod
	nominated.Status.NominatedNodeName = node
	return &nominated
}

// nominate notes a nomination that the scheduler makes or, with an empty node, ends.
func (t *tee) nominate(pod *v1.Pod, node string) {
	t.do(func(add func(feed.Operation)) {
		known := t.pending[pod.UID]
		if known == nil {
			return
		}
		t.nominated[pod.UID] = node
		if !t.placed(pod) {
			add(feed.Operation{Set: t.withNomination(known)})
		}
	})
}

func (t *tee) unplaced(pod *v1.Pod) feed.Operation {
	if pending := t.pending[pod.UID]; pending != nil {
		return feed.Operation{Set: t.withNomination(pending)}
	}
	return deleted(pod)
}
