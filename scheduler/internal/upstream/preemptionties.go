package upstream

import (
	"context"
	"time"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"kube-scheduler-simulator/scheduler/internal/preemptioncriteria"
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
	return preemptioncriteria.With(victims, s.choice.Now, s.choice.Rank)
}
