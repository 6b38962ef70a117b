package clusterdiff

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/config"
)

func node(name, cpu string) v1.Node {
	return v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("1Ki")}}}
}

func pod(name, node, cpu string) v1.Pod {
	return v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: v1.PodSpec{NodeName: node, Containers: []v1.Container{{
		Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("256")}},
	}}}}
}

func parsed(t *testing.T, document string) *config.Configuration {
	t.Helper()
	c, err := config.ParseWith([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"+document), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompare(t *testing.T) {
	over := pod("job", "n1", "1")
	over.Status.Phase = v1.PodSucceeded
	got := Compare(
		State{
			Nodes:         []v1.Node{node("n1", "4"), node("n2", "4")},
			Pods:          []v1.Pod{pod("same", "n1", "1"), pod("moved", "n1", "1"), pod("waits", "n2", "1"), pod("gone", "n2", "1"), over},
			Configuration: parsed(t, "percentageOfNodesToScore: 50\n"),
		},
		State{
			Name:          "packed",
			Nodes:         []v1.Node{node("n1", "4"), node("n3", "4")},
			Pods:          []v1.Pod{pod("same", "n1", "1"), pod("moved", "n3", "1"), pod("waits", "", "1"), pod("new", "", "1")},
			Configuration: parsed(t, "percentageOfNodesToScore: 60\n"),
		},
	)
	want := Comparison{
		A: Side{Name: "", Nodes: 2, Pods: 4, CPUShare: 0.5, MemoryShare: 0.5},
		B: Side{Name: "packed", Nodes: 2, Pods: 4, Pending: 2, CPUShare: 0.25, MemoryShare: 0.25},
		Pods: []Pod{
			{Namespace: "shop", Name: "gone", A: "n2", OnlyIn: "a"},
			{Namespace: "shop", Name: "moved", A: "n1", B: "n3"},
			{Namespace: "shop", Name: "new", OnlyIn: "b"},
			{Namespace: "shop", Name: "waits", A: "n2"},
		},
		Nodes: []Node{
			{Name: "n1", A: &Use{2, 2000, 4000, 512, 1024}, B: &Use{1, 1000, 4000, 256, 1024}},
			{Name: "n2", A: &Use{2, 2000, 4000, 512, 1024}},
			{Name: "n3", B: &Use{1, 1000, 4000, 256, 1024}},
		},
		Configuration: []Field{{Path: "percentageOfNodesToScore", A: int64(50), B: int64(60)}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestListsAreBounded(t *testing.T) {
	var s State
	for i := range MaxPods + 1 {
		s.Pods = append(s.Pods, pod(fmt.Sprintf("web-%d", i), "", "1"))
	}
	got := Compare(s, State{})
	if len(got.Pods) != MaxPods || !got.Truncated || got.A.Pods != MaxPods+1 {
		t.Errorf("it lists %d pods of %d, truncated: %t", len(got.Pods), got.A.Pods, got.Truncated)
	}
}

func TestAnEmptyCluster(t *testing.T) {
	want := Comparison{Pods: []Pod{}, Nodes: []Node{}, Configuration: []Field{}}
	if diff := cmp.Diff(want, Compare(State{}, State{})); diff != "" {
		t.Error(diff)
	}
}
