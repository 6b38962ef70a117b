//go:build kubernetes134 || kubernetes135 || kubernetes136

package decide

import (
	"context"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

func (p *preempting) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo, pdbs []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	victims, violations, status := p.Interface.SelectVictimsOnNode(ctx, state, pod, node, pdbs)
	p.note(node.Node().Name, victims, violations, status)
	return victims, violations, status
}
