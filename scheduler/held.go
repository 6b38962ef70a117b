package scheduler

import (
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// Held returns the answers of the PreEnqueue plugins that keep a pod out of the
// queue; nil when none does, or when nothing is recorded.
func (s *Scheduler) Held(uid types.UID) []result.PluginResult {
	if s.recorder == nil {
		return nil
	}
	return s.recorder.Held(uid)
}
