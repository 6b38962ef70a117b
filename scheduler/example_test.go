package scheduler_test

import (
	"context"
	"fmt"
	"log"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// printing is a sink that prints each cycle.
type printing struct{ attempts map[types.UID]int }

func (p printing) NextAttempt(uid types.UID) int {
	p.attempts[uid]++
	return p.attempts[uid]
}

func (p printing) Put(c *result.Cycle) {
	fmt.Printf("%s, attempt %d: %s on %s, %d of %d nodes feasible\n",
		c.Pod.Name, c.Attempt, c.Outcome, c.SelectedNode, c.Nodes.Feasible, c.Nodes.Total)
	for i, node := range c.Filter.Nodes.All() {
		if verdict := c.Filter.Verdict(i); verdict.Plugin != "" {
			fmt.Printf("%s rejected %s: %s\n", verdict.Plugin, node, verdict.Reasons[0])
		}
	}
}

// A library user runs a recorded scheduler against any API server. Here it is one in
// memory.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server := schedulertest.NewAPIServer()
	client := kubernetes.NewForConfigOrDie(server.Config("user"))
	configuration, err := config.Default()
	if err != nil {
		log.Fatal(err)
	}

	s := scheduler.New(scheduler.Options{
		Client:        server.Config("scheduler"),
		Configuration: configuration.Internal,
		Sink:          printing{map[types.UID]int{}},
	})
	if err := s.Start(ctx); err != nil {
		log.Fatal(err)
	}
	for name, cpu := range map[string]string{"small": "1", "large": "8"} {
		node := st.MakeNode().Name(name).Capacity(map[v1.ResourceName]string{v1.ResourceCPU: cpu, v1.ResourcePods: "10"}).Obj()
		if node, err = client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			log.Fatal(err)
		}
		// The scheduler knows both nodes before the pod is created.
		if err := s.Idle(ctx, []scheduler.Change{{UID: node.UID, ResourceVersion: node.ResourceVersion, Certain: true}}); err != nil {
			log.Fatal(err)
		}
	}
	pod := st.MakePod().Namespace("default").Name("web").SchedulerName(v1.DefaultSchedulerName).
		Req(map[v1.ResourceName]string{v1.ResourceCPU: "4"}).Obj()
	if pod, err = client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		log.Fatal(err)
	}
	if err := s.Idle(ctx, []scheduler.Change{{UID: pod.UID, ResourceVersion: pod.ResourceVersion, Certain: true}}); err != nil {
		log.Fatal(err)
	}
	if err := s.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// web, attempt 1: scheduled on large, 1 of 2 nodes feasible
	// NodeResourcesFit rejected small: Insufficient cpu
}
