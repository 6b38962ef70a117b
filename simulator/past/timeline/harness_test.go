package timeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"kube-scheduler-simulator/scheduler/result"
)

// stored returns an object as the API server stores it.
func stored(t testing.TB, object runtime.Object) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := storedDecoder.Encode(object, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pod(name, node string) *v1.Pod {
	return &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)},
		Spec:       v1.PodSpec{NodeName: node, Containers: []v1.Container{{Name: "c", Image: "i"}}},
	}
}

func node(name string) *v1.Node {
	return &v1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}}
}

// custom returns a custom resource as the API server stores it.
func custom(t testing.TB, name string, replicas int) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{"replicas": replicas},
		"metadata": map[string]any{"namespace": "default", "name": name, "managedFields": []any{map[string]any{"manager": "kubectl"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// testClock calls functions in Step, after the time has changed: those of the fake clock must not ask it for the time.
type testClock struct {
	*clocktesting.FakeClock
	mu     sync.Mutex
	timers []*testTimer
}

type testTimer struct {
	clock *testClock
	at    time.Time
	f     func()
}

func (c *testClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	timer := &testTimer{c, c.Now().Add(d), f}
	c.timers = append(c.timers, timer)
	return timer
}

func (t *testTimer) C() <-chan time.Time      { return nil }
func (t *testTimer) Reset(time.Duration) bool { panic("not used") }
func (t *testTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	before := len(t.clock.timers)
	t.clock.timers = slices.DeleteFunc(t.clock.timers, func(other *testTimer) bool { return other == t })
	return len(t.clock.timers) < before
}

func (c *testClock) Step(d time.Duration) {
	end := c.Now().Add(d)
	for {
		c.mu.Lock()
		var next *testTimer
		for _, timer := range c.timers {
			if !timer.at.After(end) && (next == nil || timer.at.Before(next.at)) {
				next = timer
			}
		}
		c.timers = slices.DeleteFunc(c.timers, func(other *testTimer) bool { return other == next })
		c.mu.Unlock()
		if next == nil {
			c.SetTime(end)
			return
		}
		c.SetTime(next.at)
		next.f()
	}
}

// noResults is a result store whose cycles the test ends.
type noResults struct {
	fn     func(*result.Cycle)
	cycles map[types.UID]*result.Cycle
}

func (r *noResults) Subscribe(fn func(*result.Cycle)) func() {
	r.fn = fn
	return func() {}
}

func (r *noResults) Get(uid types.UID, _ int) (*result.Cycle, error) { return r.cycles[uid], nil }

// harness is a time line of a cluster that the test changes.
type harness struct {
	*Timeline
	t       testing.TB
	clock   *testClock
	results *noResults
	stored  map[string][]byte
	dir     string
}

var start = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

func newHarness(t testing.TB, limit int64) *harness {
	t.Helper()
	h := &harness{t: t, clock: &testClock{FakeClock: clocktesting.NewFakeClock(start)}, stored: map[string][]byte{}, dir: t.TempDir(), results: &noResults{cycles: map[types.UID]*result.Cycle{}}}
	h.open(limit)
	return h
}

// open starts a time line on the directory, which reads the cluster as it is.
func (h *harness) open(limit int64) {
	h.Timeline = New(Options{
		Dir: h.dir, Bytes: limit, Clock: h.clock, Results: h.results,
		Follow: func(ctx context.Context, _ func([]Entry, bool), _ func([]Entry)) error {
			<-ctx.Done()
			return nil
		},
	})
	h.Start()
	<-h.loaded
	var all []Entry
	for key, value := range h.stored {
		all = append(all, Entry{Key: key, Value: value})
	}
	h.listed(all, true)
	h.t.Cleanup(h.kill)
}

// kill ends the time line as SIGKILL would: what is not written is lost.
func (h *harness) kill() {
	if h.Timeline == nil {
		return
	}
	h.cancel()
	h.running.Wait()
	if h.timer != nil {
		h.timer.Stop()
	}
	_ = h.journal.files.Close()
	h.Timeline = nil
}

func (h *harness) put(key string, value []byte) {
	h.clock.Step(10 * time.Millisecond)
	h.stored[key] = value
	if value == nil {
		delete(h.stored, key)
	}
	h.changed([]Entry{{Key: key, Value: value}})
}

func (h *harness) putPod(name, node string) {
	h.put("pods/default/"+name, stored(h.t, pod(name, node)))
}

// latestMoment is the number of the newest moment.
func (h *harness) latestMoment() uint64 { return h.journal.moment }

// keys returns what exists at a moment, with the values' checksums.
func (h *harness) state(moment uint64) map[string][]byte {
	h.t.Helper()
	_, s, err := h.snapshot(context.Background(), At{Moment: moment})
	if err != nil {
		h.t.Fatalf("moment %d: %v", moment, err)
	}
	return s.objects
}

// inForm returns what the journal should hold of the cluster.
func (h *harness) inForm() map[string][]byte {
	h.t.Helper()
	want := map[string][]byte{}
	for key, value := range h.stored {
		data, err := new(stripper).strip(value)
		if err != nil {
			h.t.Fatal(err)
		}
		want[key] = data
	}
	return want
}

func (h *harness) steps() []string {
	h.t.Helper()
	line, err := h.Line(context.Background(), Query{})
	if err != nil {
		h.t.Fatal(err)
	}
	var all []string
	for _, s := range line.Steps {
		text := fmt.Sprintf("%s %s by %s: %d", s.Kind, s.Verb, s.By, s.Count)
		for _, o := range s.Objects {
			text += " " + o.Kind + "/" + o.Name
		}
		if s.Deleted > 0 {
			text += fmt.Sprintf(" after %d deleted", s.Deleted)
		}
		if s.EndTime != nil {
			text += fmt.Sprintf(" for %v", s.EndTime.Sub(s.Time))
		}
		all = append(all, text)
	}
	return all
}
