package comparison

import (
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
)

// spreadComparer compares what PodTopologySpread does. There may be a domain per node, so
// it looks for the fewest and the most matching pods once per state, not once per node.
type spreadComparer struct {
	latest atomic.Pointer[spreadState]
}

// spreadState has the constraints of a state, with the bounds of each.
type spreadState struct {
	state       fwk.CycleState
	constraints []boundedConstraint
}

type boundedConstraint struct {
	upstream.SpreadConstraint
	least, most int
}

// of returns the constraints in state. Workers that call it at the same time may each do
// the work.
func (s *spreadComparer) of(state fwk.CycleState) []boundedConstraint {
	if latest := s.latest.Load(); latest != nil && latest.state == state {
		return latest.constraints
	}
	found := &spreadState{state: state}
	for _, c := range upstream.SpreadConstraints(state) {
		bounded := boundedConstraint{SpreadConstraint: c}
		first := true
		for _, n := range c.Matching {
			if first {
				bounded.least, bounded.most, first = n, n, false
			}
			bounded.least, bounded.most = min(bounded.least, n), max(bounded.most, n)
		}
		found.constraints = append(found.constraints, bounded)
	}
	s.latest.Store(found)
	return found.constraints
}

// compare finds the first constraint that is not met, with the counts that the plugin
// made in PreFilter.
func (s *spreadComparer) compare(_ fwk.Handle, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	for _, c := range s.of(state) {
		s := result.SpreadComparison{
			TopologyKey: c.TopologyKey, MaxSkew: int(c.MaxSkew), Domain: label(node.Node(), c.TopologyKey), Maximum: c.most, DomainCount: len(c.Matching),
		}
		if c.Selector != nil && c.Selector.Matches(labels.Set(pod.Labels)) {
			s.Self = 1
		}
		if len(c.Matching) >= int(c.MinDomains) {
			s.Minimum = c.least
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
