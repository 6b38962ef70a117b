//go:build kubernetes136

package decide

import (
	"context"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

type (
	plugin           = fwk.Plugin
	scorePlugin      = fwk.ScorePlugin
	preFilterResult  = fwk.PreFilterResult
	nodePluginScores = fwk.NodePluginScores
	claimTracker     = fwk.ResourceClaimTracker
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

func (r *recorded) StoreScheduleResults(context.Context, fwk.PodSignature, string, string, framework.SortedScoredNodes, int64) {
}

func (p *preempting) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo, pdbs []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	victims, violations, status := p.Interface.SelectVictimsOnNode(ctx, state, pod, node, pdbs)
	if status.IsSuccess() && len(victims) > 0 {
		p.note(node.Node().Name, victims, violations)
	}
	return victims, violations, status
}

func evictNobody(p *defaultpreemption.DefaultPreemption) error {
	features, err := fieldOf[feature.Features](p.Executor, "fts")
	if err != nil {
		return err
	}
	features.EnableAsyncPreemption = false
	p.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) error {
		return nil
	}
	return nil
}

func pendingOf(claims claimTracker, uid types.UID) *resourcev1.AllocationResult {
	return claims.GetPendingAllocation(uid)
}

func forgetPending(claims claimTracker, uid types.UID) {
	claims.MaybeRemoveClaimPendingAllocation(uid, true)
}

func noEvents(string) events.EventRecorderLogger { return eventless{} }

type eventless struct{}

func (eventless) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

func (eventless) WithLogger(klog.Logger) events.EventRecorderLogger { return eventless{} }
