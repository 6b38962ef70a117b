package supervisor

import (
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// Held returns what keeps a pod out of the queue of the scheduler of the moment;
// see scheduler.Scheduler.Held.
func (s *Scheduler) Held(uid types.UID) []result.PluginResult {
	s.mu.Lock()
	current := s.current
	s.mu.Unlock()
	if current == nil {
		return nil
	}
	return current.Held(uid)
}
