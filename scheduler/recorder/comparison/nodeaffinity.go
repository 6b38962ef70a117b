package comparison

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// compareNodeAffinity is NodeAffinity's. Nearest are the nodes that fail the fewest requirements,
// counting the best alternative.
func compareNodeAffinity(args runtime.Object) begin {
	var added *selector
	if own, ok := args.(*config.NodeAffinityArgs); ok && own.AddedAffinity != nil {
		added = parseSelector(own.AddedAffinity.RequiredDuringSchedulingIgnoredDuringExecution, "addedAffinity")
	}
	return func(_ fwk.CycleState, pod *v1.Pod) recorder.Comparing {
		c := &nodeAffinity{added: added, labels: pod.Spec.NodeSelector}
		if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
			c.own = parseSelector(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution, "nodeAffinity")
		}
		return c
	}
}

type nodeAffinity struct {
	// added is the affinity that the plugin's arguments add to every pod.
	added *selector
	// labels are the pod's nodeSelector.
	labels map[string]string
	own    *selector
}

func (c *nodeAffinity) Distance(_ fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	n := node.Node()
	unmet := c.added.fewestUnmet(n) + c.own.fewestUnmet(n)
	for key, value := range c.labels {
		if actual, ok := n.Labels[key]; !ok || actual != value {
			unmet++
		}
	}
	return float64(unmet)
}

// Like the plugin, Compare looks at the pod's requirements only if the node meets the added
// affinity.
func (c *nodeAffinity) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	n := node.Node()
	terms := c.added.unmet(n)
	if len(terms) == 0 {
		terms = append(c.unmetLabels(n), c.own.unmet(n)...)
	}
	if len(terms) == 0 {
		return false
	}
	out.Terms = terms
	return true
}

// Passed fills in the requirements that the node meets: of alternatives, the first.
func (c *nodeAffinity) Passed(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	n := node.Node()
	added, own := c.added.met(n), c.own.met(n)
	if c.added != nil && added == nil || c.own != nil && own == nil {
		return false
	}
	terms := added
	for _, key := range slices.Sorted(maps.Keys(c.labels)) {
		terms = append(terms, c.labelTerm(key, n))
	}
	out.Terms = append(terms, own...)
	return true
}

func (c *nodeAffinity) labelTerm(key string, n *v1.Node) result.TermComparison {
	return result.TermComparison{Source: "nodeSelector", Key: key, Operator: string(v1.NodeSelectorOpIn), Values: []string{c.labels[key]}, Actual: label(n, key)}
}

func (c *nodeAffinity) unmetLabels(n *v1.Node) []result.TermComparison {
	var out []result.TermComparison
	for _, key := range slices.Sorted(maps.Keys(c.labels)) {
		if term := c.labelTerm(key, n); term.Actual == nil || *term.Actual != c.labels[key] {
			out = append(out, term)
		}
	}
	return out
}

// selector is a node selector, each requirement parsed on its own. A node must meet all
// requirements of one term. A nil selector selects every node.
type selector struct {
	source string
	terms  [][]requirement
}

type requirement struct {
	v1.NodeSelectorRequirement
	// field is true if the requirement is on the node's name.
	field  bool
	parsed *nodeaffinity.LazyErrorNodeSelector
}

func parseSelector(from *v1.NodeSelector, source string) *selector {
	if from == nil {
		return nil
	}
	out := &selector{source: source}
	for _, term := range from.NodeSelectorTerms {
		var parsed []requirement
		for _, r := range term.MatchExpressions {
			parsed = append(parsed, parseRequirement(r, false))
		}
		for _, r := range term.MatchFields {
			parsed = append(parsed, parseRequirement(r, true))
		}
		out.terms = append(out.terms, parsed)
	}
	return out
}

func parseRequirement(r v1.NodeSelectorRequirement, field bool) requirement {
	alone := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{r}}
	if field {
		alone = v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{r}}
	}
	return requirement{r, field, nodeaffinity.NewLazyErrorNodeSelector(&v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{alone}})}
}

// met reports whether a node meets the requirement. None meets one that cannot be
// parsed.
func (r *requirement) met(n *v1.Node) bool {
	met, _ := r.parsed.Match(n)
	return met
}

// fewestUnmet returns how many requirements of the best term a node fails, 0 if it meets one of the
// terms.
func (s *selector) fewestUnmet(n *v1.Node) int {
	if s == nil {
		return 0
	}
	fewest := -1
	for _, term := range s.terms {
		unmet := 0
		for i := range term {
			if !term[i].met(n) {
				unmet++
			}
		}
		if len(term) == 0 {
			unmet = 1 // no node meets an empty term
		}
		if fewest < 0 || unmet < fewest {
			fewest = unmet
		}
	}
	return max(fewest, 0)
}

// unmet returns the failed requirements of every term, or nil when the node meets one.
func (s *selector) unmet(n *v1.Node) []result.TermComparison {
	if s == nil {
		return nil
	}
	var out []result.TermComparison
	for i, term := range s.terms {
		before := len(out)
		for j := range term {
			if r := &term[j]; !r.met(n) {
				out = append(out, s.comparison(i, r, n))
			}
		}
		if len(out) == before {
			if len(term) > 0 {
				return nil
			}
			out = append(out, result.TermComparison{Source: s.source, Term: i})
		}
	}
	return out
}

func (s *selector) met(n *v1.Node) []result.TermComparison {
	if s == nil {
		return nil
	}
	for i, term := range s.terms {
		if len(term) == 0 || slices.ContainsFunc(term, func(r requirement) bool { return !r.met(n) }) {
			continue
		}
		var out []result.TermComparison
		for j := range term {
			out = append(out, s.comparison(i, &term[j], n))
		}
		return out
	}
	return nil
}

func (s *selector) comparison(i int, r *requirement, n *v1.Node) result.TermComparison {
	return result.TermComparison{Source: s.source, Term: i, Key: r.Key, Operator: string(r.Operator), Values: r.Values, Actual: r.actual(n)}
}

func (r *requirement) actual(n *v1.Node) *string {
	if !r.field {
		return label(n, r.Key)
	}
	name := n.Name // A pointer into the node would keep all of it in memory.
	return &name
}
