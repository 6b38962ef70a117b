package recorder

import (
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// Held returns what PreEnqueue plugins said that keep a pod out of the queue, nil
// when none does. Kubernetes says it nowhere but for scheduling gates: such a pod
// has no cycle, no condition and no event.
func (r *Recorder) Held(uid types.UID) []result.PluginResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []result.PluginResult
	for _, answer := range r.preEnqueue[uid] {
		if answer.Status != "Success" {
			out = append(out, answer)
		}
	}
	return out
}
