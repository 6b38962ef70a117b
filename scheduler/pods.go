package scheduler

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/result"
)

// watchPods prepares the scheduler's pod informer before it starts. A bare
// scheduler keeps Kubernetes' transform.
func (s *Scheduler) watchPods(f informers.SharedInformerFactory) error {
	informer := f.Core().V1().Pods().Informer()
	if s.recorder == nil {
		return nil
	}
	if err := informer.SetTransform(s.trim); err != nil {
		return fmt.Errorf("trimming the scheduler's pods: %w", err)
	}
	s.watchAllocations(f) // before any other use of its informers
	s.pods, s.claims = f.Core().V1().Pods().Lister(), f.Core().V1().PersistentVolumeClaims().Lister()
	s.bindings.bound = s.hasNode
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: s.podUpdated, DeleteFunc: s.podDeleted})
	if err != nil {
		return fmt.Errorf("watching the scheduler's pods: %w", err)
	}
	return nil
}

// trim removes the parts of a pod that the scheduler need not see: the managed
// fields, as Kubernetes does, and our own annotations, which must not requeue a
// pod.
func (s *Scheduler) trim(obj any) (any, error) {
	if pod, ok := obj.(*v1.Pod); ok {
		s.own.observe(pod)
		pod.ManagedFields = nil
		annotation.Strip(pod)
		s.options.SharedPods.Share(pod)
	}
	return obj, nil
}

func (s *Scheduler) podUpdated(_, obj any) {
	if pod, ok := obj.(*v1.Pod); ok && pod.Spec.NodeName != "" {
		s.bindings.seen(pod.UID)
	}
}

func (s *Scheduler) podDeleted(obj any) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	if pod, ok := obj.(*v1.Pod); ok {
		s.recorder.Forget(pod.UID)
		s.bindings.seen(pod.UID)
		if pod.Spec.NodeName == "" && !s.sched.Profiles.HandlesSchedulerName(pod.Spec.SchedulerName) {
			s.own.forget(pod.UID) // the scheduler has no handler for the pod
		}
	}
}

// hasNode reports whether the informer has seen the pod bound to a node, or
// deleted.
func (s *Scheduler) hasNode(pod result.Pod) bool {
	latest, err := s.pods.Pods(pod.Namespace).Get(pod.Name)
	return err != nil || latest.UID != pod.UID || latest.Spec.NodeName != ""
}
