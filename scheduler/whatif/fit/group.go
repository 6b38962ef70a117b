package fit

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/result"
)

// withGroup decides about a pod of a PodGroup, which gets a node only together with others of the group. chosen is the node that
// the scheduler would choose; if it is empty, why says what the group lacks.
func (s *search) withGroup(ctx context.Context, pod *v1.Pod) (chosen string, why *Incurable, err error) {
	cycles, err := s.trial.DecideGroup(ctx, pod, s.profile)
	if err != nil {
		return "", nil, err
	}
	own := cycles[slices.IndexFunc(cycles, func(c *result.Cycle) bool { return c.Pod.UID == pod.UID })]
	if own.Outcome == result.Scheduled {
		return own.SelectedNode, nil, nil
	}
	why = &Incurable{Plugin: names.GangScheduling, Reason: own.Message}
	if g := own.PodGroup; g != nil {
		for _, p := range g.Placements {
			if p.Plugin != "" && len(p.Reasons) > 0 {
				why.Plugin, why.Reason = p.Plugin, p.Reasons[0]
			}
		}
	}
	for _, n := range s.nodes {
		why.Nodes = append(why.Nodes, n.Node().Name)
	}
	slices.Sort(why.Nodes)
	return "", why, nil
}
