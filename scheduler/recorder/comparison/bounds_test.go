package comparison

import (
	"runtime"
	"testing"
	"weak"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// A result outlives the node that it compares with.
func TestComparisonsDoNotKeepTheNode(t *testing.T) {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"zone": "a"}}}
	alive := weak.Make(node)
	pod := &v1.Pod{Spec: v1.PodSpec{Affinity: &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
			MatchFields:      []v1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{"n2"}}},
			MatchExpressions: []v1.NodeSelectorRequirement{{Key: "zone", Operator: v1.NodeSelectorOpIn, Values: []string{"b"}}},
		}}},
	}}}}
	info := framework.NewNodeInfo()
	info.SetNode(node)
	got := InTree{}.Comparer("NodeAffinity", nil, nil).Begin(nil, pod).Compare(nil, info)
	if len(got.Terms) != 2 {
		t.Fatalf("compared: %+v", got)
	}
	node, info = nil, nil
	runtime.GC()
	if alive.Value() != nil {
		t.Error("the comparison keeps the node in memory")
	}
	runtime.KeepAlive(got)
}
