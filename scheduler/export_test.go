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

// NominatedTo returns the names of the pods that s knows as nominated to a node.
func (s *Scheduler) NominatedTo(node string) []string {
	var out []string
	for _, p := range s.sched.SchedulingQueue.NominatedPodsForNode(node) {
		out = append(out, p.GetPod().Name)
	}
	return out
}
