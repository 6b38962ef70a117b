package comparison

import (
	"iter"
	"slices"

	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"k8s.io/kubernetes/pkg/scheduler/util"

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
	// operators is true if tolerations may compare numbers.
	operators bool
	logger    klog.Logger
}

func (c *taints) Distance(_ fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	untolerated := 0
	for range c.untolerated(node) {
		untolerated++
	}
	return float64(untolerated)
}

// Compare returns the first taint, at which the plugin stops.
func (c *taints) Compare(_ fwk.CycleState, node fwk.NodeInfo) *result.Comparison {
	for t := range c.untolerated(node) {
		return &result.Comparison{Taint: &result.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)}}
	}
	return nil
}

// untolerated yields the taints that keep the pod off the node.
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

// ports are the host ports that a pod wants.
type ports []result.Port

func (c ports) Distance(_ fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	return float64(len(c.inUse(node)))
}

func (c ports) Compare(_ fwk.CycleState, node fwk.NodeInfo) *result.Comparison {
	inUse := c.inUse(node)
	if len(inUse) == 0 {
		return nil
	}
	return &result.Comparison{Ports: inUse}
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

// label returns the value of a node's label, or nil.
func label(n *v1.Node, key string) *string {
	if value, ok := n.Labels[key]; ok {
		return &value
	}
	return nil
}
