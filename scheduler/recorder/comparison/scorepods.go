package comparison

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// scoreSpread is PodTopologySpread's.
func scoreSpread(args runtime.Object) facts {
	own, _ := args.(*config.PodTopologySpreadArgs)
	system := own == nil || own.DefaultingType == config.SystemDefaulting
	return func(state fwk.CycleState, pod *v1.Pod, scored recorder.Scored) *result.PluginScoreFacts {
		known, ok := upstream.SpreadScoringOf(state)
		if !ok {
			return nil
		}
		out := &result.SpreadScore{Source: spreadSource(pod, system)}
		out.Lowest, out.Highest = extremes(scored, known)
		if known.Ignored.Len() > 0 {
			out.Ignored = make([]bool, len(scored.Nodes))
			for at, node := range scored.Nodes {
				out.Ignored[at] = known.Ignored.Has(node.Node().Name)
			}
		}
		for i, c := range known.Constraints {
			said := result.ScoredConstraint{
				TopologyKey: c.TopologyKey, MaxSkew: int64(c.MaxSkew), Selector: c.Selector.String(), Domains: int64(len(known.Counts[i])),
				Domain: make([]*string, len(scored.Nodes)), Matching: make([]int64, len(scored.Nodes)),
			}
			if c.TopologyKey == v1.LabelHostname {
				said.Domains = int64(scored.Count - known.Ignored.Len())
			}
			for at, node := range scored.Nodes {
				said.Domain[at] = label(node.Node(), c.TopologyKey)
				switch {
				case said.Domain[at] == nil:
				case c.TopologyKey == v1.LabelHostname:
					said.Matching[at] = matchingPods(node, c.Selector, pod.Namespace)
				default:
					if counted := known.Counts[i][*said.Domain[at]]; counted != nil {
						said.Matching[at] = *counted
					}
				}
			}
			out.Constraints = append(out.Constraints, said)
		}
		return &result.PluginScoreFacts{Spread: out}
	}
}

// spreadSource says where the constraints come from: a pod without any of its own has
// the defaults.
func spreadSource(pod *v1.Pod, system bool) string {
	switch {
	case len(pod.Spec.TopologySpreadConstraints) > 0:
		return "pod"
	case system:
		return "system"
	}
	return "default"
}

// extremes returns the lowest and the highest raw score of the nodes that are not
// ignored, or 0 when there are none.
func extremes(scored recorder.Scored, known upstream.SpreadScoring) (lowest, highest int64) {
	first := true
	for name, raw := range scored.All {
		if known.Ignored.Len() > 0 && known.Ignored.Has(name) {
			continue
		}
		if first || raw < lowest {
			lowest = raw
		}
		highest = max(highest, raw)
		first = false
	}
	return lowest, highest
}

// matchingPods counts the pods of a node as the plugin does: terminating ones do not
// count, and an empty selector selects none.
func matchingPods(node fwk.NodeInfo, selector labels.Selector, namespace string) int64 {
	if selector.Empty() {
		return 0
	}
	n := int64(0)
	for _, p := range node.GetPods() {
		pod := p.GetPod()
		if pod.DeletionTimestamp == nil && pod.Namespace == namespace && selector.Matches(labels.Set(pod.Labels)) {
			n++
		}
	}
	return n
}

// mostTermPods bounds the pods whose terms a cycle counts again, times the pod's own terms. A check
// takes about a tenth of a microsecond. Beyond the bound, the facts have only the plugin's sums.
const mostTermPods = 512

// scorePodTerms is InterPodAffinity's.
func scorePodTerms(args runtime.Object, h fwk.Handle) facts {
	own, _ := args.(*config.InterPodAffinityArgs)
	if own == nil {
		return nothingKnown
	}
	return func(state fwk.CycleState, pod *v1.Pod, scored recorder.Scored) *result.PluginScoreFacts {
		known, ok := upstream.PodAffinityScoringOf(state)
		if !ok {
			return nil
		}
		out := &result.PodTermScore{HardWeight: int64(own.HardPodAffinityWeight), Domains: []result.ScoredDomain{}}
		for _, key := range slices.Sorted(maps.Keys(known.Sums)) {
			d := result.ScoredDomain{TopologyKey: key, Domain: make([]*string, len(scored.Nodes)), Sum: make([]int64, len(scored.Nodes))}
			for at, node := range scored.Nodes {
				if d.Domain[at] = label(node.Node(), key); d.Domain[at] != nil {
					d.Sum[at] = known.Sums[key][*d.Domain[at]]
				}
			}
			out.Domains = append(out.Domains, d)
		}
		counts := &termCounts{PodAffinityScoring: known, pod: pod, hard: own.HardPodAffinityWeight, nodes: scored.Nodes}
		out.Terms = counts.count(h)
		return &result.PluginScoreFacts{PodTerms: out}
	}
}

type termCounts struct {
	upstream.PodAffinityScoring
	pod   *v1.Pod
	hard  int32
	nodes []fwk.NodeInfo

	terms []countedTerm
	// domains are the nodes' values of topology keys; nil for a node without the label.
	domains map[string][]*string
}

// countedTerm keeps a term's source: comparing pointers is much faster than writing a selector.
type countedTerm struct {
	result.ScoredPodTerm
	term *fwk.AffinityTerm
}

// count returns nil when there is too much to count.
func (c *termCounts) count(h fwk.Handle) []result.ScoredPodTerm {
	// Pods without terms count only if the pod has preferences.
	list, podsOf := h.SnapshotSharedLister().NodeInfos().HavePodsWithAffinityList, fwk.NodeInfo.GetPodsWithAffinity
	own := len(c.Pod.GetPreferredAffinityTerms()) + len(c.Pod.GetPreferredAntiAffinityTerms())
	if own > 0 {
		list, podsOf = h.SnapshotSharedLister().NodeInfos().List, fwk.NodeInfo.GetPods
	}
	all, err := list()
	if err != nil {
		return nil
	}
	left := mostTermPods / max(own, 1)
	for _, node := range all {
		if left -= len(podsOf(node)); left < 0 {
			return nil
		}
	}
	c.domains = map[string][]*string{}
	for _, node := range all {
		if len(node.Node().Labels) == 0 {
			continue
		}
		for _, existing := range podsOf(node) {
			c.add(existing, node.Node())
		}
	}
	out := make([]result.ScoredPodTerm, len(c.terms))
	for i, t := range c.terms {
		out[i] = t.ScoredPodTerm
	}
	return out
}

func (c *termCounts) add(existing fwk.PodInfo, on *v1.Node) {
	c.addPreferred(c.Pod.GetPreferredAffinityTerms(), 1, result.Preferred, existing.GetPod(), nil, on)
	c.addPreferred(c.Pod.GetPreferredAntiAffinityTerms(), -1, result.Preferred, existing.GetPod(), nil, on)
	if c.hard > 0 {
		required := existing.GetRequiredAffinityTerms()
		for i := range required {
			c.addTerm(&required[i], int64(c.hard), result.ExistingRequired, c.pod, c.NamespaceLabels, on)
		}
	}
	c.addPreferred(existing.GetPreferredAffinityTerms(), 1, result.ExistingPreferred, c.pod, c.NamespaceLabels, on)
	c.addPreferred(existing.GetPreferredAntiAffinityTerms(), -1, result.ExistingPreferred, c.pod, c.NamespaceLabels, on)
}

func (c *termCounts) addPreferred(terms []fwk.WeightedAffinityTerm, sign int64, rule string, selected *v1.Pod, namespace labels.Set, on *v1.Node) {
	for i := range terms {
		c.addTerm(&terms[i].AffinityTerm, sign*int64(terms[i].Weight), rule, selected, namespace, on)
	}
}

func (c *termCounts) addTerm(term *fwk.AffinityTerm, weight int64, rule string, selected *v1.Pod, namespace labels.Set, on *v1.Node) {
	domain, labelled := on.Labels[term.TopologyKey]
	if !labelled || !term.Matches(selected, namespace) {
		return
	}
	pods := c.podsOf(term, weight, rule)
	for i, own := range c.domainsOf(term.TopologyKey) {
		if own != nil && *own == domain {
			pods[i]++
		}
	}
}

// podsOf returns the counts of a term. Equal terms of several running pods share them.
func (c *termCounts) podsOf(term *fwk.AffinityTerm, weight int64, rule string) []int64 {
	for i := range c.terms {
		if c.terms[i].term == term {
			return c.terms[i].Pods
		}
	}
	selector := term.Selector.String()
	if rule != result.Preferred {
		for i := range c.terms {
			if t := &c.terms[i]; t.Rule == rule && t.TopologyKey == term.TopologyKey && t.Weight == weight && t.Selector == selector {
				return t.Pods
			}
		}
	}
	c.terms = append(c.terms, countedTerm{term: term, ScoredPodTerm: result.ScoredPodTerm{
		Rule: rule, TopologyKey: term.TopologyKey, Weight: weight, Selector: selector, Pods: make([]int64, len(c.nodes)),
	}})
	return c.terms[len(c.terms)-1].Pods
}

func (c *termCounts) domainsOf(key string) []*string {
	if found, ok := c.domains[key]; ok {
		return found
	}
	out := make([]*string, len(c.nodes))
	for i, node := range c.nodes {
		out[i] = label(node.Node(), key)
	}
	c.domains[key] = out
	return out
}
