package newnode

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestLike(t *testing.T) {
	size := map[v1.ResourceName]string{"cpu": "4", "memory": "8Gi"}
	dedicated := v1.Taint{Key: "dedicated", Value: "batch", Effect: v1.TaintEffectNoSchedule}
	like := st.MakeNode().Name("n1").Label(v1.LabelHostname, "n1").Label("disk", "ssd").Capacity(size).Unschedulable(true).
		Taints([]v1.Taint{dedicated, {Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}, {Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoExecute}}).
		Annotation("pool", "a").Annotation(v1.LastAppliedConfigAnnotation, "{}").Images(map[string]int64{"web": 1 << 20}).Obj()
	like.UID, like.ResourceVersion, like.Spec.ProviderID = "1", "2", "cloud/n1"
	before := like.DeepCopy()

	want := st.MakeNode().Name("n2").Label(v1.LabelHostname, "n2").Label("disk", "ssd").Capacity(size).Taints([]v1.Taint{dedicated}).Annotation("pool", "a").Obj()
	want.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
	want.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
	if diff := cmp.Diff(want, Like(like, "n2")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, like); diff != "" {
		t.Error("the old node changed", diff)
	}
}

func TestName(t *testing.T) {
	taken := map[string]bool{"node-b2": true, "node-b3": true, "worker": true, "n009": true}
	for like, want := range map[string]string{"node-b2": "node-b4", "worker": "worker-2", "n009": "n010", "99999999999999999999": "99999999999999999999-2"} {
		if got := Name(like, func(name string) bool { return taken[name] }); got != want {
			t.Errorf("a node like %s is named %s, want %s", like, got, want)
		}
	}
}
