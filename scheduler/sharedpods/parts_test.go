package sharedpods

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestPodsOfOneTemplateShareTheirParts checks that pods that differ use one copy of what is equal in them, and stay what they are.
func TestPodsOfOneTemplateShareTheirParts(t *testing.T) {
	pod := func(uid, node, cpu string) *v1.Pod {
		requests := func() v1.ResourceList { return v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)} }
		pod := decoded(uid, "1", "")
		pod.Spec.NodeName = node
		pod.Spec.Containers[0].Resources.Requests = requests()
		pod.Spec.Tolerations = []v1.Toleration{{Key: "any"}}
		pod.Status.Resources = &v1.ResourceRequirements{Requests: requests()}
		pod.Status.ContainerStatuses = []v1.ContainerStatus{{Name: node, Resources: &v1.ResourceRequirements{Requests: requests()}, AllocatedResources: requests()}}
		return pod
	}
	var p Pool
	first, second, larger := pod("a", "node-a", "1"), pod("b", "node-b", "1"), pod("c", "node-c", "2")
	wants := []*v1.Pod{first.DeepCopy(), second.DeepCopy(), larger.DeepCopy()}
	for i, pod := range []*v1.Pod{first, second, larger} {
		p.Share(pod)
		if diff := cmp.Diff(wants[i], pod); diff != "" {
			t.Errorf("pod %d has changed (-before +after):\n%s", i, diff)
		}
	}
	for what, shared := range map[string]bool{
		"containers":                 &first.Spec.Containers[0] == &second.Spec.Containers[0],
		"tolerations":                &first.Spec.Tolerations[0] == &larger.Spec.Tolerations[0],
		"resources":                  first.Status.Resources == second.Status.Resources,
		"resources of the container": first.Status.ContainerStatuses[0].Resources == second.Status.ContainerStatuses[0].Resources,
		"different containers":       &first.Spec.Containers[0] != &larger.Spec.Containers[0],
		"what differs":               &first.Status.ContainerStatuses[0] != &second.Status.ContainerStatuses[0],
	} {
		if !shared {
			t.Errorf("%s are not shared as they should be", what)
		}
	}
}

// TestPartsAreBounded checks that only the latest parts are remembered.
func TestPartsAreBounded(t *testing.T) {
	var p Parts[*string]
	share := func(s string) *string { part := &s; p.Share(&part, DeepEqual); return part }
	first := share("first")
	for i := range mostParts - 1 {
		share(fmt.Sprint(i))
	}
	if share("first") != first {
		t.Error("a part that was shared lately is forgotten")
	}
	for i := range mostParts {
		share(fmt.Sprint(i, " more"))
	}
	if len(p.known) != mostParts || share("first") == first {
		t.Errorf("%d parts are remembered", len(p.known))
	}
}
