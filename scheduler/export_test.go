package scheduler

import (
	"context"
	"testing/synctest"

	"k8s.io/client-go/tools/events"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
)

// StartObserved is Start with two differences, for tests: events go to the given
// recorders instead of the API server, and attach gets the scheduler before the
// informers start. It must be called in a bubble of testing/synctest.
func (s *Scheduler) StartObserved(ctx context.Context, recorders func(string) events.EventRecorderLogger, attach func(*kubescheduler.Scheduler)) error {
	return s.start(ctx, hooks{
		events: recorders,
		built:  attach,
		// WaitForHandlersSync would poll every 100 ms; synctest.Wait returns once
		// all handlers have finished.
		synced: synctest.Wait,
	})
}

// Holds returns what s knows that a volume, a claim for a volume, or a claim for devices has
// been given, by the object's resource and name; empty for nothing.
func (s *Scheduler) Holds(resource, name string) string {
	core := s.informers.Core().V1()
	switch resource {
	case "persistentvolumes":
		if pv, err := core.PersistentVolumes().Lister().Get(name); err == nil && pv.Spec.ClaimRef != nil {
			return pv.Spec.ClaimRef.Name
		}
	case "persistentvolumeclaims":
		if claim, err := core.PersistentVolumeClaims().Lister().PersistentVolumeClaims("default").Get(name); err == nil {
			return claim.Spec.VolumeName
		}
	case "resourceclaims":
		claim, err := s.informers.Resource().V1().ResourceClaims().Lister().ResourceClaims("default").Get(name)
		if err == nil && claim.Status.Allocation != nil {
			return claim.Status.Allocation.Devices.Results[0].Device
		}
	}
	return ""
}

// NominatedTo returns the names of the pods that s knows as nominated to a node.
func (s *Scheduler) NominatedTo(node string) []string {
	var out []string
	for _, p := range s.sched.SchedulingQueue.NominatedPodsForNode(node) {
		out = append(out, p.GetPod().Name)
	}
	return out
}
