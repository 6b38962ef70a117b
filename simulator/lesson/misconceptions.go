package lesson

import (
	"cmp"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/resource"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/result"
)

// The misconceptions that grading names.
const (
	// UsageCounts: the emptiest node wins. The scheduler counts requests, and Filter comes before
	// Score.
	UsageCounts = "usage-counts"
	// PreferForbids: PreferNoSchedule keeps pods off.
	PreferForbids = "prefer-forbids"
	// TolerationAttracts: a toleration pulls a pod to the tainted node.
	TolerationAttracts = "toleration-attracts"
	// PreferredIsRequired: a node that misses a preference cannot take the pod.
	PreferredIsRequired = "preferred-is-required"
	// PriorityPicksNode: a pod of high priority takes a place beside others, whatever they leave.
	PriorityPicksNode = "priority-picks-node"
	// LimitsCount: limits take room.
	LimitsCount = "limits-count"
	// PodsMoveLater: the scheduler moves running pods.
	PodsMoveLater = "pods-move-later"
)

// Misconceptions lists them in the order for display.
var Misconceptions = []string{UsageCounts, PreferForbids, TolerationAttracts, PreferredIsRequired, PriorityPicksNode, LimitsCount, PodsMoveLater}

// Situation is what a learner sees when predicting, and the decision.
type Situation struct {
	Pod   *v1.Pod
	Nodes []*v1.Node
	// Pods are those of the cluster; the bound ones count.
	Pods  []*v1.Pod
	Cycle *result.Cycle
	// Usage is the part of a node's CPU that its pods use, by node, from 0 to 1. It is nil where a
	// learner sees no usage.
	Usage map[string]float64
}

func (s Situation) feasible(node string) bool {
	f := s.Cycle.Filter
	if f == nil || !allows(s.Cycle, node) {
		return false
	}
	at := f.Nodes.Index(node)
	if at < 0 || f.Verdict(at).Plugin != "" {
		return false
	}
	for _, call := range s.Cycle.Extenders {
		if call.Rejected != nil && slices.Contains(call.Rejected.Nodes, node) {
			return false
		}
	}
	return true
}

// allows reports whether PreFilter lets Filter see the node.
func allows(c *result.Cycle, node string) bool {
	for _, p := range c.PreFilter {
		if p.Nodes != nil && !slices.Contains(p.Nodes, node) {
			return false
		}
	}
	return true
}

// The scheduler chooses one of the best nodes.
func (s Situation) best() []string {
	c := s.Cycle
	if c.Score != nil {
		if tied := c.Score.Tied(); len(tied) > 0 {
			return tied
		}
	}
	if c.SelectedNode != "" {
		return []string{c.SelectedNode}
	}
	return nil
}

// misconceptions names what explains the mistakes of a prediction, in the order of Misconceptions.
func (s Situation) misconceptions(p Prediction) []string {
	wrongly := func(n *v1.Node) bool { return slices.Contains(p.CrossedOut, n.Name) && s.feasible(n.Name) }
	wrongPick := p.Picked != "" && !slices.Contains(s.best(), p.Picked)
	picked := s.node(p.Picked)
	some := func(is func(*v1.Node) bool) bool {
		return slices.ContainsFunc(s.Nodes, func(n *v1.Node) bool { return wrongly(n) && is(n) })
	}
	held := map[string]bool{
		UsageCounts:        wrongPick && picked != nil && s.emptiest(picked.Name),
		PreferForbids:      some(s.prefersNot),
		TolerationAttracts: wrongPick && picked != nil && s.tolerated(picked) && !slices.ContainsFunc(s.best(), func(name string) bool { return s.tolerated(s.node(name)) }),
		// A learner who crosses a node out for its taint does not do so for a preference that it
		// misses.
		PreferredIsRequired: some(func(n *v1.Node) bool { return s.missesPreference(n) && !s.prefersNot(n) }),
		PriorityPicksNode:   wrongPick && picked != nil && s.outranks(picked),
		LimitsCount:         some(s.limitsExceed),
	}
	out := []string{}
	for _, name := range Misconceptions {
		if held[name] {
			out = append(out, name)
		}
	}
	return out
}

func (s Situation) node(name string) *v1.Node {
	for _, n := range s.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// emptiest reports whether no node is less used, or has less requested where no usage is known.
func (s Situation) emptiest(node string) bool {
	use := s.Usage
	if use == nil {
		use = map[string]float64{}
		for _, n := range s.Nodes {
			use[n.Name] = s.requested(n.Name).share(n)
		}
	}
	least := slices.MinFunc(s.Nodes, func(a, b *v1.Node) int { return cmp.Compare(use[a.Name], use[b.Name]) })
	most := slices.MaxFunc(s.Nodes, func(a, b *v1.Node) int { return cmp.Compare(use[a.Name], use[b.Name]) })
	return use[node] <= use[least.Name] && use[least.Name] < use[most.Name]
}

// amount is CPU in cores and memory in bytes.
type amount struct{ cpu, memory float64 }

func amountOf(list v1.ResourceList) amount {
	return amount{list.Cpu().AsApproximateFloat64(), list.Memory().AsApproximateFloat64()}
}

func (a amount) plus(b amount) amount { return amount{a.cpu + b.cpu, a.memory + b.memory} }

// share returns the mean of CPU and memory, as parts of what the node has.
func (a amount) share(n *v1.Node) float64 {
	has := amountOf(n.Status.Allocatable)
	if has.cpu == 0 || has.memory == 0 {
		return math.Inf(1)
	}
	return (a.cpu/has.cpu + a.memory/has.memory) / 2
}

func (a amount) exceeds(b amount) bool { return a.cpu > b.cpu || a.memory > b.memory }

func (s Situation) on(node string) []*v1.Pod {
	return slices.DeleteFunc(slices.Clone(s.Pods), func(p *v1.Pod) bool { return p.Spec.NodeName != node })
}

func (s Situation) requested(node string) amount {
	var sum amount
	for _, p := range s.on(node) {
		sum = sum.plus(amountOf(resource.PodRequests(p, resource.PodResourcesOptions{})))
	}
	return sum
}

// limitsExceed reports whether limits would leave the pod no room.
func (s Situation) limitsExceed(n *v1.Node) bool {
	limits := func(p *v1.Pod) amount {
		a, b := amountOf(resource.PodLimits(p, resource.PodResourcesOptions{})), amountOf(resource.PodRequests(p, resource.PodResourcesOptions{}))
		return amount{max(a.cpu, b.cpu), max(a.memory, b.memory)}
	}
	sum := limits(s.Pod)
	for _, p := range s.on(n.Name) {
		sum = sum.plus(limits(p))
	}
	return sum.exceeds(amountOf(n.Status.Allocatable))
}

// The taint is PreferNoSchedule.
func (s Situation) prefersNot(n *v1.Node) bool {
	_, untolerated := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, s.Pod.Spec.Tolerations,
		func(t *v1.Taint) bool { return t.Effect == v1.TaintEffectPreferNoSchedule }, true)
	return untolerated
}

// tolerated reports whether the node has a taint that the pod tolerates.
func (s Situation) tolerated(n *v1.Node) bool {
	return n != nil && slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool {
		return corev1helpers.TolerationsTolerateTaint(klog.Background(), s.Pod.Spec.Tolerations, &t, true)
	})
}

// outranks reports whether the scheduler rejected the node although it has pods of a lower
// priority.
func (s Situation) outranks(n *v1.Node) bool {
	return !s.feasible(n.Name) && slices.ContainsFunc(s.on(n.Name), func(p *v1.Pod) bool {
		return corev1helpers.PodPriority(p) < corev1helpers.PodPriority(s.Pod)
	})
}

// missesPreference reports whether the node lacks something that the pod prefers: labels,
// neighbours, or an even spread.
func (s Situation) missesPreference(n *v1.Node) bool {
	for _, c := range s.Pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == v1.ScheduleAnyway {
			return true
		}
	}
	a := s.Pod.Spec.Affinity
	if a == nil {
		return false
	}
	if a.NodeAffinity != nil {
		if terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution); err == nil && terms.Score(n) == 0 &&
			len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 {
			return true
		}
	}
	if a.PodAffinity != nil && len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 && !s.near(n, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) {
		return true
	}
	return a.PodAntiAffinity != nil && s.near(n, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
}

// near reports whether a pod that one of the terms selects runs in the node's domain.
func (s Situation) near(n *v1.Node, terms []v1.WeightedPodAffinityTerm) bool {
	for _, t := range terms {
		selector, err := labelSelector(t.PodAffinityTerm)
		if err != nil {
			continue
		}
		domain, has := n.Labels[t.PodAffinityTerm.TopologyKey]
		for _, p := range s.Pods {
			other := s.node(p.Spec.NodeName)
			if has && other != nil && other.Labels[t.PodAffinityTerm.TopologyKey] == domain && selector.Matches(labels.Set(p.Labels)) {
				return true
			}
		}
	}
	return false
}

func labelSelector(t v1.PodAffinityTerm) (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(t.LabelSelector)
}
