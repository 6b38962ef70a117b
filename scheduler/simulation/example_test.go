package simulation_test

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/simulation"
)

// A pod waits for ten minutes until a node has room for it, which takes no time.
func Example() {
	ctx := context.Background()
	configuration, err := config.Default()
	if err != nil {
		panic(err)
	}
	s, err := simulation.New(ctx, simulation.Options{Configuration: configuration.Internal, Seed: 1})
	if err != nil {
		panic(err)
	}
	defer s.Close()

	one, two := v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}, v1.ResourceList{v1.ResourceCPU: resource.MustParse("2")}
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "web", Image: "web", Resources: v1.ResourceRequirements{Requests: two}}}},
	}
	small := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Status: v1.NodeStatus{Allocatable: one}}
	large := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "large"}, Status: v1.NodeStatus{Allocatable: two}}
	for _, step := range []error{
		s.Create(ctx, small, pod), s.Advance(ctx, 10*time.Minute), s.Create(ctx, large), s.Settle(ctx),
	} {
		if step != nil {
			panic(step)
		}
	}
	for _, decision := range s.Results().Summaries() {
		fmt.Printf("%s %s %q\n", decision.StartTime.Format("15:04:05"), decision.Outcome, decision.SelectedNode)
	}
	// Output:
	// 00:00:00 unschedulable ""
	// 00:05:30 unschedulable ""
	// 00:10:00 scheduled "large"
}
