package capacityscheduling

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// adapted has the method of this framework, which is given the pods of the node too.
type adapted struct{ *preemptor }

// SelectVictimsOnNode ignores what an earlier framework did not give.
func (a adapted) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo, _ []*preemption.DomainVictim, budgets []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	return a.preemptor.SelectVictimsOnNode(ctx, state, pod, node, budgets)
}

func newEvaluator(name string, h fwk.Handle, p *preemptor, async bool) *preemption.Evaluator {
	return preemption.NewEvaluator(name, h, adapted{p}, preemption.NewExecutor(h, feature.Features{EnableAsyncPreemption: async}))
}

// during returns pods that a loop may remove from the node: this framework clears the slot.
func during(pods []fwk.PodInfo) []fwk.PodInfo { return slices.Clone(pods) }
