package supervisor

import (
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// PreEnqueueRejections returns the answers of the PreEnqueue plugins that keep a pod
// out of the current scheduler's queue; see scheduler.Scheduler.PreEnqueueRejections.
func (s *Scheduler) PreEnqueueRejections(uid types.UID) []result.PluginResult {
	s.mu.Lock()
	current := s.current
	s.mu.Unlock()
	if current == nil {
		return nil
	}
	return current.PreEnqueueRejections(uid)
}
