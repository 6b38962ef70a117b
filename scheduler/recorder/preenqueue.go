package recorder

import (
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// PreEnqueueRejections returns the answers of the PreEnqueue plugins that keep a pod out of the
// queue, or nil when no plugin does. Except for scheduling gates, Kubernetes reports them nowhere:
// such a pod has no cycle, no condition and no event.
func (r *Recorder) PreEnqueueRejections(uid types.UID) []result.PluginResult {
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
