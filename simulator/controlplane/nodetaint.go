package controlplane

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
)

// taintUnready makes Kubernetes' plugin taint only those new nodes that are not created as Ready.
// A kubelet never creates a Ready node, but an imported node may be Ready. The node lifecycle
// controller would remove its taint at once, with two requests for each of thousands of nodes.
type taintUnready struct {
	admission.MutationInterface
}

var _ admission.MutationInterface = taintUnready{}

// decorateNodeTaint is an admission.Decorator.
func decorateNodeTaint(plugin admission.Interface, name string) admission.Interface {
	if tainter, ok := plugin.(admission.MutationInterface); ok && name == nodetaint.PluginName {
		return taintUnready{tainter}
	}
	return plugin
}

func (t taintUnready) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if node, ok := a.GetObject().(*api.Node); ok && isReady(node) {
		return nil
	}
	return t.MutationInterface.Admit(ctx, a, o)
}

func isReady(node *api.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == api.NodeReady {
			return c.Status == api.ConditionTrue
		}
	}
	return false
}
