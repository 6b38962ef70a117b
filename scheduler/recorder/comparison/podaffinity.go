package comparison

import (
	"iter"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// comparePodAffinity is InterPodAffinity's. Nearest are the nodes from which
// anti-affinity keeps the pod, because pods may go: first those with the fewest such
// pods in the domain. Farther are the nodes that lack a pod for affinity, by the number
// of terms.
func comparePodAffinity(h fwk.Handle) begin {
	return func(state fwk.CycleState, pod *v1.Pod) recorder.Comparing {
		c := &podAffinity{handle: h, pod: pod, of: state, examples: map[domainTerm]example{}, left: mostExamined}
		if c.known = upstream.PodAffinityOf(state); c.known == nil {
			return nil
		}
		return c
	}
}

// mostExamined bounds the pods that a cycle's comparisons look at to find one for which
// anti-affinity keeps the pod off a node.
const mostExamined = 10_000

type podAffinity struct {
	handle fwk.Handle
	pod    *v1.Pod
	// of is the state that known was read from.
	of    fwk.CycleState
	known *upstream.PodAffinity
	// examples are the pods found so far. A pod in a domain serves all its nodes.
	examples map[domainTerm]example
	// left is how many more pods may be examined.
	left int
	// keys are those of known.Repelling, once they are known.
	keys []string
}

// domainTerm is a domain, and one of the pod's anti-affinity terms by its index; -1
// stands for the terms of running pods.
type domainTerm struct {
	key, value string
	term       int
}

// example is a running pod and the term, its own or that of the pod, for which the two
// may not share a domain. Both are nil if none was found.
type example struct {
	pod  *v1.Pod
	term *fwk.AffinityTerm
}

// in returns what the plugin knows in a state.
func (c *podAffinity) in(state fwk.CycleState) *upstream.PodAffinity {
	if state == c.of {
		return c.known
	}
	return upstream.PodAffinityOf(state)
}

func (c *podAffinity) Distance(state fwk.CycleState, node fwk.NodeInfo, rejection *fwk.Status) float64 {
	known := c.in(state)
	if known == nil {
		return 0
	}
	if rejection.Code() == fwk.UnschedulableAndUnresolvable { // only affinity rejects like that
		unmet := 0
		for range unmetAffinity(known, c.pod, node) {
			unmet++
		}
		return float64(1 + unmet)
	}
	pods := int64(0)
	for _, term := range known.AntiAffinity {
		n, _ := known.Repelled.In(node.Node(), term.TopologyKey)
		pods += n
	}
	if !known.Repelling.Empty() {
		for key := range node.Node().Labels {
			n, _ := known.Repelling.In(node.Node(), key)
			pods += n
		}
	}
	return fewestAndSmallest(0, float64(max(pods, 1)))
}

// Compare fills in the terms of the first rule that the node fails, at which the plugin
// stops: affinity, anti-affinity, and the anti-affinity of running pods.
func (c *podAffinity) Compare(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	known := c.in(state)
	if known == nil {
		return false
	}
	var terms []result.PodTermComparison
	for term := range unmetAffinity(known, c.pod, node) {
		terms = append(terms, podTerm("affinity", node, term, nil))
	}
	if len(terms) == 0 {
		terms = c.antiAffinity(known, node)
	}
	if len(terms) == 0 {
		terms = c.existingAntiAffinity(known, node)
	}
	if len(terms) == 0 {
		return false
	}
	out.PodTerms = terms
	return true
}

// Passed fills in the pod's terms, and the topology keys of the anti-affinity terms of
// running pods, of which the node's domains have none.
func (c *podAffinity) Passed(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	known := c.in(state)
	if known == nil {
		return false
	}
	for range unmetAffinity(known, c.pod, node) {
		return false
	}
	add := func(rule string, terms []fwk.AffinityTerm, pods func(*fwk.AffinityTerm) int64) {
		for i := range terms {
			term := podTerm(rule, node, &terms[i], nil)
			term.Pods = pods(&terms[i])
			term.First = rule == "affinity" && term.Pods == 0
			out.PodTerms = append(out.PodTerms, term)
		}
	}
	add("affinity", known.Affinity, func(term *fwk.AffinityTerm) int64 {
		pods, _ := known.Affine.In(node.Node(), term.TopologyKey)
		// The plugin counts a pod once for each term over the key.
		times := int64(0)
		for i := range known.Affinity {
			if known.Affinity[i].TopologyKey == term.TopologyKey {
				times++
			}
		}
		return pods / times
	})
	if len(known.LocalAffinity) > 0 {
		here := int64(0)
		for _, on := range node.GetPods() {
			if matchesAll(known.LocalAffinity, on.GetPod()) {
				here++
			}
		}
		add("affinity", known.LocalAffinity, func(*fwk.AffinityTerm) int64 { return here })
	}
	none := func(*fwk.AffinityTerm) int64 { return 0 }
	add("antiAffinity", known.AntiAffinity, none)
	add("antiAffinity", known.LocalAntiAffinity, none)
	for _, key := range c.repelling() {
		if domain := label(node.Node(), key); domain != nil {
			out.PodTerms = append(out.PodTerms, result.PodTermComparison{Rule: "existingAntiAffinity", TopologyKey: key, Domain: domain})
		}
	}
	return true
}

// repelling returns the topology keys of running pods' anti-affinity terms that match
// the pod. There may be as many domains as nodes, so it looks once.
func (c *podAffinity) repelling() []string {
	if c.keys == nil {
		c.keys = c.known.Repelling.Keys()
	}
	return c.keys
}

// unmetAffinity yields the affinity terms in whose domain no pod matches all of the
// pod's terms.
func unmetAffinity(known *upstream.PodAffinity, pod *v1.Pod, node fwk.NodeInfo) iter.Seq[*fwk.AffinityTerm] {
	terms, met := known.Affinity, func(term *fwk.AffinityTerm) bool {
		pods, _ := known.Affine.In(node.Node(), term.TopologyKey)
		return pods > 0
	}
	if len(known.LocalAffinity) > 0 {
		here := anyMatchesAll(known.LocalAffinity, node)
		terms, met = known.LocalAffinity, func(*fwk.AffinityTerm) bool { return here }
	}
	// The first of a group of pods that have affinity to each other may go to any node
	// that has the labels.
	first := known.Affine.Empty() && known.LocallyAffine <= 0 && matchesAll(terms, pod)
	return func(yield func(*fwk.AffinityTerm) bool) {
		for i := range terms {
			_, labelled := node.Node().Labels[terms[i].TopologyKey]
			if (!labelled || !first && !met(&terms[i])) && !yield(&terms[i]) {
				return
			}
		}
	}
}

func anyMatchesAll(terms []fwk.AffinityTerm, node fwk.NodeInfo) bool {
	for _, on := range node.GetPods() {
		if matchesAll(terms, on.GetPod()) {
			return true
		}
	}
	return false
}

// matchesAll reports whether a pod matches all terms of the pod that is scheduled, of
// which there is at least one. Those list the namespaces that they select.
func matchesAll(terms []fwk.AffinityTerm, pod *v1.Pod) bool {
	for i := range terms {
		if !terms[i].Matches(pod, nil) {
			return false
		}
	}
	return len(terms) > 0
}

// antiAffinity returns the pod's anti-affinity terms that a pod in the node's domain
// matches.
func (c *podAffinity) antiAffinity(known *upstream.PodAffinity, node fwk.NodeInfo) []result.PodTermComparison {
	var out []result.PodTermComparison
	for i := range known.AntiAffinity {
		term := &known.AntiAffinity[i]
		if pods, _ := known.Repelled.In(node.Node(), term.TopologyKey); pods <= 0 {
			continue
		}
		// The terms over one topology key share a count, so it may be of another term.
		if found := c.matching(i, term, node); found != nil || c.left <= 0 && alone(known.AntiAffinity, i) {
			out = append(out, podTerm("antiAffinity", node, term, found))
		}
	}
	for i := range known.LocalAntiAffinity {
		term := &known.LocalAntiAffinity[i]
		if _, labelled := node.Node().Labels[term.TopologyKey]; !labelled {
			continue
		}
		if found := c.matchingOn(term, node); found != nil {
			out = append(out, podTerm("antiAffinity", node, term, found))
		}
	}
	return out
}

// alone reports whether no other term has the topology key of terms[i].
func alone(terms []fwk.AffinityTerm, i int) bool {
	for j := range terms {
		if j != i && terms[j].TopologyKey == terms[i].TopologyKey {
			return false
		}
	}
	return true
}

// matching returns a pod in the node's domain that matches one of the pod's terms, or
// nil if there is none or the search was given up.
func (c *podAffinity) matching(i int, term *fwk.AffinityTerm, node fwk.NodeInfo) *v1.Pod {
	return c.example(domainTerm{term.TopologyKey, node.Node().Labels[term.TopologyKey], i}, node, func(on fwk.NodeInfo) example {
		return example{c.matchingOn(term, on), term}
	}).pod
}

func (c *podAffinity) matchingOn(term *fwk.AffinityTerm, node fwk.NodeInfo) *v1.Pod {
	for _, on := range node.GetPods() {
		if c.left--; term.Matches(on.GetPod(), nil) {
			return on.GetPod()
		}
	}
	return nil
}

// existingAntiAffinity returns anti-affinity terms of running pods that match the pod,
// one for each domain of the node.
func (c *podAffinity) existingAntiAffinity(known *upstream.PodAffinity, node fwk.NodeInfo) []result.PodTermComparison {
	var out []result.PodTermComparison
	for _, key := range slices.Sorted(maps.Keys(node.Node().Labels)) {
		if known.Local && key == v1.LabelHostname {
			if e := c.repellingOn(known.NamespaceLabels, key, node); e.pod != nil {
				out = append(out, podTerm("existingAntiAffinity", node, e.term, e.pod))
			}
			continue
		}
		if pods, _ := known.Repelling.In(node.Node(), key); pods <= 0 {
			continue
		}
		e := c.example(domainTerm{key, node.Node().Labels[key], -1}, node, func(on fwk.NodeInfo) example {
			return c.repellingOn(known.NamespaceLabels, key, on)
		})
		if e.term == nil {
			e.term = &fwk.AffinityTerm{TopologyKey: key, Selector: labels.Everything()}
		}
		out = append(out, podTerm("existingAntiAffinity", node, e.term, e.pod))
	}
	return out
}

// repellingOn returns a pod on a node with a required anti-affinity term over
// topologyKey that matches the pod.
func (c *podAffinity) repellingOn(namespaceLabels labels.Set, topologyKey string, node fwk.NodeInfo) example {
	for _, on := range node.GetPodsWithRequiredAntiAffinity() {
		c.left--
		terms := on.GetRequiredAntiAffinityTerms()
		for i := range terms {
			if terms[i].TopologyKey == topologyKey && terms[i].Matches(c.pod, namespaceLabels) {
				return example{on.GetPod(), &terms[i]}
			}
		}
	}
	return example{}
}

// example looks for an example on node and then on the other nodes of its domain, until
// the cycle's bound is reached.
func (c *podAffinity) example(at domainTerm, node fwk.NodeInfo, on func(fwk.NodeInfo) example) example {
	if found := on(node); found.pod != nil {
		return found // It may be a nominated pod, which counts for this node only.
	}
	if known, ok := c.examples[at]; ok {
		return known
	}
	var found example
	if nodes, err := c.candidates(at); err == nil {
		for i := 0; i < len(nodes) && found.pod == nil && c.left > 0; i++ {
			if value, ok := nodes[i].Node().Labels[at.key]; ok && value == at.value {
				found = on(nodes[i])
			}
		}
	}
	c.examples[at] = found
	return found
}

// candidates returns the nodes on which there may be an example.
func (c *podAffinity) candidates(at domainTerm) ([]fwk.NodeInfo, error) {
	nodes := c.handle.SnapshotSharedLister().NodeInfos()
	if at.term < 0 {
		return nodes.HavePodsWithRequiredAntiAffinityList()
	}
	return nodes.List()
}

func podTerm(rule string, node fwk.NodeInfo, term *fwk.AffinityTerm, met *v1.Pod) result.PodTermComparison {
	out := result.PodTermComparison{
		Rule: rule, TopologyKey: term.TopologyKey, Domain: label(node.Node(), term.TopologyKey), Selector: term.Selector.String(),
	}
	if met != nil {
		out.Pod = &result.Pod{Namespace: met.Namespace, Name: met.Name, UID: met.UID}
	}
	return out
}
