//go:build kubernetes134

package decide

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

type (
	plugin           = framework.Plugin
	scorePlugin      = framework.ScorePlugin
	preFilterResult  = framework.PreFilterResult
	nodePluginScores = framework.NodePluginScores
	claimTracker     = framework.ResourceClaimTracker
)

func schedulePod(ctx context.Context, s *scheduler.Scheduler, f framework.Framework, state fwk.CycleState, pod *v1.Pod) (string, error) {
	res, err := s.SchedulePod(ctx, f, state, pod)
	return res.SuggestedHost, err
}

func (p *preempting) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo, pdbs []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	victims, violations, status := p.Interface.SelectVictimsOnNode(ctx, state, pod, node, pdbs)
	if status.IsSuccess() && len(victims) > 0 {
		p.note(node.Node().Name, victims, violations)
	}
	return victims, violations, status
}

func evictNobody(p *defaultpreemption.DefaultPreemption) error {
	asynchronous, err := fieldOf[bool](p.Evaluator, "enableAsyncPreemption")
	if err != nil {
		return err
	}
	*asynchronous = false
	p.Evaluator.PreemptPod = func(context.Context, preemption.Candidate, *v1.Pod, *v1.Pod, string) error { return nil }
	return nil
}

// pendingOf reads a field of the tracker, which has no method for it in this version.
func pendingOf(claims claimTracker, uid types.UID) *resourcev1.AllocationResult {
	pending, err := fieldOf[*sync.Map](claims, "inFlightAllocations")
	if err != nil {
		return nil
	}
	found, _ := (*pending).Load(uid)
	if claim, ok := found.(*resourcev1.ResourceClaim); ok {
		return claim.Status.Allocation
	}
	return nil
}

func forgetPending(claims claimTracker, uid types.UID) { claims.RemoveClaimPendingAllocation(uid) }

func noEvents(string) events.EventRecorder { return eventless{} }

type eventless struct{}

func (eventless) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
