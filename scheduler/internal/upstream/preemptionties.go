package upstream

import (
	"context"
	"math"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// PreemptionChoice replaces the random choices of preemption.
type PreemptionChoice struct {
	// Offset returns where the search for candidates starts, from 0 to nodes-1.
	Offset func(nodes int32) int32
	// Rank decides among candidates that Kubernetes' criteria do not tell apart: the highest wins.
	// Each node has its own rank.
	Rank func(node string) int64
	// Now is when a pod without a start time starts.
	Now func() time.Time
}

// SeedPreemption makes a plugin choose by choice. It does nothing for plugins other than
// DefaultPreemption, or if the plugin has criteria of its own.
func SeedPreemption(plugin fwk.Plugin, choice PreemptionChoice) {
	if p, ok := plugin.(*defaultpreemption.DefaultPreemption); ok {
		p.Evaluator.Interface = &seededPreemption{p.Evaluator.Interface, choice}
	}
}

type seededPreemption struct {
	preemption.Interface
	choice PreemptionChoice
}

func (s *seededPreemption) GetOffsetAndNumCandidates(nodes int32) (int32, int32) {
	_, candidates := s.Interface.GetOffsetAndNumCandidates(max(nodes, 1))
	return s.choice.Offset(nodes), candidates
}

// OrderedScoreFuncs returns the criteria of Kubernetes' pickOneNodeForPreemption and, as the last
// one, the rank.
func (s *seededPreemption) OrderedScoreFuncs(ctx context.Context, victims map[string]*extenderv1.Victims) []func(string) int64 {
	if own := s.Interface.OrderedScoreFuncs(ctx, victims); len(own) > 0 {
		return append(own, s.choice.Rank)
	}
	return []func(string) int64{
		func(node string) int64 { return -victims[node].NumPDBViolations },
		func(node string) int64 { return -int64(corev1helpers.PodPriority(victims[node].Pods[0])) },
		func(node string) (sum int64) {
			for _, pod := range victims[node].Pods {
				sum -= int64(corev1helpers.PodPriority(pod)) + int64(math.MaxInt32+1)
			}
			return sum
		},
		func(node string) int64 { return -int64(len(victims[node].Pods)) },
		func(node string) int64 { return s.earliestStart(victims[node]) },
		s.choice.Rank,
	}
}

func (s *seededPreemption) earliestStart(victims *extenderv1.Victims) int64 {
	started := &extenderv1.Victims{Pods: make([]*v1.Pod, len(victims.Pods))}
	for i, pod := range victims.Pods {
		if pod.Status.StartTime == nil {
			now := *pod
			now.Status.StartTime = &metav1.Time{Time: s.choice.Now()}
			pod = &now
		}
		started.Pods[i] = pod
	}
	earliest := util.GetEarliestPodStartTime(started)
	if earliest == nil {
		return math.MinInt64
	}
	return earliest.UnixNano()
}
