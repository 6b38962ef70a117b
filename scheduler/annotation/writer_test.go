package annotation

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	testclock "k8s.io/utils/clock/testing"

	"kube-scheduler-simulator/scheduler/result"
)

// attempts holds the cycles of one pod by attempt.
type attempts map[int]*result.Cycle

func (a attempts) Get(_ types.UID, attempt int) (*result.Cycle, error) { return a[attempt], nil }

func pod() *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid", ResourceVersion: "7"}}
}

// start runs a writer over a fake client until the test ends. Each patch that
// the client gets is sent on the channel.
func start(t *testing.T, client *fake.Clientset, results Results) (*Writer, *testclock.FakeClock, <-chan clienttesting.PatchAction) {
	t.Helper()
	patches := make(chan clienttesting.PatchAction, 100)
	client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		patches <- a.(clienttesting.PatchAction)
		return false, nil, nil
	})
	clock := testclock.NewFakeClock(time.Unix(0, 0))
	w := NewWriter(client, results, DefaultBudget, clock)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return w, clock, patches
}

// until waits for a condition that another goroutine fulfils.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("%s: not within 10 s", what)
		case <-tick.C:
		}
	}
}

func TestWriterYieldsWhileSchedulingIsBusy(t *testing.T) {
	c := scheduled(3)
	w, clock, patches := start(t, fake.NewClientset(pod()), attempts{2: c})
	w.Note(c)
	until(t, "the writer waits", clock.HasWaiters)
	if len(patches) > 0 {
		t.Fatal("a pod was written while cycles came in")
	}
	clock.Step(busyPause)
	patch := <-patches
	for _, want := range []string{`"uid":"uid"`, `"resourceVersion":"7"`} {
		if !bytes.Contains(patch.GetPatch(), []byte(want)) {
			t.Errorf("the patch has no precondition %s: %s", want, patch.GetPatch())
		}
	}
}

func TestWriterCoalescesTheAttemptsOfAPod(t *testing.T) {
	first, second := scheduled(3), scheduled(3)
	first.Attempt, second.Attempt = 1, 2
	first.SelectedNode, second.SelectedNode = "", "node-0000"
	client := fake.NewClientset(pod())
	w := NewWriter(client, attempts{1: first, 2: second}, DefaultBudget, testclock.NewFakeClock(time.Unix(0, 0)))
	w.Note(first)
	w.Note(second)
	if _, attempt, ok := w.next(); !ok || attempt != 2 {
		t.Errorf("next attempt = %d, %v", attempt, ok)
	}
	if _, _, ok := w.next(); ok {
		t.Error("the earlier attempt is still to be written")
	}
}

// The pod has a later attempt by then, and no annotation tells of evictions.
func TestWriterIgnoresTheOutcomeOfEvictions(t *testing.T) {
	evicted, next := scheduled(1), scheduled(1)
	evicted.Attempt, next.Attempt = 1, 2
	evicted.Updates, evicted.Preemption = 1, &result.Preemption{Evictions: &result.Evictions{Done: true}}
	w := NewWriter(fake.NewClientset(pod()), attempts{1: evicted, 2: next}, DefaultBudget, testclock.NewFakeClock(time.Unix(0, 0)))
	w.Note(evicted)
	if n := len(w.waiting); n > 0 {
		t.Errorf("%d attempts wait to be written", n)
	}
	evicted.Updates = 0
	w.Note(evicted)
	if n := len(w.waiting); n != 1 {
		t.Errorf("%d attempts wait to be written, not the first version", n)
	}
}

func TestResetDropsWaitingAttempts(t *testing.T) {
	c := scheduled(3)
	w := NewWriter(fake.NewClientset(pod()), attempts{2: c}, DefaultBudget, testclock.NewFakeClock(time.Unix(0, 0)))
	w.Note(c)
	w.Reset()
	if uid, _, ok := w.next(); ok {
		t.Errorf("%s is still to be written", uid)
	}
	w.Note(c)
	if _, _, ok := w.next(); !ok {
		t.Error("an attempt after the reset is not to be written")
	}
}

func TestWriterWritesForThisPodOnly(t *testing.T) {
	c := scheduled(3)
	client := fake.NewClientset(pod())
	w, clock, patches := start(t, client, attempts{2: c})
	w.Note(c)
	until(t, "the writer waits", clock.HasWaiters)
	clock.Step(busyPause)
	<-patches
	until(t, "the annotations are there", func() bool {
		got, err := client.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && got.Annotations[Prefix+selectedNode] == "node-0000"
	})
}

func TestWriterTriesAgainAfterAnError(t *testing.T) {
	c := scheduled(3)
	client := fake.NewClientset(pod())
	failures := 2
	w, clock, patches := start(t, client, attempts{2: c})
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		if failures--; failures >= 0 {
			return true, nil, errors.New("the API server is busy")
		}
		return false, nil, nil
	})
	w.Note(c)
	for range 3 {
		until(t, "the writer waits", clock.HasWaiters)
		clock.Step(time.Second)
	}
	<-patches
}

// Patching a pod that is about to be removed can delete the next pod of the same
// name.
func TestWriterSkipsDeletedAndReplacedPods(t *testing.T) {
	going, other := pod(), pod()
	going.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	other.UID = "another"
	for name, there := range map[string]*v1.Pod{"being deleted": going, "another pod of the same name": other} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(there)
			w, clock, patches := start(t, client, attempts{2: scheduled(3)})
			w.Note(scheduled(3))
			until(t, "the writer waits", clock.HasWaiters)
			clock.Step(busyPause)
			until(t, "the writer has looked", func() bool { return len(client.Actions()) > 0 })
			w.Note(scheduled(3)) // the writer starts it only after the first is done
			until(t, "the writer waits again", clock.HasWaiters)
			if len(patches) > 0 {
				t.Errorf("the pod was written: %s", (<-patches).GetPatch())
			}
		})
	}
}

func TestWriterLooksAgainAfterAConflict(t *testing.T) {
	client := fake.NewClientset(pod())
	w, clock, patches := start(t, client, attempts{2: scheduled(3)})
	changed := false
	client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if changed {
			return false, nil, nil
		}
		changed = true
		p := pod()
		p.ResourceVersion = "8"
		if err := client.Tracker().Update(v1.SchemeGroupVersion.WithResource("pods"), p, "default"); err != nil {
			t.Error(err)
		}
		return true, nil, apierrors.NewConflict(v1.Resource("pods"), "web", errors.New("the object has been modified"))
	})
	w.Note(scheduled(3))
	for range 2 {
		until(t, "the writer waits", clock.HasWaiters)
		clock.Step(busyPause)
	}
	if patch := (<-patches).GetPatch(); !bytes.Contains(patch, []byte(`"resourceVersion":"8"`)) {
		t.Errorf("the second patch is %s", patch)
	}
}

func TestStrip(t *testing.T) {
	p := pod()
	p.Annotations = map[string]string{Prefix + "a": "1", "mine": "2"}
	Strip(p)
	if len(p.Annotations) != 1 || p.Annotations["mine"] != "2" {
		t.Errorf("annotations = %v", p.Annotations)
	}
	p.Annotations = map[string]string{Prefix + "a": "1"}
	Strip(p)
	if p.Annotations != nil {
		t.Errorf("annotations = %v; a pod that never had any has nil", p.Annotations)
	}
}
