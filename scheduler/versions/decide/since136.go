//go:build !kubernetes134 && !kubernetes135

package decide

import (
	"context"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

func schedulePod(ctx context.Context, s *scheduler.Scheduler, f framework.Framework, state fwk.CycleState, pod *v1.Pod) (string, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return "", err
	}
	res, err := s.SchedulePod(ctx, f, state, &framework.QueuedPodInfo{PodInfo: info})
	return res.SuggestedHost, err
}

// GetNodeHint returns no hint: whether there is one depends on the clock.
func (r *recorded) GetNodeHint(context.Context, *v1.Pod, fwk.PodSignature, fwk.CycleState, int64) string {
	return ""
}

func evictNone(p *defaultpreemption.DefaultPreemption) error {
	features, err := fieldOf[feature.Features](p.Executor, "fts")
	if err != nil {
		return err
	}
	features.EnableAsyncPreemption = false
	p.Executor.PreemptPod = evicted
	return nil
}

func pendingOf(claims claimTracker, uid types.UID) *resourcev1.AllocationResult {
	return claims.GetPendingAllocation(uid)
}

func forgetPending(claims claimTracker, uid types.UID) {
	claims.MaybeRemoveClaimPendingAllocation(uid, true)
}

func noEvents(string) events.EventRecorderLogger { return eventless{} }

func (eventless) WithLogger(klog.Logger) events.EventRecorderLogger { return eventless{} }
