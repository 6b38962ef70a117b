package comparison

import (
	"cmp"
	"iter"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// compareTaints is TaintToleration's. Nearest are the nodes with the fewest taints that
// the pod does not tolerate.
func compareTaints(gates feature.Features) begin {
	return func(_ fwk.CycleState, pod *v1.Pod) recorder.Comparing {
		return &taints{pod.Spec.Tolerations, gates.EnableTaintTolerationComparisonOperators, klog.Background()}
	}
}

type taints struct {
	tolerations []v1.Toleration
	operators   bool
	logger      klog.Logger
}

func (c *taints) Distance(_ fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	untolerated := 0
	for range c.untolerated(node) {
		untolerated++
	}
	return float64(untolerated)
}

// Compare fills in the first taint, at which the plugin stops.
func (c *taints) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	for t := range c.untolerated(node) {
		taint := taintOf(t)
		out.Taint = &taint
		return true
	}
	return false
}

// Passed fills in the taints that would keep off a pod without tolerations.
func (c *taints) Passed(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	keepsOff := helper.DoNotScheduleTaintsFilterFunc()
	for i := range node.Node().Spec.Taints {
		t := &node.Node().Spec.Taints[i]
		if !keepsOff(t) {
			continue
		}
		by := c.tolerating(t)
		if by == nil {
			return false
		}
		out.Tolerated = append(out.Tolerated, result.ToleratedTaint{Taint: taintOf(t), By: *by})
	}
	return true
}

func (c *taints) tolerating(t *v1.Taint) *result.Toleration {
	for i := range c.tolerations {
		if own := &c.tolerations[i]; own.ToleratesTaint(c.logger, t, c.operators) {
			operator := cmp.Or(own.Operator, v1.TolerationOpEqual)
			return &result.Toleration{Key: own.Key, Operator: string(operator), Value: own.Value, Effect: string(own.Effect)}
		}
	}
	return nil
}

func taintOf(t *v1.Taint) result.Taint {
	return result.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)}
}

func (c *taints) untolerated(node fwk.NodeInfo) iter.Seq[*v1.Taint] {
	return func(yield func(*v1.Taint) bool) {
		keepsOff := helper.DoNotScheduleTaintsFilterFunc()
		for i := range node.Node().Spec.Taints {
			t := &node.Node().Spec.Taints[i]
			if keepsOff(t) && !corev1helpers.TolerationsTolerateTaint(c.logger, c.tolerations, t, c.operators) && !yield(t) {
				return
			}
		}
	}
}

// compareUnschedulable is NodeUnschedulable's. All nodes that it rejects are equally near.
func compareUnschedulable(gates feature.Features) begin {
	return func(_ fwk.CycleState, pod *v1.Pod) recorder.Comparing {
		return &cordons{taints{pod.Spec.Tolerations, gates.EnableTaintTolerationComparisonOperators, klog.Background()}}
	}
}

// cordons compares spec.unschedulable: the plugin asks whether the pod tolerates the taint of a
// cordoned node.
type cordons struct{ taints }

var cordon = &v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}

func (c *cordons) Distance(fwk.CycleState, fwk.NodeInfo, *fwk.Status) float64 { return 1 }

func (c *cordons) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	if !node.Node().Spec.Unschedulable || c.tolerating(cordon) != nil {
		return false
	}
	taint := taintOf(cordon)
	out.Taint = &taint
	return true
}

func (c *cordons) Passed(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	if !node.Node().Spec.Unschedulable {
		return true
	}
	by := c.tolerating(cordon)
	if by == nil {
		return false
	}
	out.Tolerated = []result.ToleratedTaint{{Taint: taintOf(cordon), By: *by}}
	return true
}

func compareNodeName(_ fwk.CycleState, pod *v1.Pod) recorder.Comparing {
	return nodeName(pod.Spec.NodeName)
}

// nodeName is the name of the node that a pod asks for; empty for any.
type nodeName string

func (c nodeName) Distance(fwk.CycleState, fwk.NodeInfo, *fwk.Status) float64 { return 1 }

func (c nodeName) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	name := node.Node().Name
	if c == "" || string(c) == name {
		return false
	}
	return fill(out, c.comparison(name))
}

func (c nodeName) Passed(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	if c == "" {
		return true
	}
	return fill(out, c.comparison(node.Node().Name))
}

func (c nodeName) comparison(actual string) *result.Comparison {
	return &result.Comparison{Terms: []result.TermComparison{{
		Source: "nodeName", Key: metav1.ObjectNameField, Operator: string(v1.NodeSelectorOpIn), Values: []string{string(c)}, Actual: &actual,
	}}}
}

// compareFeatures is NodeDeclaredFeatures'. Nearest are the nodes that lack the fewest
// features.
func compareFeatures(state fwk.CycleState, _ *v1.Pod) recorder.Comparing {
	needed, ok := upstream.NeededFeatures(state)
	if !ok {
		return nil
	}
	return &declaredFeatures{needed}
}

type declaredFeatures struct {
	needed nodedeclaredfeatures.FeatureSet
}

func (c *declaredFeatures) Distance(_ fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	missing, _ := c.missing(node.GetNodeDeclaredFeatures())
	return float64(len(missing))
}

func (c *declaredFeatures) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	missing, err := c.missing(node.GetNodeDeclaredFeatures())
	if err != nil || len(missing) == 0 {
		return false
	}
	for _, name := range missing {
		out.Features = append(out.Features, result.FeatureComparison{Name: name})
	}
	return true
}

func (c *declaredFeatures) Passed(_ fwk.CycleState, _ fwk.NodeInfo, out *result.Comparison) bool {
	needed, err := nodedeclaredfeatures.DefaultFramework.Unmap(c.needed)
	if err != nil {
		return false
	}
	for _, name := range needed {
		out.Features = append(out.Features, result.FeatureComparison{Name: name, Declared: true})
	}
	return true
}

func (c *declaredFeatures) missing(declared nodedeclaredfeatures.FeatureSet) ([]string, error) {
	match, err := nodedeclaredfeatures.DefaultFramework.MatchNodeFeatureSet(c.needed, declared)
	if err != nil {
		return nil, err
	}
	return match.UnsatisfiedRequirements, nil
}

// comparePorts is NodePorts'. Nearest are the nodes on which the fewest of the pod's
// ports are in use.
func comparePorts(_ fwk.CycleState, pod *v1.Pod) recorder.Comparing {
	c := ports{}
	for _, p := range util.GetHostPorts(pod) {
		if wanted := (result.Port{Protocol: string(p.Protocol), HostIP: p.HostIP, Port: p.HostPort}); !slices.Contains(c, wanted) {
			c = append(c, wanted)
		}
	}
	return c
}

type ports []result.Port

func (c ports) Distance(_ fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	return float64(len(c.inUse(node)))
}

func (c ports) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	inUse := c.inUse(node)
	if len(inUse) == 0 {
		return false
	}
	out.Ports, out.WithoutPods = inUse, result.PassesWithoutPods
	return true
}

func (c ports) Passed(_ fwk.CycleState, _ fwk.NodeInfo, out *result.Comparison) bool {
	out.Ports = c
	return true
}

func (c ports) inUse(node fwk.NodeInfo) []result.Port {
	var out []result.Port
	for _, p := range c {
		if node.GetUsedPorts().CheckConflict(p.HostIP, p.Protocol, p.Port) {
			out = append(out, p)
		}
	}
	return out
}

func label(n *v1.Node, key string) *string {
	if value, ok := n.Labels[key]; ok {
		return &value
	}
	return nil
}
