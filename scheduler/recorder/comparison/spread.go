package comparison

import (
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// compareSpread is PodTopologySpread's. Nearest are the nodes that violate the fewest constraints
// and, among those, the nodes whose domains exceed the skew by the fewest pods. A node without the
// label of a constraint is farther than any count of pods.
func compareSpread(h fwk.Handle, gates feature.Features) begin {
	return func(state fwk.CycleState, pod *v1.Pod) recorder.Comparing {
		c := &spread{
			handle: h, of: state, pod: pod,
			taints: taints{pod.Spec.Tolerations, gates.EnableTaintTolerationComparisonOperators, klog.Background()},
		}
		if c.constraints = c.read(state); c.constraints == nil {
			return nil
		}
		c.domains = make([]*spreadDomains, len(c.constraints))
		return c
	}
}

type spread struct {
	handle fwk.Handle
	// of is the state that constraints were read from.
	of          fwk.CycleState
	constraints []spreadConstraint
	pod         *v1.Pod
	taints      taints
	domains     []*spreadDomains
}

// spreadConstraint is a constraint with what the pod itself adds to a domain: 1 when it
// counts itself.
type spreadConstraint struct {
	upstream.SpreadConstraint
	self int
}

type spreadDomains struct {
	// least and most are the smallest and the largest count of a domain; second is the smallest
	// without one of the least domains.
	least, second, most int
	fewest              smallest
	named               []result.SpreadDomain
}

// smallest keeps the first few of many names, in order, and counts them.
type smallest struct {
	most  int
	names []string
	count int
}

func (s *smallest) add(name string) {
	s.count++
	if len(s.names) == s.most && name >= s.names[s.most-1] {
		return
	}
	at, _ := slices.BinarySearch(s.names, name)
	s.names = slices.Insert(s.names, at, name)
	s.names = s.names[:min(len(s.names), s.most)]
}

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
		if constraint.Selector.Matches(labels.Set(c.pod.Labels)) {
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
		known := c.domainsOf(state, i, constraint)
		found := constraint.comparison(domain, known)
		found.Here = c.here(&constraint, node)
		found.Fewest = c.withNodes(constraint.TopologyKey, known, found.Fewest)
		out.Spread = []result.SpreadComparison{found}
		if state == c.of {
			out.WithoutPods = c.withoutPods(node)
		}
		return true
	}
	return false
}

func (c *spread) Passed(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	for i, constraint := range c.in(state) {
		out.Spread = append(out.Spread, constraint.comparison(label(node.Node(), constraint.TopologyKey), c.domainsOf(state, i, constraint)))
	}
	return true
}

// comparison compares a constraint with a domain, nil for a node without the label.
func (c *spreadConstraint) comparison(domain *string, known *spreadDomains) result.SpreadComparison {
	s := result.SpreadComparison{
		TopologyKey: c.TopologyKey, MaxSkew: int(c.MaxSkew), Domain: domain, Selector: c.Selector.String(),
		Minimum: c.Minimum, Maximum: known.most, Self: c.self, Domains: len(c.Matching),
		NodeAffinityPolicy: string(c.NodeAffinityPolicy), NodeTaintsPolicy: string(c.NodeTaintsPolicy),
	}
	if c.MinDomains > 1 {
		s.MinDomains = int(c.MinDomains)
	}
	// With nominated pods, the plugin's minimum may lag behind its counts.
	if len(c.Matching) < int(c.MinDomains) || known.least == c.Minimum {
		s.FewestCount = known.fewest.count
		for _, name := range known.fewest.names {
			s.Fewest = append(s.Fewest, result.SpreadDomain{Name: name})
		}
	}
	if domain != nil {
		s.Matching = c.Matching[*domain]
	}
	return s
}

func (c *spreadConstraint) skew(domain string) int { return c.Matching[domain] + c.self - c.Minimum }

// domainsOf sums up the domains of the i-th constraint. It looks once for all nodes without
// nominated pods, because there may be as many domains as nodes.
func (c *spread) domainsOf(state fwk.CycleState, i int, constraint spreadConstraint) *spreadDomains {
	if state == c.of && c.domains[i] != nil {
		return c.domains[i]
	}
	d := &spreadDomains{least: math.MaxInt, second: math.MaxInt, fewest: smallest{most: result.MaxFewest}}
	for name, matching := range constraint.Matching {
		d.most = max(d.most, matching)
		switch {
		case matching < d.least:
			d.second, d.least = d.least, matching
			d.fewest.names, d.fewest.count = d.fewest.names[:0], 0
			d.fewest.add(name)
		case matching == d.least:
			d.second = matching
			d.fewest.add(name)
		default:
			d.second = min(d.second, matching)
		}
	}
	if state == c.of {
		c.domains[i] = d
	}
	return d
}

// withNodes adds the nodes of the fewest domains, which it looks up once.
func (c *spread) withNodes(topologyKey string, known *spreadDomains, fewest []result.SpreadDomain) []result.SpreadDomain {
	if len(fewest) == 0 || known.named != nil {
		return known.named
	}
	nodes, err := c.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return fewest
	}
	found := make([]smallest, len(fewest))
	for i := range found {
		found[i].most = result.MaxDomainNodes
	}
	for _, node := range nodes {
		value, labelled := node.Node().Labels[topologyKey]
		if !labelled {
			continue
		}
		for i := range fewest {
			if fewest[i].Name == value {
				found[i].add(node.Node().Name)
			}
		}
	}
	for i := range fewest {
		fewest[i].Nodes, fewest[i].NodeCount = found[i].names, found[i].count
	}
	known.named = fewest
	return fewest
}

func (c *spread) here(constraint *spreadConstraint, node fwk.NodeInfo) int {
	if constraint.Selector.Empty() || !c.counts(constraint, node) { // as the plugin
		return 0
	}
	n := 0
	for _, on := range node.GetPods() {
		pod := on.GetPod()
		if pod.DeletionTimestamp == nil && pod.Namespace == c.pod.Namespace && constraint.Selector.Matches(labels.Set(pod.Labels)) {
			n++
		}
	}
	return n
}

func (c *spread) counts(constraint *spreadConstraint, node fwk.NodeInfo) bool {
	for i := range c.constraints {
		if _, labelled := node.Node().Labels[c.constraints[i].TopologyKey]; !labelled {
			return false
		}
	}
	if constraint.NodeAffinityPolicy == v1.NodeInclusionPolicyHonor {
		if match, _ := nodeaffinity.GetRequiredNodeAffinity(c.pod).Match(node.Node()); !match {
			return false
		}
	}
	if constraint.NodeTaintsPolicy == v1.NodeInclusionPolicyHonor {
		for range c.taints.untolerated(node) {
			return false
		}
	}
	return true
}

// withoutPods compares the constraints with the counts without a node's pods.
func (c *spread) withoutPods(node fwk.NodeInfo) result.WithoutPods {
	for i := range c.constraints {
		constraint := &c.constraints[i]
		domain, labelled := node.Node().Labels[constraint.TopologyKey]
		if !labelled {
			return result.RejectsWithoutPods
		}
		minimum, left := constraint.Minimum, constraint.Matching[domain]
		if here := c.here(constraint, node); here > 0 {
			left -= here
			known := c.domainsOf(c.of, i, *constraint)
			others := known.least
			if left+here == known.least {
				others = known.second
			}
			if len(constraint.Matching) >= int(constraint.MinDomains) {
				minimum = min(left, others)
			}
		}
		if left+constraint.self-minimum > int(constraint.MaxSkew) {
			return result.RejectsWithoutPods
		}
	}
	return result.PassesWithoutPods
}
