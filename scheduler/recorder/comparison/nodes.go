package comparison

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

func compareTaints(_ fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	taint, untolerated := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), node.Node().Spec.Taints, pod.Spec.Tolerations,
		func(t *v1.Taint) bool {
			return t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute
		}, true)
	if !untolerated {
		return nil
	}
	return &result.Comparison{Taint: &result.Taint{Key: taint.Key, Value: taint.Value, Effect: string(taint.Effect)}}
}

func compareNodeAffinity(_ fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	out := &result.Comparison{}
	n := node.Node()
	for _, key := range slices.Sorted(maps.Keys(pod.Spec.NodeSelector)) {
		value := pod.Spec.NodeSelector[key]
		if actual, ok := n.Labels[key]; !ok || actual != value {
			out.Terms = append(out.Terms, result.TermComparison{
				Source: "nodeSelector", Key: key, Operator: string(v1.NodeSelectorOpIn), Values: []string{value}, Actual: label(n, key),
			})
		}
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		out.Terms = append(out.Terms, unmetTerms(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution, n, "nodeAffinity")...)
	}
	if len(out.Terms) == 0 {
		return nil
	}
	return out
}

// unmetTerms returns the requirements that n does not meet, or nil when it
// meets one of the selector's terms.
func unmetTerms(selector *v1.NodeSelector, n *v1.Node, source string) []result.TermComparison {
	if selector == nil {
		return nil
	}
	var unmet []result.TermComparison
	for i, term := range selector.NodeSelectorTerms {
		before := len(unmet)
		for _, r := range term.MatchExpressions {
			if !meetsExpression(r, labels.Set(n.Labels)) {
				unmet = append(unmet, result.TermComparison{
					Source: source, Term: i, Key: r.Key, Operator: string(r.Operator), Values: r.Values, Actual: label(n, r.Key),
				})
			}
		}
		for _, r := range term.MatchFields {
			if !meetsExpression(r, labels.Set{metav1.ObjectNameField: n.Name}) {
				unmet = append(unmet, result.TermComparison{
					Source: source, Term: i, Key: r.Key, Operator: string(r.Operator), Values: r.Values, Actual: new(n.Name),
				})
			}
		}
		empty := len(term.MatchExpressions)+len(term.MatchFields) == 0
		if len(unmet) == before && !empty {
			return nil
		}
	}
	return unmet
}

// operators maps the operators of node selectors to those of label selectors.
var operators = map[v1.NodeSelectorOperator]selection.Operator{
	v1.NodeSelectorOpIn:           selection.In,
	v1.NodeSelectorOpNotIn:        selection.NotIn,
	v1.NodeSelectorOpExists:       selection.Exists,
	v1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	v1.NodeSelectorOpGt:           selection.GreaterThan,
	v1.NodeSelectorOpLt:           selection.LessThan,
}

func meetsExpression(r v1.NodeSelectorRequirement, values labels.Labels) bool {
	requirement, err := labels.NewRequirement(r.Key, operators[r.Operator], r.Values)
	return err == nil && requirement.Matches(values)
}

func comparePorts(_ fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	out := &result.Comparison{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, p := range c.Ports {
			if p.HostPort > 0 && node.GetUsedPorts().CheckConflict(p.HostIP, string(p.Protocol), p.HostPort) {
				out.Ports = append(out.Ports, result.Port{Protocol: string(p.Protocol), HostIP: p.HostIP, Port: p.HostPort})
			}
		}
	}
	if len(out.Ports) == 0 {
		return nil
	}
	return out
}

// label returns the value of a node's label, or nil.
func label(n *v1.Node, key string) *string {
	if value, ok := n.Labels[key]; ok {
		return &value
	}
	return nil
}
