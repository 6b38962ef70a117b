package control

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// TestObserves: where another Kueue decides, nothing is written, and the view says what that Kueue writes.
func TestObserves(t *testing.T) {
	objects := append(aQueue("a", "f", "4"), aFlavor("f"))
	play(t, admission.Settings{}, objects, func(s *stage) {
		s.create(aJob("held", "a", 3))
		s.settle() // two of one second are in no order
		s.create(aJob("waits", "a", 3))
		s.settle()
		s.has("held", "Admitted=True")
		s.stop()

		s.observes = true
		s.begin(admission.Settings{})
		s.create(aJob("new", "a", 1))
		before := s.writes.Load()
		s.settle()
		if n := s.writes.Load() - before; n != 0 || s.workload("new") != nil {
			t.Errorf("the controllers wrote %d times", n)
		}
		view, err := s.queues.View()
		if err != nil {
			t.Fatal(err)
		}
		if len(view.Running) != 1 || len(view.Pending) != 1 {
			t.Fatalf("the view has %d that run and %d that wait, not 1 each", len(view.Running), len(view.Pending))
		}
		written := s.workload("waits")
		i := slices.IndexFunc(written.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kueue.WorkloadQuotaReserved })
		if p := view.Pending[0]; p.Reason.String() != written.Status.Conditions[i].Message || p.Condition != written.Status.Conditions[i].Reason {
			t.Errorf("the view says %q %q, and the condition %+v", p.Condition, p.Reason, written.Status.Conditions[i])
		}
		if err := s.queues.Flip(t.Context(), view.Running[0].Workload.Key(), "any", kueue.CheckStateReady, ""); !errors.Is(err, ErrObserves) {
			t.Errorf("a check can be flipped: %v", err)
		}
	})
}

func TestSignsOfKueueItself(t *testing.T) {
	rules := func(group string) []admissionregistrationv1.RuleWithOperations {
		return []admissionregistrationv1.RuleWithOperations{{Rule: admissionregistrationv1.Rule{APIGroups: []string{group}, Resources: []string{"*"}}}}
	}
	mutating := func(name, group string) runtime.Object {
		return &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "m", Rules: rules(group)}}}
	}
	validating := func(name, group string) runtime.Object {
		return &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "v", Rules: rules(group)}}}
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kueue-system", Name: "c1f6bfd2.kueue.x-k8s.io"}}
	for _, c := range []struct {
		name    string
		objects []runtime.Object
		want    string
	}{
		{"nothing", nil, ""},
		{"webhooks of others", []runtime.Object{mutating("m", "batch"), validating("v", "example.com")}, ""},
		{"webhooks", []runtime.Object{validating("v", "kueue.x-k8s.io"), mutating("m", "kueue.x-k8s.io")}, "the MutatingWebhookConfiguration m, the ValidatingWebhookConfiguration v"},
		{"a controller", []runtime.Object{lease}, "the Lease kueue-system/c1f6bfd2.kueue.x-k8s.io"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(c.objects...)
				shared := informers.NewSharedInformerFactory(client, 0)
				o, err := watchOriginal(client, shared, func() {})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				shared.StartWithContext(ctx)
				var running sync.WaitGroup
				running.Go(func() { o.run(ctx) })
				if !cache.WaitForCacheSync(ctx.Done(), o.synced...) {
					t.Error("the informers have no objects")
				}
				if got := o.sign(); got != c.want {
					t.Errorf("it says %q, want %q", got, c.want)
				}
				stop()
				running.Wait()
				shared.Shutdown()
			})
		})
	}
}

// TestWorkloadsOfAnotherKueue: a job whose workload another Kueue has made, under a name of its own, gets no second one, and of two only that
// with quota stays.
func TestWorkloadsOfAnotherKueue(t *testing.T) {
	play(t, admission.Settings{}, append(aQueue("a", "f", "4"), aFlavor("f")), func(s *stage) {
		for _, name := range []string{"runs", "waits"} {
			s.create(aJob(name, "a", 3))
			s.settle()
		}
		twin := func(name string) {
			w := s.workload(name).DeepCopy()
			w.Name, w.UID, w.ResourceVersion, w.Status = "another-"+name, "", "", kueue.WorkloadStatus{}
			s.create(w)
		}
		twin("runs")
		s.settle()
		s.stop()
		twin("waits")
		if err := s.at("Workload").Delete(t.Context(), jobs.WorkloadName(jobs.Batch{Job: s.job("waits")}), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		s.begin(admission.Settings{})

		list, err := s.at("Workload").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 2 {
			t.Errorf("two jobs have %d workloads", len(list.Items))
		}
		s.has("runs", "Admitted=True")
		s.has("waits", "QuotaReserved=False")
		if name := s.workload("waits").Name; name != "another-waits" {
			t.Errorf("the workload of the job that waits is %s", name)
		}
	})
}
