package controlplane

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
)

func TestNewNodesAreTaintedUnlessCreatedReady(t *testing.T) {
	tainter := decorateNodeTaint(nil)(nodetaint.NewPlugin(), nodetaint.PluginName).(admission.MutationInterface)
	notReady := []api.Taint{{Key: "node.kubernetes.io/not-ready", Effect: api.TaintEffectNoSchedule}}
	for _, test := range []struct {
		name       string
		conditions []api.NodeCondition
		want       []api.Taint
	}{
		{name: "no condition", want: notReady},
		{name: "not ready", conditions: []api.NodeCondition{{Type: api.NodeReady, Status: api.ConditionFalse}}, want: notReady},
		{name: "unknown", conditions: []api.NodeCondition{{Type: api.NodeReady, Status: api.ConditionUnknown}}, want: notReady},
		{name: "ready", conditions: []api.NodeCondition{{Type: api.NodeReady, Status: api.ConditionTrue}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			node := &api.Node{Status: api.NodeStatus{Conditions: test.conditions}}
			if err := tainter.Admit(t.Context(), creation(node), nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, node.Spec.Taints); diff != "" {
				t.Errorf("taints (-want +got):\n%s", diff)
			}
		})
	}
}

// TestANewNodeHasTheConditionThatItWaitsWith: the node lifecycle controller would take the taint of a node without
// conditions away at once.
func TestANewNodeHasTheConditionThatItWaitsWith(t *testing.T) {
	waiting := api.NodeCondition{Type: api.NodeReady, Status: api.ConditionFalse, Reason: "TopologyNotPublished"}
	tainter := decorateNodeTaint(func(node metav1.Object) *corev1.NodeCondition {
		if node.GetAnnotations()["waits"] == "" {
			return nil
		}
		return &corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: waiting.Reason}
	})(nodetaint.NewPlugin(), nodetaint.PluginName).(admission.MutationInterface)
	unknown := api.NodeCondition{Type: api.NodeReady, Status: api.ConditionUnknown}
	for _, test := range []struct {
		name         string
		waits        string
		before, want []api.NodeCondition
	}{
		{name: "it waits", waits: "yes", want: []api.NodeCondition{waiting}},
		{name: "it does not"},
		{name: "it has the condition", waits: "yes", before: []api.NodeCondition{unknown}, want: []api.NodeCondition{unknown}},
	} {
		t.Run(test.name, func(t *testing.T) {
			node := &api.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"waits": test.waits}}, Status: api.NodeStatus{Conditions: test.before}}
			if err := tainter.Admit(t.Context(), creation(node), nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, node.Status.Conditions); diff != "" || len(node.Spec.Taints) != 1 {
				t.Errorf("taints %v, conditions (-want +got):\n%s", node.Spec.Taints, diff)
			}
		})
	}
}

func creation(node *api.Node) admission.Attributes {
	return admission.NewAttributesRecord(node, nil, api.Kind("Node").WithVersion("v1"), "", "n",
		api.Resource("nodes").WithVersion("v1"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
}
