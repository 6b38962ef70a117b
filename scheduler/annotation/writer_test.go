package annotation

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

func (a attempts) Pods() int { return 1 }

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
	w := NewWriter(client, results, DefaultBudget, clock, nil)
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
	w := NewWriter(client, attempts{1: first, 2: second}, DefaultBudget, testclock.NewFakeClock(time.Unix(0, 0)), nil)
	w.Note(first)
	w.Note(second)
	if diff := cmp.Diff([]Attempt{{"uid", 2}}, w.Left()); diff != "" {
		t.Error(diff)
	}
}

// The pod has a later attempt by then, and no annotation tells of evictions.
func TestWriterIgnoresTheOutcomeOfEvictions(t *testing.T) {
	evicted, next := scheduled(1), scheduled(1)
	evicted.Attempt, next.Attempt = 1, 2
	evicted.Updates, evicted.Preemption = 1, &result.Preemption{Evictions: &result.Evictions{Done: true}}
	w := NewWriter(fake.NewClientset(pod()), attempts{1: evicted, 2: next}, DefaultBudget, testclock.NewFakeClock(time.Unix(0, 0)), nil)
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
	w := NewWriter(fake.NewClientset(pod()), attempts{2: c}, DefaultBudget, testclock.NewFakeClock(time.Unix(0, 0)), nil)
	w.Note(c)
	w.Reset()
	if left := w.Left(); len(left) > 0 {
		t.Errorf("%v is still to be written", left)
	}
	w.Note(c)
	if len(w.Left()) != 1 {
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

// While scheduling is busy, a pod is written when it has waited for patience, and then one
// every busyPause.
func TestOldPodsAreWrittenWhileSchedulingIsBusy(t *testing.T) {
	clock := testclock.NewFakeClock(time.Unix(0, 0))
	w := NewWriter(fake.NewClientset(), attempts{}, DefaultBudget, clock, nil)
	cycleOf := func(uid types.UID) *result.Cycle {
		return &result.Cycle{Summary: result.Summary{Pod: result.Pod{UID: uid}, Attempt: 1}}
	}
	w.Note(cycleOf("a"))
	w.Note(cycleOf("b"))
	taken := map[types.UID]time.Duration{}
	for elapsed := time.Duration(0); elapsed < 2*patience; elapsed += 10 * time.Millisecond {
		w.Note(cycleOf("other"))
		if j, _ := w.next(); j != nil && j.UID != "other" {
			taken[j.UID] = elapsed
		}
		clock.Step(10 * time.Millisecond)
	}
	if diff := cmp.Diff(map[types.UID]time.Duration{"a": patience, "b": patience + busyPause}, taken); diff != "" {
		t.Error(diff)
	}
}

// A pod that cannot be written waits for its next try beside the others.
func TestRetriesDoNotHoldUpOtherPods(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("get", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		name := a.(clienttesting.GetAction).GetName()
		if name == "broken" {
			return true, nil, errors.New("the API server is busy")
		}
		p := pod()
		p.Name, p.UID = name, types.UID(name)
		return true, p, nil
	})
	results := byUID{}
	for _, name := range []string{"broken", "b", "c"} {
		c := scheduled(3)
		c.Pod.Name, c.Pod.UID = name, types.UID(name)
		results[c.Pod.UID] = c
	}
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
	w, _, patches := start(t, client, results)
	w.Resume([]Attempt{{"broken", 2}, {"b", 2}, {"c", 2}})
	// The clock stands still, so the failed pod is never due again.
	for _, want := range []string{"b", "c"} {
		if got := (<-patches).GetName(); got != want {
			t.Errorf("%s is written, not %s", got, want)
		}
	}
	until(t, "the failed pod waits", func() bool { return len(w.Left()) == 1 })
}

// byUID holds one cycle of each pod.
type byUID map[types.UID]*result.Cycle

func (b byUID) Get(uid types.UID, attempt int) (*result.Cycle, error) {
	if c := b[uid]; c != nil && c.Attempt == attempt {
		return c, nil
	}
	return nil, nil
}

func (b byUID) Pods() int { return len(b) }

func TestManyPodsShareABudget(t *testing.T) {
	for _, tc := range []struct{ budget, pods, want int }{
		{DefaultBudget, 0, DefaultBudget},
		{DefaultBudget, 512, DefaultBudget},
		{DefaultBudget, 2048, 16 << 10},
		{DefaultBudget, 1_000_000, 4 << 10},
		{1000, 1_000_000, 1000},
	} {
		w := NewWriter(fake.NewClientset(), attempts{}, tc.budget, testclock.NewFakeClock(time.Unix(0, 0)), nil)
		if got := w.share(tc.pods); got != tc.want {
			t.Errorf("with a budget of %d and %d pods, a pod may use %d bytes, want %d", tc.budget, tc.pods, got, tc.want)
		}
	}
}

// What a writer leaves when it stops, the next one writes.
func TestTheNextWriterContinues(t *testing.T) {
	first := NewWriter(fake.NewClientset(pod()), attempts{}, DefaultBudget, testclock.NewFakeClock(time.Unix(0, 0)), nil)
	first.Note(scheduled(3))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	first.Run(ctx)
	left := first.Left()
	if diff := cmp.Diff([]Attempt{{"uid", 2}}, left); diff != "" {
		t.Fatal(diff)
	}
	second, _, patches := start(t, fake.NewClientset(pod()), attempts{2: scheduled(3)})
	second.Resume(left)
	<-patches
}

// A write that the end of the program interrupts is left, too.
func TestAnInterruptedWriteIsLeft(t *testing.T) {
	client := fake.NewClientset(pod())
	ctx, cancel := context.WithCancel(t.Context())
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		cancel()
		return true, nil, ctx.Err()
	})
	w := NewWriter(client, attempts{2: scheduled(3)}, DefaultBudget, testclock.NewFakeClock(time.Unix(0, 0)), nil)
	w.Resume([]Attempt{{"uid", 2}})
	w.Run(ctx)
	if diff := cmp.Diff([]Attempt{{"uid", 2}}, w.Left()); diff != "" {
		t.Error(diff)
	}
}

// The first try updates what the cache has; after a failure the writer asks the API server, and
// patches.
func TestWriterUsesTheCache(t *testing.T) {
	client := fake.NewClientset(pod())
	clock := testclock.NewFakeClock(time.Unix(0, 0))
	late := pod()
	late.ResourceVersion = "5"
	late.Annotations = map[string]string{"mine": "1", Prefix + truncated: "of an earlier attempt"}
	late.Spec.NodeName = "node"
	before := late.DeepCopy()
	var versions []string
	client.PrependReactor("update", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		written := a.(clienttesting.UpdateAction).GetObject().(*v1.Pod)
		versions = append(versions, written.ResourceVersion)
		_, cut := written.Annotations[Prefix+truncated]
		if written.Annotations["mine"] != "1" || written.Annotations[Prefix+"selected-node"] == "" || cut || written.Spec.NodeName != "node" {
			t.Errorf("the pod becomes %+v", written)
		}
		return true, nil, apierrors.NewConflict(v1.Resource("pods"), "web", errors.New("the object has been modified"))
	})
	client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if bytes.Contains(a.(clienttesting.PatchAction).GetPatch(), []byte(`"resourceVersion":"7"`)) {
			versions = append(versions, "7")
		}
		return true, nil, nil
	})
	w := NewWriter(client, attempts{2: scheduled(3)}, DefaultBudget, clock, func(string, string) *v1.Pod { return late })
	w.Resume([]Attempt{{"uid", 2}})
	for len(w.Left()) > 0 {
		if j, pause := w.next(); j != nil {
			w.finish(t.Context(), j, w.write(t.Context(), j))
		} else {
			clock.Step(pause)
		}
	}
	if diff := cmp.Diff([]string{"5", "7"}, versions); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, late); diff != "" {
		t.Errorf("the pod in the cache has changed:\n%s", diff)
	}
	gets := 0
	for _, a := range client.Actions() {
		if a.GetVerb() == "get" {
			gets++
		}
	}
	if gets != 1 {
		t.Errorf("the API server was asked for the pod %d times", gets)
	}
}

func TestStrip(t *testing.T) {
	p := pod()
	p.Annotations = map[string]string{Prefix + "a": "1", "mine": "2"}
	Strip(p)
	if len(p.Annotations) != 1 || p.Annotations["mine"] != "2" {
		t.Errorf("annotations = %v", p.Annotations)
	}
	rest := p.Annotations
	Strip(p)
	if rest["later"] = ""; len(p.Annotations) != 2 {
		t.Error("a pod without our annotations has another map now")
	}
	p.Annotations = map[string]string{Prefix + "a": "1"}
	Strip(p)
	if p.Annotations != nil {
		t.Errorf("annotations = %v; a pod that never had any has nil", p.Annotations)
	}
}
