//go:build kubernetes134 || kubernetes135

package decide

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

func schedulePod(ctx context.Context, s *scheduler.Scheduler, f framework.Framework, state fwk.CycleState, pod *v1.Pod) (string, error) {
	res, err := s.SchedulePod(ctx, f, state, pod)
	return res.SuggestedHost, err
}

func evictNone(p *defaultpreemption.DefaultPreemption) error {
	asynchronous, err := fieldOf[bool](p.Evaluator, "enableAsyncPreemption")
	if err != nil {
		return err
	}
	*asynchronous = false
	p.Evaluator.PreemptPod = func(context.Context, preemption.Candidate, *v1.Pod, *v1.Pod, string) error { return nil }
	return nil
}

// pendingOf reads a field of the tracker, which has no method for it in these versions.
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
