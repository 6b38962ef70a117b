package scenario

import (
	"context"

	v1 "k8s.io/api/core/v1"
)

// Evict deletes a pod of a cluster as the verb drain does: if its PodDisruptionBudget allows it, by the rules of the API server's
// eviction. Otherwise it says which does not. It only lists PodDisruptionBudgets and deletes the pod.
func Evict(ctx context.Context, c Cluster, pod *v1.Pod) (refusal string, err error) {
	return evict(&run{ctx: ctx, cluster: c}, pod)
}
