package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// The sources of result.TermComparison that NodeAffinity has.
const (
	fromSelector = "nodeSelector"
	fromPod      = "nodeAffinity"
)

// cureNodeAffinity relaxes the pod's requirements, or labels the node. The required node
// affinity is a list of alternatives, of which it takes the one that is nearest.
func cureNodeAffinity(pod *v1.Pod, node *v1.Node, o whatif.Obstacle) []cure {
	if o.Comparison == nil {
		if o.PreFilter {
			return dropConflict(pod)
		}
		return nil
	}
	always, alternatives := unmet(o.Comparison.Terms)
	var out []cure
	if c := cheapest(always, alternatives, func(terms []result.TermComparison) cure { return relaxation(pod, terms) }); c != nil {
		out = append(out, c)
	}
	if c := cheapest(always, alternatives, func(terms []result.TermComparison) cure { return labelling(node, terms) }); c != nil {
		out = append(out, c)
	}
	return out
}

// dropConflict is for terms that name different nodes, which the plugin rejects before
// it looks at any.
func dropConflict(pod *v1.Pod) []cure {
	required := requiredNodeAffinity(&pod.Spec)
	if required == nil || newnode.OfDaemonSet(pod) {
		return nil
	}
	var terms []result.TermComparison
	for i, term := range required.NodeSelectorTerms {
		for _, r := range slices.Concat(term.MatchExpressions, term.MatchFields) {
			terms = append(terms, result.TermComparison{Source: fromPod, Term: i, Key: r.Key, Operator: string(r.Operator), Values: r.Values})
		}
	}
	return []cure{{dropping(terms)}}
}

// unmet sorts the requirements that a node lacks: those that it must meet in any case,
// and the alternatives, of which one is enough.
func unmet(terms []result.TermComparison) (always []result.TermComparison, alternatives [][]result.TermComparison) {
	for _, t := range terms {
		if t.Source == fromSelector {
			always = append(always, t)
			continue
		}
		last := len(alternatives) - 1
		if last < 0 || alternatives[last][0].Term != t.Term {
			alternatives = append(alternatives, nil)
			last++
		}
		alternatives[last] = append(alternatives[last], t)
	}
	return always, alternatives
}

// cheapest returns the cure for always and one of the alternatives, or nil when there is
// none.
func cheapest(always []result.TermComparison, alternatives [][]result.TermComparison, of func([]result.TermComparison) cure) cure {
	if len(alternatives) == 0 {
		return of(always)
	}
	var best cure
	for _, terms := range alternatives {
		if c := of(slices.Concat(always, terms)); c != nil && (best == nil || c.cost() < best.cost()) {
			best = c
		}
	}
	return best
}

// relaxation changes the pod's requirements as little as it can: it accepts the node's
// value where one of several is asked for, and drops the others.
func relaxation(pod *v1.Pod, terms []result.TermComparison) cure {
	var out cure
	var drop []result.TermComparison
	for _, t := range terms {
		switch {
		case t.Source != fromSelector && t.Source != fromPod:
			return nil // It is in the scheduler's configuration.
		case t.Source == fromPod && t.Key == metav1.ObjectNameField && newnode.OfDaemonSet(pod):
			return nil // A DaemonSet wants one pod per node.
		case t.Source == fromPod && t.Operator == string(v1.NodeSelectorOpIn) && t.Key != metav1.ObjectNameField && t.Actual != nil:
			out = append(out, remedy{
				says: explain.AcceptValues{Key: t.Key, Value: *t.Actual}, shape: "acceptValue " + t.Key, detail: *t.Actual,
				disturbance: ofPod, cost: costOfAcceptance, pod: func(s *v1.PodSpec) { acceptValue(s, t) },
			})
		default:
			drop = append(drop, t)
		}
	}
	if len(drop) > 0 {
		out = append(out, dropping(drop))
	}
	return out
}

// dropping drops requirements.
func dropping(terms []result.TermComparison) remedy {
	var labels []string
	var drop []result.TermComparison
	says := explain.DropRequirements{}
	for _, t := range terms {
		if t.Source == fromSelector {
			labels = append(labels, t.Key)
		} else {
			drop = append(drop, t)
		}
		says.Requirements = append(says.Requirements, explain.LabelRequirement{Key: t.Key, Operator: t.Operator, Values: append([]string{}, t.Values...)})
	}
	return remedy{
		says: says, shape: fmt.Sprint("dropRequirements ", says.Requirements), disturbance: ofPod, cost: costOfRequirement * float64(len(terms)), parts: partsOf(terms, dropping),
		pod: func(s *v1.PodSpec) {
			dropSelector(s, labels)
			for _, t := range drop {
				if t.Key == "" { // No node meets an empty term.
					dropNodeAffinity(s)
				}
			}
			dropRequirements(s, drop)
		},
	}
}

// labelling gives the node the labels that it lacks, and takes those that it must not
// have. It returns nil when a requirement is about what the node is.
func labelling(node *v1.Node, terms []result.TermComparison) cure {
	says := explain.LabelNode{Node: node.Name, Others: []string{}}
	out := remedy{detail: node.Name, disturbance: ofNode, parts: partsOf(terms, func(fewer []result.TermComparison) remedy { return labelling(node, fewer)[0] })}
	for _, t := range terms {
		to, possible := wanted(t)
		if !possible || describes(t.Key) {
			return nil
		}
		if out.cost += costOfLabel; t.Actual != nil {
			out.cost += costOfOverwriting
		}
		says.Labels = append(says.Labels, explain.LabelChange{Key: t.Key, From: t.Actual, To: to})
		text := "-"
		if to != nil {
			text = *to
		}
		out.shape += " " + t.Key + "=" + text
	}
	slices.SortFunc(says.Labels, func(a, b explain.LabelChange) int { return cmp.Compare(a.Key, b.Key) })
	for i := 1; i < len(says.Labels); i++ {
		if says.Labels[i].Key == says.Labels[i-1].Key {
			return nil // Two requirements on one label may not agree on a value.
		}
	}
	out.says, out.shape = says, "labelNode"+out.shape
	out.node = func(n *v1.Node) {
		for _, l := range says.Labels {
			if l.To == nil {
				delete(n.Labels, l.Key)
				continue
			}
			if n.Labels == nil {
				n.Labels = map[string]string{}
			}
			n.Labels[l.Key] = *l.To
		}
	}
	return cure{out}
}

// wanted returns the value with which a label meets a requirement, nil to meet it without
// the label.
func wanted(t result.TermComparison) (to *string, possible bool) {
	number := func(by int64) (*string, bool) {
		if len(t.Values) != 1 {
			return nil, false
		}
		n, err := strconv.ParseInt(t.Values[0], 10, 64)
		text := strconv.FormatInt(n+by, 10)
		return &text, err == nil
	}
	switch v1.NodeSelectorOperator(t.Operator) {
	case v1.NodeSelectorOpIn:
		if len(t.Values) == 0 {
			return nil, false
		}
		return &t.Values[0], true
	case v1.NodeSelectorOpExists:
		return new(string), true
	case v1.NodeSelectorOpNotIn, v1.NodeSelectorOpDoesNotExist:
		return nil, true
	case v1.NodeSelectorOpGt:
		return number(1)
	case v1.NodeSelectorOpLt:
		return number(-1)
	}
	return nil, false
}

// describes reports whether a label says what the node is: where it stands, what it runs
// on. The kubelet and cloud providers set these, and others rely on them.
func describes(key string) bool {
	domain, _, prefixed := strings.Cut(key, "/")
	if !prefixed {
		return key == metav1.ObjectNameField
	}
	switch domain {
	case "node-role.kubernetes.io", "node-restriction.kubernetes.io":
		return false
	}
	for _, own := range []string{"kubernetes.io", "k8s.io"} {
		if domain == own || strings.HasSuffix(domain, "."+own) {
			return true
		}
	}
	return false
}
