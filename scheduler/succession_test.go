package scheduler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// A scheduler that takes over must know the nominations of its predecessor before it
// schedules, or it gives the nominated pod's room to others.
func TestCatchUpWaitsForNominations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := schedulertest.NewAPIServer()
		server.DelayTermination(time.Hour)
		client, err := kubernetes.NewForConfig(server.Config("user"))
		if err != nil {
			t.Fatal(err)
		}
		create := func(pod *st.PodWrapper, priority int32) {
			p := pod.Namespace("default").SchedulerName(v1.DefaultSchedulerName).Priority(priority).Req(map[v1.ResourceName]string{"cpu": "1"}).Obj()
			if err := schedulertest.Create(t.Context(), client, p); err != nil {
				t.Fatal(err)
			}
		}
		if err := schedulertest.Create(t.Context(), client, st.MakeNode().Name("n").Capacity(map[v1.ResourceName]string{"cpu": "1", "pods": "10"}).Obj()); err != nil {
			t.Fatal(err)
		}
		standard, err := config.Default()
		if err != nil {
			t.Fatal(err)
		}
		options := scheduler.Options{Client: server.Config("scheduler"), Configuration: standard.Internal, Sink: resultstore.New(resultstore.Options{})}
		before, next := scheduler.New(options), scheduler.New(options)
		if err := before.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		create(st.MakePod().Name("victim"), 1)
		time.Sleep(time.Second)
		if err := next.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		server.DelayEvents("pods", 2*time.Second)
		create(st.MakePod().Name("preemptor"), 10)
		waitFor(t, func(ctx context.Context) bool {
			p, err := client.CoreV1().Pods("default").Get(ctx, "preemptor", metav1.GetOptions{})
			return err == nil && p.Status.NominatedNodeName == "n"
		})
		if err := before.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := next.CatchUp(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"preemptor"}, next.NominatedTo("n")); diff != "" {
			t.Errorf("nominated pods that the new scheduler knows (-want +got):\n%s", diff)
		}
		if err := next.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour) // goroutines that Kubernetes does not wait for end on their own
	})
}

// waitFor waits, in a bubble, for a condition that becomes true by itself.
func waitFor(t *testing.T, met func(context.Context) bool) {
	t.Helper()
	for range 1000 {
		if met(t.Context()) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the condition is not met")
}
