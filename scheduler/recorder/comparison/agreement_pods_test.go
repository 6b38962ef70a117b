package comparison

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/result"
)

func TestPodAffinityAgreesWithThePlugin(t *testing.T) {
	agreement{
		plugin: names.InterPodAffinity, clusters: 4000,
		generate: affinityCluster,
		verify:   verifyPodAffinity,
		passed:   verifyPassedPods,
	}.test(t)
}

// affine gives a pod labels, and random affinity and anti-affinity to others.
func affine(r random, p *v1.Pod) *v1.Pod {
	p.Namespace = one(r, "default", "default", "other")
	p.Labels = map[string]string{"app": one(r, "web", "db", "log"), "tier": one(r, "1", "2")}
	terms := func(chance int) (out []v1.PodAffinityTerm) {
		for r.in(chance) && len(out) < 3 {
			term := v1.PodAffinityTerm{
				TopologyKey:   one(r, v1.LabelTopologyZone, v1.LabelHostname, v1.LabelHostname, "rack"),
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": one(r, "web", "db")}},
			}
			switch r.IntN(5) {
			case 0:
				term.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "1"}}
			case 1:
				term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: one(r, nil, map[string]string{"team": "b"})}
			case 2:
				term.Namespaces = []string{"other"}
			}
			out = append(out, term)
		}
		return out
	}
	p.Spec.Affinity = &v1.Affinity{
		PodAffinity:     &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(2)},
		PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(3)},
	}
	return p
}

// verifyPodAffinity judges by the meaning of the terms: it looks at all pods of all
// nodes.
func verifyPodAffinity(s *subject, a answer) error {
	reasons := map[string]string{
		"affinity": interpodaffinity.ErrReasonAffinityRulesNotMatch, "antiAffinity": interpodaffinity.ErrReasonAntiAffinityRulesNotMatch,
		"existingAntiAffinity": interpodaffinity.ErrReasonExistingAntiAffinityRulesNotMatch,
	}
	world := &meaning{s: s, a: a}
	// The pods that anti-affinity keeps apart may go, so such nodes are nearer.
	if far := a.found.PodTerms[0].Rule == "affinity"; far != (a.distance >= 2) || !far && (a.distance <= 0 || a.distance >= 1) {
		return fmt.Errorf("the distance is %v", a.distance)
	}
	for _, found := range a.found.PodTerms {
		if a.status.Reasons()[0] != reasons[found.Rule] {
			return fmt.Errorf("it names a term of %s", found.Rule)
		}
		if err := world.check(found); err != nil {
			return fmt.Errorf("%s %s: %w", found.Rule, found.TopologyKey, err)
		}
	}
	for _, term := range s.cluster.pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if a.found.PodTerms[0].Rule == "affinity" && world.lacks(term) && !slices.ContainsFunc(a.found.PodTerms, func(f result.PodTermComparison) bool { return f.TopologyKey == term.TopologyKey }) {
			return fmt.Errorf("it does not name the term over %s", term.TopologyKey)
		}
	}
	return nil
}

// verifyPassedPods counts the pods of each term again.
func verifyPassedPods(s *subject, a answer) error {
	world := &meaning{s: s, a: a}
	named := map[string]int{}
	for _, found := range a.passed.PodTerms {
		named[found.Rule]++
		if found.Rule != "affinity" {
			continue
		}
		if found.First {
			if err := world.checkMatch(found); err != nil {
				return err
			}
		}
		running := world.running(found.TopologyKey)
		pods := len(slices.DeleteFunc(slices.Clone(running), func(p *v1.Pod) bool { return !world.matchesAll(p) }))
		if found.Pods != int64(pods) {
			return fmt.Errorf("%d pods in the domain match, it counts %d", pods, found.Pods)
		}
	}
	own := s.cluster.pod.Spec.Affinity
	for rule, terms := range map[string][]v1.PodAffinityTerm{
		"affinity":     own.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		"antiAffinity": own.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
	} {
		if named[rule] != len(terms) {
			return fmt.Errorf("of %d terms of %s it names %d", len(terms), rule, named[rule])
		}
	}
	return nil
}

// meaning is what terms mean in a cluster, for one node.
type meaning struct {
	s *subject
	a answer
}

// running returns the pods in the node's domain, and all pods for the empty key.
func (m *meaning) running(key string) []*v1.Pod {
	var out []*v1.Pod
	in := func(n *v1.Node) bool {
		value, ok := n.Labels[key]
		own, labelled := m.a.node.Node().Labels[key]
		return key == "" || ok && labelled && value == own
	}
	for _, n := range m.s.cluster.nodes {
		for _, p := range m.s.cluster.placed {
			if p.Spec.NodeName == n.Name && in(n) {
				out = append(out, p)
			}
		}
		if m.s.isNominated(m.a.node) && n.Name == m.a.node.Node().Name && in(n) {
			out = append(out, m.s.cluster.nominated)
		}
	}
	return out
}

// selects reports whether a term of owner selects a pod.
func (m *meaning) selects(owner *v1.Pod, term v1.PodAffinityTerm, p *v1.Pod) bool {
	inNamespace := slices.Contains(term.Namespaces, p.Namespace)
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		inNamespace = owner.Namespace == p.Namespace
	}
	if term.NamespaceSelector != nil {
		for _, o := range m.s.cluster.objects {
			if ns := o.(*v1.Namespace); ns.Name == p.Namespace && selects(term.NamespaceSelector, ns.Labels) {
				inNamespace = true
			}
		}
	}
	return inNamespace && selects(term.LabelSelector, p.Labels)
}

func selects(by *metav1.LabelSelector, of map[string]string) bool {
	s, err := metav1.LabelSelectorAsSelector(by)
	return err == nil && s.Matches(labels.Set(of))
}

// matchesAll reports whether a pod matches all affinity terms of the scheduled pod.
func (m *meaning) matchesAll(p *v1.Pod) bool {
	for _, term := range m.s.cluster.pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if !m.selects(m.s.cluster.pod, term, p) {
			return false
		}
	}
	return true
}

// lacks reports whether an affinity term keeps the pod off the node.
func (m *meaning) lacks(term v1.PodAffinityTerm) bool {
	if _, labelled := m.a.node.Node().Labels[term.TopologyKey]; !labelled {
		return true
	}
	if slices.ContainsFunc(m.running(term.TopologyKey), m.matchesAll) {
		return false
	}
	return !m.matchesAll(m.s.cluster.pod) || m.groupRuns()
}

// groupRuns reports whether a pod that matches all terms runs in any domain of any of
// them.
func (m *meaning) groupRuns() bool {
	for _, n := range m.s.cluster.nodes {
		for _, term := range m.s.cluster.pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			if _, labelled := n.Labels[term.TopologyKey]; !labelled && !m.anywhere() {
				continue
			}
			onNode := &meaning{m.s, m.a}
			for _, p := range onNode.running("") {
				if (p.Spec.NodeName == n.Name || p == m.s.cluster.nominated && m.a.node.Node().Name == n.Name) && m.matchesAll(p) {
					return true
				}
			}
		}
	}
	return false
}

// anywhere is true if the plugin counts the pods of the group wherever they run: with
// terms over hostnames only and the fast path. Otherwise only those in a domain count.
func (m *meaning) anywhere() bool {
	if !m.s.cluster.gates[features.InterPodAffinityHostnameFastPath] {
		return false
	}
	return !slices.ContainsFunc(m.s.cluster.pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(term v1.PodAffinityTerm) bool {
		return term.TopologyKey != v1.LabelHostname
	})
}

func (m *meaning) check(found result.PodTermComparison) error {
	value, labelled := m.a.node.Node().Labels[found.TopologyKey]
	if labelled != (found.Domain != nil) || labelled && value != *found.Domain {
		return fmt.Errorf("the node is in another domain")
	}
	own := m.s.cluster.pod
	has := func(of []v1.PodAffinityTerm, holds func(v1.PodAffinityTerm) bool) error {
		if !slices.ContainsFunc(of, func(term v1.PodAffinityTerm) bool {
			s, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
			return err == nil && term.TopologyKey == found.TopologyKey && s.String() == found.Selector && holds(term) &&
				(found.NamespaceSelector != nil) == (term.NamespaceSelector != nil) && (len(term.Namespaces) == 0 || slices.Equal(term.Namespaces, found.Namespaces))
		}) {
			return fmt.Errorf("no term says so")
		}
		return nil
	}
	if found.Rule == "affinity" {
		if err := m.checkMatch(found); err != nil {
			return err
		}
		return has(own.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, m.lacks)
	}
	i := slices.IndexFunc(m.running(found.TopologyKey), func(p *v1.Pod) bool { return found.Pod != nil && p.UID == found.Pod.UID })
	if i < 0 {
		return fmt.Errorf("pod %v is not in the domain", found.Pod)
	}
	other := m.running(found.TopologyKey)[i]
	if found.PodNode != other.Spec.NodeName && other != m.s.cluster.nominated {
		return fmt.Errorf("%s runs on %s, it says %s", other.Name, other.Spec.NodeName, found.PodNode)
	}
	if found.Rule == "antiAffinity" {
		return has(own.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(term v1.PodAffinityTerm) bool { return m.selects(own, term, other) })
	}
	return has(other.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(term v1.PodAffinityTerm) bool { return m.selects(other, term, own) })
}

// checkMatch looks at every pod of the cluster for those that match the pod's affinity.
func (m *meaning) checkMatch(found result.PodTermComparison) error {
	own := m.s.cluster.pod
	terms := own.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if found.Terms != len(terms) {
		return fmt.Errorf("the pod has %d terms, it says %d", len(terms), found.Terms)
	}
	one := func(p *v1.Pod) bool {
		return slices.ContainsFunc(terms, func(term v1.PodAffinityTerm) bool {
			s, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
			return err == nil && term.TopologyKey == found.TopologyKey && s.String() == found.Selector && m.selects(own, term, p)
		})
	}
	every := func(p *v1.Pod) bool {
		return !slices.ContainsFunc(terms, func(term v1.PodAffinityTerm) bool {
			s, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
			return err == nil && term.TopologyKey == found.TopologyKey && s.String() == found.Selector && !m.selects(own, term, p)
		})
	}
	some, all := slices.ContainsFunc(m.s.cluster.placed, every), slices.ContainsFunc(m.s.cluster.placed, m.matchesAll)
	switch match := found.Match; {
	case match == nil && !found.NoneMatches:
		return fmt.Errorf("it does not say which pod matches")
	case match == nil && some:
		return fmt.Errorf("a pod matches the term, it says none")
	case match == nil:
		return nil
	case match.All != all:
		return fmt.Errorf("a pod matches all terms: %v, it says %v", all, match.All)
	}
	at := slices.IndexFunc(m.s.cluster.placed, func(p *v1.Pod) bool { return p.UID == found.Match.Pod.UID })
	if at < 0 || m.s.cluster.placed[at].Spec.NodeName != found.Match.Node {
		return fmt.Errorf("%v does not run there", found.Match)
	}
	p := m.s.cluster.placed[at]
	if found.Match.All && !m.matchesAll(p) || !one(p) {
		return fmt.Errorf("%s does not match", p.Name)
	}
	return nil
}

// affinityCluster generates clusters of pods with affinity and anti-affinity.
func affinityCluster(r random) *cluster {
	c := &cluster{gates: gates(r, features.InterPodAffinityHostnameFastPath), nodes: labelledNodes(r, 6), args: &config.InterPodAffinityArgs{HardPodAffinityWeight: 1}}
	for name, team := range map[string]string{"default": "a", "other": "b"} {
		c.objects = append(c.objects, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": team}}})
	}
	c.pod = affine(r, pod("p", ""))
	density := one(r, 2, 2, 4)
	for i, n := range c.nodes {
		for j := range r.IntN(density) {
			c.placed = append(c.placed, affine(r, pod(fmt.Sprint("on-", i, "-", j), n.Name)))
		}
	}
	if r.in(3) {
		c.nominated = affine(r, pod("nominated", ""))
		c.nominated.Status.NominatedNodeName = one(r, c.nodes...).Name
	}
	return c
}

// The search for a pod that is in the way ends after some pods. The comparison then
// names the domain, and the term if there is only one that it can be.
func TestTheSearchForAPodInTheWayIsBounded(t *testing.T) {
	term := func(app string) v1.PodAffinityTerm {
		return v1.PodAffinityTerm{TopologyKey: v1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
	}
	c := &cluster{args: &config.InterPodAffinityArgs{HardPodAffinityWeight: 1}, pod: pod("p", "")}
	for i := range 2 {
		c.nodes = append(c.nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: map[string]string{v1.LabelTopologyZone: "z"}}})
	}
	other := pod("other", "n1")
	other.Labels["app"] = "db"
	c.placed = []*v1.Pod{pod("a", "n0"), pod("b", "n0"), other}
	for name, tc := range map[string]struct {
		terms []v1.PodAffinityTerm
		left  int
		want  []string
	}{
		"found":                    {[]v1.PodAffinityTerm{term("db"), term("web")}, 100, []string{"app=db other"}},
		"given up":                 {[]v1.PodAffinityTerm{term("db")}, 1, []string{"app=db"}},
		"given up, with two terms": {[]v1.PodAffinityTerm{term("db"), term("web")}, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.pod.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: tc.terms}}
			s := build(t.Context(), t, names.InterPodAffinity, c)
			state, status := s.preFilter(t.Context(), c.pod)
			if !status.IsSuccess() {
				t.Fatal(status)
			}
			comparing := s.comparer.Begin(state, c.pod).(*podAffinity)
			comparing.left = tc.left
			var got []string
			if found := compare(comparing, state, s.nodes(t)[0]); found != nil {
				for _, term := range found.PodTerms {
					said := term.Selector
					if term.Pod != nil {
						said += " " + term.Pod.Name
					}
					got = append(got, said)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
