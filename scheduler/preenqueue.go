package scheduler

import (
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// PreEnqueueRejections returns the answers of the PreEnqueue plugins that keep a pod out of the
// queue. It returns nil when no plugin does, or when the scheduler runs bare.
func (s *Scheduler) PreEnqueueRejections(uid types.UID) []result.PluginResult {
	if s.recorder == nil {
		return nil
	}
	return s.recorder.PreEnqueueRejections(uid)
}
