package controlplane

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
)

// taintUnready makes Kubernetes' plugin taint only those new nodes that are not created as Ready. A
// kubelet never creates a Ready node, but an imported node may be Ready. The node lifecycle
// controller would remove its taint at once, with two requests for each of thousands of nodes.
//
// It also gives a new node what its kubelet would register it with, and the condition that keeps the taint for longer than until the
// controller sees the node.
type taintUnready struct {
	admission.MutationInterface
	register func(node metav1.Object) *corev1.NodeCondition // or nil
}

var _ admission.MutationInterface = taintUnready{}

func decorateNodeTaint(register func(node metav1.Object) *corev1.NodeCondition) admission.DecoratorFunc {
	return func(plugin admission.Interface, name string) admission.Interface {
		if tainter, ok := plugin.(admission.MutationInterface); ok && name == nodetaint.PluginName {
			return taintUnready{tainter, register}
		}
		return plugin
	}
}

func (t taintUnready) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if node, ok := a.GetObject().(*api.Node); ok {
		if ready := readyCondition(node); ready != nil && ready.Status == api.ConditionTrue {
			return nil
		} else if ready == nil {
			t.addCondition(node)
		}
	}
	return t.MutationInterface.Admit(ctx, a, o)
}

func (t taintUnready) addCondition(node *api.Node) {
	if t.register == nil {
		return
	}
	if c := t.register(node); c != nil {
		node.Status.Conditions = append(node.Status.Conditions, api.NodeCondition{
			Type: api.NodeReady, Status: api.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
			LastHeartbeatTime: c.LastHeartbeatTime, LastTransitionTime: c.LastTransitionTime,
		})
	}
}

func readyCondition(node *api.Node) *api.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == api.NodeReady {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}
