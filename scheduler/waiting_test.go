package scheduler_test

import (
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
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// waiter is a scheduler with one node of one CPU.
type waiter struct {
	*scheduler.Scheduler
	t      *testing.T
	server *schedulertest.APIServer
	client kubernetes.Interface
	store  *resultstore.Store
}

func newWaiter(t *testing.T) *waiter {
	t.Helper()
	server := schedulertest.NewAPIServer()
	client, err := kubernetes.NewForConfig(server.Config("user"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schedulertest.Create(t.Context(), client, st.MakeNode().Name("n").Capacity(map[v1.ResourceName]string{"cpu": "1", "pods": "10"}).Obj()); err != nil {
		t.Fatal(err)
	}
	standard, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	w := &waiter{t: t, server: server, client: client, store: resultstore.New(resultstore.Options{})}
	w.Scheduler = scheduler.New(scheduler.Options{Client: server.Config("scheduler"), Configuration: standard.Internal, Sink: w.store})
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *waiter) stop() {
	if err := w.Stop(w.t.Context()); err != nil {
		w.t.Error(err)
	}
	time.Sleep(2 * time.Hour) // goroutines that Kubernetes does not wait for end on their own
}

func (w *waiter) create(pod *st.PodWrapper, cpu string) result.Pod {
	w.t.Helper()
	p := pod.Namespace("default").SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": cpu}).Obj()
	if err := schedulertest.Create(w.t.Context(), w.client, p); err != nil {
		w.t.Fatal(err)
	}
	p, err := w.client.CoreV1().Pods("default").Get(w.t.Context(), p.Name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	return result.Pod{Namespace: p.Namespace, Name: p.Name, UID: p.UID}
}

func (w *waiter) attempts(of result.Pod) int {
	items, err := w.store.Attempts(of.UID)
	if err != nil {
		w.t.Fatal(err)
	}
	return len(items)
}

// expect compares where a pod waits, and for how much longer, in whole seconds.
func (w *waiter) expect(of result.Pod, queue result.QueueName, left time.Duration) {
	w.t.Helper()
	got := w.Waiting(of)
	if got == nil || got.Until == nil {
		w.t.Fatalf("%s waits as %+v", of.Name, got)
	}
	if diff := cmp.Diff(result.QueueWait{Queue: queue}, result.QueueWait{Queue: got.Queue}); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", of.Name, diff)
	}
	if is := time.Until(*got.Until).Round(time.Second); is != left {
		w.t.Errorf("%s waits for %v more, want %v", of.Name, is, left)
	}
}

func TestAnUnschedulablePodIsTriedWhenItsWaitEndsOrIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiter(t)
		defer w.stop()
		big := w.create(st.MakePod().Name("big"), "2")
		w.expect(big, "unschedulable", 5*time.Minute)
		time.Sleep(4 * time.Minute)
		w.expect(big, "unschedulable", time.Minute)
		if n := w.attempts(big); n != 1 {
			t.Fatalf("%d attempts while it waits, want 1", n)
		}
		// The queue looks every 30 seconds.
		time.Sleep(91 * time.Second)
		if n := w.attempts(big); n != 2 {
			t.Fatalf("%d attempts when the wait has ended, want 2", n)
		}
		time.Sleep(time.Minute)
		if !w.TryNow(big) {
			t.Error("the pod waits, but is not tried")
		}
		time.Sleep(100 * time.Millisecond)
		if n := w.attempts(big); n != 3 {
			t.Fatalf("%d attempts when the wait was ended, want 3", n)
		}
		w.expect(big, "unschedulable", 5*time.Minute)
	})
}

func TestAPodInBackoffIsTriedWhenItsWaitIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiter(t)
		defer w.stop()
		w.server.FailBinding("unlucky", 1)
		unlucky := w.create(st.MakePod().Name("unlucky"), "500m")
		w.expect(unlucky, "backoff", time.Second)
		if !w.TryNow(unlucky) {
			t.Error("the pod waits, but is not tried")
		}
		time.Sleep(100 * time.Millisecond)
		if n := w.attempts(unlucky); n != 2 {
			t.Errorf("%d attempts when the backoff was ended, want 2", n)
		}
		if got := w.Waiting(unlucky); got != nil {
			t.Errorf("the bound pod waits as %+v", got)
		}
	})
}

func TestOnlyAPodThatWaitsIsTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiter(t)
		defer w.stop()
		gated := w.create(st.MakePod().Name("gated").SchedulingGates([]string{"example.com/gate"}), "2")
		bound := w.create(st.MakePod().Name("bound"), "500m")
		big := w.create(st.MakePod().Name("big"), "2")
		other := big
		other.UID = "of-its-predecessor"
		for _, of := range []result.Pod{gated, bound, other, {Namespace: "default", Name: "gone", UID: "gone"}} {
			if got := w.Waiting(of); got != nil {
				t.Errorf("%s %s waits as %+v", of.Name, of.UID, got)
			}
			if w.TryNow(of) {
				t.Errorf("%s %s is tried", of.Name, of.UID)
			}
		}
		time.Sleep(time.Second)
		if n := w.attempts(gated) + w.attempts(big); n != 1 {
			t.Errorf("%d attempts, want one, of the pod that is too big", n)
		}
	})
}
