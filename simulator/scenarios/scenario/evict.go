package scenario

import (
	"cmp"
	"context"

	v1 "k8s.io/api/core/v1"
)

// Evict deletes a pod of a cluster as the verb drain does: unless a PodDisruptionBudget, or the API server itself, refuses its eviction. Then
// it says why. It only lists PodDisruptionBudgets and deletes the pod.
func Evict(ctx context.Context, c Cluster, pod *v1.Pod) (refusal string, err error) {
	refusal, never, err := evict(&run{ctx: ctx, cluster: c}, pod)
	return cmp.Or(refusal, never), err
}
