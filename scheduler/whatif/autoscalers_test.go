package whatif

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func TestAutoscalersOf(t *testing.T) {
	plain, karpenter, both := &v1.Node{}, &v1.Node{}, &v1.Node{}
	plain.Labels = map[string]string{"example.com/karpenter.sh": "no"}
	karpenter.Labels = map[string]string{"karpenter.sh/nodepool": "spot"}
	both.ObjectMeta = metav1.ObjectMeta{Annotations: map[string]string{"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}
	both.Spec.Taints = []v1.Taint{{Key: "karpenter.sh/disrupted", Effect: v1.TaintEffectNoSchedule}}
	for want, nodes := range map[string][]*v1.Node{"": {plain}, "Karpenter": {plain, karpenter}, "Cluster Autoscaler, Karpenter": {both}} {
		var infos []fwk.NodeInfo
		for _, n := range nodes {
			info := framework.NewNodeInfo()
			info.SetNode(n)
			infos = append(infos, info)
		}
		if got := autoscalersOf(infos); want != strings.Join(got, ", ") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
