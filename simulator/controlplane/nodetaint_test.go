package controlplane

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
)

func TestNewNodesAreTaintedUnlessCreatedReady(t *testing.T) {
	tainter := decorateNodeTaint(nodetaint.NewPlugin(), nodetaint.PluginName).(admission.MutationInterface)
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
			attributes := admission.NewAttributesRecord(node, nil, api.Kind("Node").WithVersion("v1"), "", "n",
				api.Resource("nodes").WithVersion("v1"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
			if err := tainter.Admit(t.Context(), attributes, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, node.Spec.Taints); diff != "" {
				t.Errorf("taints (-want +got):\n%s", diff)
			}
		})
	}
}
