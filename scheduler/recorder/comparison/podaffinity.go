package comparison

import (
	"iter"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// comparePodAffinity is InterPodAffinity's. Nearest are the nodes from which anti-affinity keeps
// the pod, because pods may go, first those with the fewest such pods in the domain. Next are the
// nodes that lack a pod for affinity, by the number of terms.
func comparePodAffinity(h fwk.Handle) begin {
	return func(state fwk.CycleState, pod *v1.Pod) recorder.Comparing {
		c := &podAffinity{handle: h, pod: pod, of: state, examples: map[domainTerm]example{}, left: mostExamined}
		if c.known = upstream.PodAffinityOf(state); c.known == nil {
			return nil
		}
		return c
	}
}

// mostExamined bounds the pods that a cycle's comparisons examine to find one that conflicts by
// anti-affinity.
const mostExamined = 10_000

type podAffinity struct {
	handle fwk.Handle
	pod    *v1.Pod
	// of is the state that known was read from.
	of    fwk.CycleState
	known *upstream.PodAffinity
	// examples are the pods found so far. A pod in a domain serves all its nodes.
	examples map[domainTerm]example
	left     int
	keys     []string
	// affine are pods that match affinity terms, once they are known.
	affine *affinePods
}

// domainTerm is a domain, and one of the pod's anti-affinity terms by its index; -1
// stands for the terms of running pods.
type domainTerm struct {
	key, value string
	term       int
}

// example is a running pod and the term, its own or that of the scheduled pod, that keeps the two
// apart. Both are nil if none was found. node is where the pod runs or is nominated.
type example struct {
	pod  *v1.Pod
	term *fwk.AffinityTerm
	node string
}

func (e example) in(of result.PodTermComparison) result.PodTermComparison {
	if e.pod != nil {
		pod := podOf(e.pod)
		of.Pod, of.PodNode = &pod, e.node
	}
	return of
}

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
	for i := range unmetAffinity(known, c.pod, node) {
		terms = append(terms, c.affinityTerm(known, node, i))
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
	if state == c.of {
		out.WithoutPods = c.withoutPods(node)
	}
	return true
}

// withoutPods compares the terms with the counts without a node's pods. Removing pods never meets
// affinity, and may leave it unmet.
func (c *podAffinity) withoutPods(node fwk.NodeInfo) result.WithoutPods {
	for range unmetAffinity(c.known, c.pod, node) {
		return result.RejectsWithoutPods
	}
	if terms := affinityTerms(c.known); len(terms) > 0 && c.metOnlyHere(terms, node) {
		if matchesAll(terms, c.pod) {
			return "" // It may become the first of its group.
		}
		return result.RejectsWithoutPods
	}
	for i := range c.known.AntiAffinity {
		key := c.known.AntiAffinity[i].TopologyKey
		pods, _ := c.known.Repelled.In(node.Node(), key)
		for _, on := range node.GetPods() {
			pods -= matchesOver(c.known.AntiAffinity, key, func(term *fwk.AffinityTerm) bool { return term.Matches(on.GetPod(), nil) })
		}
		if pods > 0 {
			return result.RejectsWithoutPods
		}
	}
	if c.known.Repelling.Empty() {
		return result.PassesWithoutPods
	}
	for key := range node.Node().Labels {
		pods, _ := c.known.Repelling.In(node.Node(), key)
		if pods == 0 {
			continue
		}
		for _, on := range node.GetPodsWithRequiredAntiAffinity() {
			pods -= matchesOver(on.GetRequiredAntiAffinityTerms(), key, func(term *fwk.AffinityTerm) bool { return term.Matches(c.pod, c.known.NamespaceLabels) })
		}
		if pods > 0 {
			return result.RejectsWithoutPods
		}
	}
	return result.PassesWithoutPods
}

func (c *podAffinity) metOnlyHere(terms []fwk.AffinityTerm, node fwk.NodeInfo) bool {
	here := int64(0)
	for _, on := range node.GetPods() {
		if matchesAll(terms, on.GetPod()) {
			here++
		}
	}
	for i := range terms {
		pods := int64(0)
		if len(c.known.LocalAffinity) == 0 {
			key := terms[i].TopologyKey
			pods, _ = c.known.Affine.In(node.Node(), key)
			pods -= here * matchesOver(terms, key, func(*fwk.AffinityTerm) bool { return true })
		}
		if pods <= 0 {
			return true
		}
	}
	return false
}

// matchesOver counts the matching terms over a topology key, as the plugin does.
func matchesOver(terms []fwk.AffinityTerm, topologyKey string, matches func(*fwk.AffinityTerm) bool) (n int64) {
	for i := range terms {
		if terms[i].TopologyKey == topologyKey && matches(&terms[i]) {
			n++
		}
	}
	return n
}

// Passed fills in the pod's terms and, for the anti-affinity of running pods, the topology keys,
// because the node's domains have no such pod.
func (c *podAffinity) Passed(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	known := c.in(state)
	if known == nil {
		return false
	}
	for range unmetAffinity(known, c.pod, node) {
		return false
	}
	affinity := func(i int, pods int64) {
		var term result.PodTermComparison
		if pods > 0 {
			term = c.ownTerm("affinity", node, &affinityTerms(known)[i], c.written(false)[i])
			term.Pods, term.Terms = pods, len(affinityTerms(known))
		} else {
			term = c.affinityTerm(known, node, i)
			term.First = true
		}
		out.PodTerms = append(out.PodTerms, term)
	}
	for i := range known.Affinity {
		term := &known.Affinity[i]
		pods, _ := known.Affine.In(node.Node(), term.TopologyKey)
		// The plugin counts a pod once for each term over the key.
		affinity(i, pods/matchesOver(known.Affinity, term.TopologyKey, func(*fwk.AffinityTerm) bool { return true }))
	}
	if len(known.LocalAffinity) > 0 {
		here := int64(0)
		for _, on := range node.GetPods() {
			if matchesAll(known.LocalAffinity, on.GetPod()) {
				here++
			}
		}
		for i := range known.LocalAffinity {
			affinity(i, here)
		}
	}
	for term, written := range c.ownAntiAffinity(known) {
		out.PodTerms = append(out.PodTerms, c.ownTerm("antiAffinity", node, term, written))
	}
	for _, key := range c.repelling() {
		if domain := label(node.Node(), key); domain != nil {
			out.PodTerms = append(out.PodTerms, result.PodTermComparison{Rule: "existingAntiAffinity", TopologyKey: key, Domain: domain})
		}
	}
	return true
}

// repelling returns the topology keys of running pods' anti-affinity terms that match the pod. It
// looks once, because there may be as many domains as nodes.
func (c *podAffinity) repelling() []string {
	if c.keys == nil {
		c.keys = c.known.Repelling.Keys()
	}
	return c.keys
}

// affinityTerms returns all affinity terms, which the plugin compares in the same way.
func affinityTerms(known *upstream.PodAffinity) []fwk.AffinityTerm {
	if len(known.LocalAffinity) > 0 {
		return known.LocalAffinity
	}
	return known.Affinity
}

// written returns the spec's terms of one rule, in the order of the plugin's terms.
func (c *podAffinity) written(anti bool) []v1.PodAffinityTerm {
	switch affinity := c.pod.Spec.Affinity; {
	case anti:
		return affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	default:
		return affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
}

// ownAntiAffinity yields each anti-affinity term as the plugin has it and as the spec has it, first
// those that the plugin compares with its counts.
func (c *podAffinity) ownAntiAffinity(known *upstream.PodAffinity) iter.Seq2[*fwk.AffinityTerm, v1.PodAffinityTerm] {
	return func(yield func(*fwk.AffinityTerm, v1.PodAffinityTerm) bool) {
		if len(known.AntiAffinity)+len(known.LocalAntiAffinity) == 0 {
			return
		}
		for local, terms := range [][]fwk.AffinityTerm{known.AntiAffinity, known.LocalAntiAffinity} {
			next := 0
			for _, written := range c.written(true) {
				if isLocal := known.Local && written.TopologyKey == v1.LabelHostname; isLocal != (local == 1) {
					continue
				}
				if next == len(terms) || !yield(&terms[next], written) {
					return
				}
				next++
			}
		}
	}
}

type affinePods struct {
	// all matches all the terms. each has, by the index of the term, one that matches it.
	all      *podOn
	each     []*podOn
	searched bool
}

type podOn struct {
	pod  *v1.Pod
	node *v1.Node
}

// affinePods looks once, anywhere in the cluster and within the cycle's bound, for pods that match
// the affinity terms.
func (c *podAffinity) affinePods(terms []fwk.AffinityTerm) *affinePods {
	if c.affine != nil {
		return c.affine
	}
	c.affine = &affinePods{each: make([]*podOn, len(terms))}
	nodes, err := c.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return c.affine
	}
	for _, node := range nodes {
		for _, on := range node.GetPods() {
			if c.left <= 0 {
				return c.affine
			}
			c.left--
			all := true
			for i := range terms {
				if !terms[i].Matches(on.GetPod(), nil) {
					all = false
				} else if c.affine.each[i] == nil {
					c.affine.each[i] = &podOn{on.GetPod(), node.Node()}
				}
			}
			if all {
				c.affine.all = &podOn{on.GetPod(), node.Node()}
				return c.affine
			}
		}
	}
	c.affine.searched = true
	return c.affine
}

// affinityTerm compares the i-th affinity term with a node in whose domain no pod matches all
// of them.
func (c *podAffinity) affinityTerm(known *upstream.PodAffinity, node fwk.NodeInfo, i int) result.PodTermComparison {
	terms := affinityTerms(known)
	out := c.ownTerm("affinity", node, &terms[i], c.written(false)[i])
	out.Terms = len(terms)
	pods := c.affinePods(terms)
	found := pods.all
	if found == nil {
		found = pods.each[i]
	}
	switch {
	case found != nil:
		out.Match = &result.PodMatch{
			Pod: podOf(found.pod), Node: found.node.Name, Domain: label(found.node, terms[i].TopologyKey), All: found == pods.all,
		}
	case pods.searched:
		out.NoneMatches = true
	}
	return out
}

// unmetAffinity yields the indexes of the affinity terms in whose domain no pod matches all of the
// pod's terms.
func unmetAffinity(known *upstream.PodAffinity, pod *v1.Pod, node fwk.NodeInfo) iter.Seq[int] {
	terms, met := known.Affinity, func(term *fwk.AffinityTerm) bool {
		pods, _ := known.Affine.In(node.Node(), term.TopologyKey)
		return pods > 0
	}
	if len(known.LocalAffinity) > 0 {
		here := anyMatchesAll(known.LocalAffinity, node)
		terms, met = known.LocalAffinity, func(*fwk.AffinityTerm) bool { return here }
	}
	// The first of a group of pods with affinity to each other may go to any node with the labels.
	first := known.Affine.Empty() && known.LocallyAffine <= 0 && matchesAll(terms, pod)
	return func(yield func(int) bool) {
		for i := range terms {
			_, labelled := node.Node().Labels[terms[i].TopologyKey]
			if (!labelled || !first && !met(&terms[i])) && !yield(i) {
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

// matchesAll reports whether a pod matches all terms, at least one, of the scheduled pod. They list
// the namespaces that they select.
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
	i := -1
	for term, written := range c.ownAntiAffinity(known) {
		i++
		found := example{}
		if i < len(known.AntiAffinity) {
			if pods, _ := known.Repelled.In(node.Node(), term.TopologyKey); pods <= 0 {
				continue
			}
			// Terms over one topology key share a count, so the count may be another term's.
			found = c.matching(i, term, node)
			if found.pod == nil && (c.left > 0 || !alone(known.AntiAffinity, i)) {
				continue
			}
		} else {
			if _, labelled := node.Node().Labels[term.TopologyKey]; !labelled {
				continue
			}
			if found = c.matchingOn(term, node); found.pod == nil {
				continue
			}
		}
		out = append(out, found.in(c.ownTerm("antiAffinity", node, term, written)))
	}
	return out
}

func alone(terms []fwk.AffinityTerm, i int) bool {
	for j := range terms {
		if j != i && terms[j].TopologyKey == terms[i].TopologyKey {
			return false
		}
	}
	return true
}

// matching returns a pod in the node's domain that matches the term, or none if there is none or
// the search gave up.
func (c *podAffinity) matching(i int, term *fwk.AffinityTerm, node fwk.NodeInfo) example {
	return c.example(domainTerm{term.TopologyKey, node.Node().Labels[term.TopologyKey], i}, node, func(on fwk.NodeInfo) example {
		return c.matchingOn(term, on)
	})
}

func (c *podAffinity) matchingOn(term *fwk.AffinityTerm, node fwk.NodeInfo) example {
	for _, on := range node.GetPods() {
		if c.left--; term.Matches(on.GetPod(), nil) {
			return example{pod: on.GetPod(), term: term, node: node.Node().Name}
		}
	}
	return example{}
}

func (c *podAffinity) existingAntiAffinity(known *upstream.PodAffinity, node fwk.NodeInfo) []result.PodTermComparison {
	var out []result.PodTermComparison
	for _, key := range slices.Sorted(maps.Keys(node.Node().Labels)) {
		if known.Local && key == v1.LabelHostname {
			if e := c.repellingOn(known.NamespaceLabels, key, node); e.pod != nil {
				out = append(out, e.in(existingTerm(node, e.term)))
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
			out = append(out, result.PodTermComparison{Rule: "existingAntiAffinity", TopologyKey: key, Domain: label(node.Node(), key)})
			continue
		}
		out = append(out, e.in(existingTerm(node, e.term)))
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
				return example{pod: on.GetPod(), term: &terms[i], node: node.Node().Name}
			}
		}
	}
	return example{}
}

// example looks on node and then on the other nodes of its domain, within the cycle's bound.
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

func (c *podAffinity) candidates(at domainTerm) ([]fwk.NodeInfo, error) {
	nodes := c.handle.SnapshotSharedLister().NodeInfos()
	if at.term < 0 {
		return nodes.HavePodsWithRequiredAntiAffinityList()
	}
	return nodes.List()
}

// The plugin has resolved the namespaces that the term selects, so ownTerm takes these from the
// written term.
func (c *podAffinity) ownTerm(rule string, node fwk.NodeInfo, term *fwk.AffinityTerm, written v1.PodAffinityTerm) result.PodTermComparison {
	out := podTerm(rule, node, term)
	namespaces := written.Namespaces
	if written.NamespaceSelector != nil {
		selector := ""
		if parsed, err := metav1.LabelSelectorAsSelector(written.NamespaceSelector); err == nil {
			selector = parsed.String()
		}
		out.NamespaceSelector = &selector
	} else if len(namespaces) == 0 {
		namespaces = []string{c.pod.Namespace}
	}
	return inNamespaces(out, namespaces)
}

func existingTerm(node fwk.NodeInfo, term *fwk.AffinityTerm) result.PodTermComparison {
	out := podTerm("existingAntiAffinity", node, term)
	// A term without a namespaceSelector has one that selects nothing.
	if _, selects := term.NamespaceSelector.Requirements(); selects {
		selector := term.NamespaceSelector.String()
		out.NamespaceSelector = &selector
	}
	return inNamespaces(out, sets.List(term.Namespaces))
}

func inNamespaces(out result.PodTermComparison, namespaces []string) result.PodTermComparison {
	out.NamespaceCount = len(namespaces)
	out.Namespaces = slices.Clone(namespaces[:min(len(namespaces), result.MaxNamespaces)])
	return out
}

func podTerm(rule string, node fwk.NodeInfo, term *fwk.AffinityTerm) result.PodTermComparison {
	_, selects := term.Selector.Requirements()
	return result.PodTermComparison{
		Rule: rule, TopologyKey: term.TopologyKey, Domain: label(node.Node(), term.TopologyKey), Selector: term.Selector.String(), SelectsNone: !selects,
	}
}

func podOf(pod *v1.Pod) result.Pod {
	return result.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}
