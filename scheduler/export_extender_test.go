package scheduler

import (
	"context"

	"k8s.io/client-go/tools/events"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
)

// StartOutside is StartObserved outside of a bubble, for tests that need a network.
func (s *Scheduler) StartOutside(ctx context.Context, recorders func(string) events.EventRecorderLogger, attach func(*kubescheduler.Scheduler)) error {
	return s.start(ctx, hooks{events: recorders, built: attach})
}
