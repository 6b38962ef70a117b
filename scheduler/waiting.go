package scheduler

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
)

// Waiting says where a pod that was tried waits for its next attempt, and until when. It returns
// nil for a pod that is ready or being tried, that a PreEnqueue plugin holds, or that the scheduler
// does not know, and for a bare scheduler. If the pod is just moving, Waiting may return its
// previous place. Any goroutine may call it while s runs.
func (s *Scheduler) Waiting(of result.Pod) *result.QueueWait {
	pod := s.unbound(of)
	if pod == nil {
		return nil
	}
	queue := s.sched.SchedulingQueue.(observedQueue).SchedulingQueue
	info, ok := queue.GetPod(pod.Name, pod.Namespace, pod.Spec.SchedulingGroup)
	if !ok {
		return nil
	}
	times := upstream.QueueTimesOf(queue, info)
	if times.Gated {
		return nil
	}
	same := func(other *v1.Pod) bool { return other.UID == pod.UID }
	// The queue keeps the times of a group's members with the group.
	until := func(t time.Time) *time.Time {
		if pod.Spec.SchedulingGroup != nil || t.IsZero() {
			return nil
		}
		return &t
	}
	switch {
	case slices.ContainsFunc(queue.PodsInBackoffQ(), same):
		return &result.QueueWait{Queue: "backoff", Until: until(times.BackoffEnd)}
	case slices.ContainsFunc(queue.UnschedulablePods(), same):
		since := times.Tried
		if times.Flushed.After(since) {
			since = times.Flushed
		}
		return &result.QueueWait{Queue: "unschedulable", Until: until(since.Add(upstream.LongestUnschedulable))}
	default:
		return nil
	}
}

// TryNow moves a pod that waits to the active queue, as the end of its wait would, and reports
// whether it waited. A PreEnqueue plugin may still hold it. Any goroutine may call it while s runs.
func (s *Scheduler) TryNow(of result.Pod) bool {
	pod := s.unbound(of)
	if pod == nil || s.Waiting(of) == nil {
		return false
	}
	s.sched.SchedulingQueue.Activate(klog.FromContext(s.runCtx), map[string]*v1.Pod{pod.Namespace + "/" + pod.Name: pod})
	return true
}

func (s *Scheduler) unbound(of result.Pod) *v1.Pod {
	if s.recorder == nil || s.pods == nil {
		return nil
	}
	pod, err := s.pods.Pods(of.Namespace).Get(of.Name)
	if err != nil || pod.UID != of.UID || pod.Spec.NodeName != "" {
		return nil
	}
	return pod
}
