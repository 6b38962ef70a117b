package controlplane

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/apis/core"
)

// TestStoredPartsAreShared checks that pods and nodes in a watch cache use one copy of what is equal in them, and stay what they are.
func TestStoredPartsAreShared(t *testing.T) {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "without fields"}, {Manager: name, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)},
		}}
	}
	list := func() core.ResourceList { return core.ResourceList{core.ResourceCPU: resource.MustParse("1")} }
	pod := func(name string) *core.Pod {
		return &core.Pod{
			ObjectMeta: meta(name),
			Spec:       core.PodSpec{NodeName: name, Containers: []core.Container{{Name: "main"}}},
			Status:     core.PodStatus{ContainerStatuses: []core.ContainerStatus{{Name: name, AllocatedResources: list()}}},
		}
	}
	node := func(name string) *core.Node {
		return &core.Node{ObjectMeta: meta(name), Status: core.NodeStatus{Capacity: list(), Allocatable: list()}}
	}
	var parts storedParts
	one, other, last := pod("one"), pod("other"), node("last")
	wantOne, wantOther, wantLast := one.DeepCopy(), other.DeepCopy(), last.DeepCopy()
	parts.share(one)
	parts.share(other)
	parts.share(last)
	if diff := cmp.Diff([]any{wantOne, wantOther, wantLast}, []any{one, other, last}); diff != "" {
		t.Errorf("objects have changed (-before +after):\n%s", diff)
	}
	if &one.Spec.Containers[0] != &other.Spec.Containers[0] {
		t.Error("the containers of two pods are not shared")
	}
	fields := one.ManagedFields[1].FieldsV1
	if other.ManagedFields[1].FieldsV1 != fields || last.ManagedFields[1].FieldsV1 != fields {
		t.Error("managed fields are not shared")
	}
	last.Status.Capacity["probe"] = resource.MustParse("1")
	if len(last.Status.Allocatable) != 2 || len(one.Status.ContainerStatuses[0].AllocatedResources) != 2 {
		t.Error("lists of resources are not shared")
	}
}
