package whatif

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
)

func TestAutoscalersAreNamed(t *testing.T) {
	plain, karpenter, both := &v1.Node{}, &v1.Node{}, &v1.Node{}
	plain.Labels = map[string]string{"example.com/karpenter.sh": "no"}
	karpenter.Labels = map[string]string{"karpenter.sh/nodepool": "spot"}
	both.ObjectMeta = metav1.ObjectMeta{Annotations: map[string]string{"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}
	both.Spec.Taints = []v1.Taint{{Key: "karpenter.sh/disrupted", Effect: v1.TaintEffectNoSchedule}}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"karpenter.sh/do-not-disrupt": "true"}}}
	for want, objects := range map[string][]metav1.Object{"": {plain}, "Karpenter": {plain, karpenter}, "Cluster Autoscaler, Karpenter": {both}, "Karpenter ": {plain, pod}} {
		if got := named(autoscalers, objects...); strings.TrimSpace(want) != strings.Join(got, ", ") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestControllersAreNamedOnce(t *testing.T) {
	of := func(apiVersion, kind string, controls bool) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "owner", Controller: ptr.To(controls)}}}}
	}
	n := &NotAsked{ControllersNotAsked: named(podControllers, &v1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"kueue.x-k8s.io/queue-name": "team"}}})}
	for _, p := range []*v1.Pod{
		{}, of("argoproj.io/v1alpha1", "Rollout", true), of("argoproj.io/v1beta1", "Rollout", true), of("apps/v1", "ReplicaSet", true), of("v1", "Node", true),
		of("example.com/v1", "Machine", false),
	} {
		n.AddOwner(p)
	}
	if got := strings.Join(n.ControllersNotAsked, ", "); got != "Kueue, ReplicaSet.apps, Rollout.argoproj.io" {
		t.Error(got)
	}
}

// TestNamespaceOf: a kind that a library adds to client-go's scheme gets no default namespace.
func TestNamespaceOf(t *testing.T) {
	library := schema.GroupVersionKind{Group: "libraries.example.com", Version: "v1", Kind: "Pool"}
	scheme.Scheme.AddKnownTypeWithName(library, &v1.Node{}) // as Karpenter does
	for gvk, want := range map[schema.GroupVersionKind]string{
		v1.SchemeGroupVersion.WithKind("Node"): "",
		v1.SchemeGroupVersion.WithKind("Pod"):  metav1.NamespaceDefault,
		library:                                "",
	} {
		if got := namespaceOf(gvk, ""); got != want {
			t.Errorf("a %s without a namespace is in %q", gvk.Kind, got)
		}
	}
}
