package whatif

import (
	"context"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/result"
)

// Obstacle is what keeps a pod off a node: a plugin that rejects it there.
type Obstacle struct {
	Plugin  string
	Reasons []string
	// PreFilter: the plugin rejected the pod before it looked at any node.
	PreFilter bool
	// Comparison holds what the plugin compared; nil if that is not known.
	Comparison *result.Comparison
}

// Obstacles returns, for each of the named nodes in their order, or for all nodes in the
// order of Nodes if none is named, every plugin that rejects the pod there, with what it
// compared. A node on which the pod fits has none. It costs about what Feasible does.
func (t *Trial) Obstacles(ctx context.Context, pod *v1.Pod, profile string, nodes ...string) ([][]Obstacle, error) {
	return nil, errSkeleton
}
