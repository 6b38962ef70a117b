//go:build kubernetes135

package decide

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// GetNodeHint returns no hint: whether there is one depends on the clock.
func (r *recorded) GetNodeHint(context.Context, *v1.Pod, fwk.CycleState, int64) (string, fwk.PodSignature) {
	return "", nil
}
