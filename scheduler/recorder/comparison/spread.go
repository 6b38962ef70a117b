package comparison

import (
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
)

// compareSpread finds the first constraint that is not met, with the counts that
// the plugin made in PreFilter.
func compareSpread(_ fwk.Handle, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	for _, c := range upstream.SpreadConstraints(state) {
		s := result.SpreadComparison{
			TopologyKey: c.TopologyKey, MaxSkew: int(c.MaxSkew), Domain: label(node.Node(), c.TopologyKey), Domains: maps.Clone(c.Matching),
		}
		if c.Selector != nil && c.Selector.Matches(labels.Set(pod.Labels)) {
			s.Self = 1
		}
		if len(c.Matching) >= int(c.MinDomains) {
			s.Minimum = slices.Min(append(slices.Collect(maps.Values(c.Matching)), math.MaxInt))
		}
		if s.Domain != nil {
			s.Matching = c.Matching[*s.Domain]
			if s.Matching+s.Self-s.Minimum <= s.MaxSkew {
				continue
			}
		}
		// The plugin stops here, too.
		return &result.Comparison{Spread: []result.SpreadComparison{s}}
	}
	return nil
}
