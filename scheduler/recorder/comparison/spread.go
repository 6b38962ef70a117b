package comparison

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// compareSpread is PodTopologySpread's. Nearest are the nodes that violate the fewest
// constraints, and among those the nodes whose domains have the fewest pods too many. A
// node without the label of a constraint is farther than any count of pods.
func compareSpread(state fwk.CycleState, pod *v1.Pod) recorder.Comparing {
	c := &spread{of: state, labels: pod.Labels}
	if c.constraints = c.read(state); c.constraints == nil {
		return nil
	}
	return c
}

type spread struct {
	// of is the state that constraints were read from.
	of          fwk.CycleState
	constraints []spreadConstraint
	labels      labels.Set
	// most is the largest count of each constraint, by index, once it is known.
	most map[int]int
}

// spreadConstraint is a constraint with what the pod itself adds to a domain: 1 when it
// counts itself.
type spreadConstraint struct {
	upstream.SpreadConstraint
	self int
}

// in returns the constraints with the counts of a state.
func (c *spread) in(state fwk.CycleState) []spreadConstraint {
	if state == c.of {
		return c.constraints
	}
	return c.read(state)
}

func (c *spread) read(state fwk.CycleState) []spreadConstraint {
	known := upstream.SpreadConstraints(state)
	if known == nil {
		return nil
	}
	out := make([]spreadConstraint, len(known))
	for i, constraint := range known {
		out[i].SpreadConstraint = constraint
		if constraint.Selector.Matches(c.labels) {
			out[i].self = 1
		}
	}
	return out
}

func (c *spread) Distance(state fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	violated, unlabelled, surplus := 0, 0, 0
	for _, constraint := range c.in(state) {
		domain, labelled := node.Node().Labels[constraint.TopologyKey]
		over := constraint.skew(domain) - int(constraint.MaxSkew)
		switch {
		case !labelled:
			unlabelled++
		case over > 0:
			violated++
			surplus += over
		}
	}
	return fewestAndSmallest(2*unlabelled+violated, float64(surplus))
}

// Compare fills in the first constraint that is not met, at which the plugin stops.
func (c *spread) Compare(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	for i, constraint := range c.in(state) {
		domain := label(node.Node(), constraint.TopologyKey)
		if domain != nil && constraint.skew(*domain) <= int(constraint.MaxSkew) {
			continue
		}
		out.Spread = []result.SpreadComparison{c.comparison(state, i, constraint, domain)}
		return true
	}
	return false
}

func (c *spread) Passed(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	for i, constraint := range c.in(state) {
		out.Spread = append(out.Spread, c.comparison(state, i, constraint, label(node.Node(), constraint.TopologyKey)))
	}
	return true
}

// comparison compares the i-th constraint with a domain, nil for a node without the label.
func (c *spread) comparison(state fwk.CycleState, i int, constraint spreadConstraint, domain *string) result.SpreadComparison {
	s := result.SpreadComparison{
		TopologyKey: constraint.TopologyKey, MaxSkew: int(constraint.MaxSkew), Domain: domain,
		Minimum: constraint.Minimum, Maximum: c.maximum(state, i, constraint), Self: constraint.self,
	}
	if domain != nil {
		s.Matching = constraint.Matching[*domain]
	}
	return s
}

// skew returns the skew of a domain with the pod in it.
func (c spreadConstraint) skew(domain string) int { return c.Matching[domain] + c.self - c.Minimum }

// maximum returns the count of the domain with the most matching pods. There may be as
// many domains as nodes, so it is counted once for all nodes without nominated pods.
func (c *spread) maximum(state fwk.CycleState, i int, constraint spreadConstraint) int {
	if state == c.of {
		if most, known := c.most[i]; known {
			return most
		}
	}
	most := 0
	for _, matching := range constraint.Matching {
		most = max(most, matching)
	}
	if state == c.of {
		if c.most == nil {
			c.most = map[int]int{}
		}
		c.most[i] = most
	}
	return most
}
