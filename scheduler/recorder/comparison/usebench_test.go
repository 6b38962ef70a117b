package comparison

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// BenchmarkUse is what a rejected attempt adds: it traces CPU on the nodes nearest to fitting, each
// with a hundred pods whose status says what they were granted.
func BenchmarkUse(b *testing.B) {
	requests := v1.ResourceList{v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("128Mi")}
	node := framework.NewNodeInfo()
	for i := range 100 {
		p := pod(fmt.Sprint("p", i), "n")
		p.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: requests}}}
		p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "c", AllocatedResources: requests, Resources: &v1.ResourceRequirements{Requests: requests}}}
		node.AddPod(p)
	}
	c := &resources{cpu: 100, pod: pod("p", ""), waits: func(*v1.Pod) bool { return false }}
	b.ReportAllocs()
	for b.Loop() {
		for range result.MaxUses {
			found := &result.Comparison{Resources: []result.ResourceComparison{{Name: "cpu", Requested: 100, InUse: 10_000, Allocatable: 10_000}}}
			c.Trace(node, found)
		}
	}
}
