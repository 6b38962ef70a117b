package capacity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
)

// TestWhatRemains: every pod that fits counts in what remains, and on the node that rejects the next one.
func TestWhatRemains(t *testing.T) {
	size := func(cpu string) v1.ResourceList {
		return v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourcePods: resource.MustParse("10")}
	}
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: v1.NodeStatus{Capacity: size("4"), Allocatable: size("4")}}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: v1.PodSpec{Containers: []v1.Container{{
		Name: "web", Image: "web", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}},
	}}}}
	configuration, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	engine := whatif.New(whatif.Options{
		Source:        whatif.Objects([]runtime.Object{node}),
		Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return configuration.Internal },
	})
	answer, err := capacity.Ask(t.Context(), engine, capacity.Question{Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	want := &capacity.Answer{
		State: whatif.State{Nodes: 1, ResourceVersion: answer.State.ResourceVersion}, Fits: 4, Complete: true, Nodes: []capacity.Node{{Name: "a", Count: 4}},
		Stopped:   []capacity.Stop{{Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Nodes: []string{"a"}}},
		Resources: []capacity.Resource{{Name: "cpu", Allocatable: 4000, Requested: 4000}, {Name: "pods", Allocatable: 10, Requested: 4, Free: 6, Stranded: 6}},
	}
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Error(diff)
	}
}
