package watch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/server/watch/watchtest"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// fakeQueues is a scheduling queue that counts how often it is read.
type fakeQueues struct {
	mu     sync.Mutex
	active int
	err    error
	reads  int
}

func (f *fakeQueues) read() (result.Queues, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	return result.Queues{Queues: []result.QueueState{{Queue: "active", Pods: f.active, Events: []result.QueueEvent{}}}}, f.err
}

func (f *fakeQueues) set(active int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.active, f.err = active, err
}

func (f *fakeQueues) readings() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reads
}

func queuesList(id string, active int) string {
	return fmt.Sprintf(`{"type":"list","id":%q,"first":true,"items":[{"queues":[{"queue":"active","pods":%d,"events":[]}]}],"more":false}`, id, active)
}

func queuesEvent(id string, active int) string {
	return fmt.Sprintf(`{"type":"events","id":%q,"events":[{"type":"MODIFIED","object":{"queues":[{"queue":"active","pods":%d,"events":[]}]}}]}`, id, active)
}

// TestQueuesAreReadWhileFollowed: the feed reads the queue once per interval for all its
// readers, publishes only changes, and without readers neither reads nor keeps a timer.
func TestQueuesAreReadWhileFollowed(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	l := *testLimits()
	f := newPolledFeed(clock, l)
	source := &fakeQueues{active: 1}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); f.poll(ctx, func() (any, error) { return source.read() }, klog.Logger{}) }()
	defer func() { cancel(); <-done }()

	join := func(id string) *subscription {
		s := newSubscription(id, &conn{hub: &Hub{limits: l}, woken: make(chan struct{}, 1)})
		s.feed = &f.feed
		f.join(s)
		notify(f.joined)
		return s
	}
	paused := func(readings int) {
		t.Helper()
		clustertest.EventuallyTrue(t, fmt.Sprintf("the pause after reading %d begins", readings), func() bool { return source.readings() == readings && clock.HasWaiters() })
	}
	step := func(readings int) {
		t.Helper()
		clock.Step(l.poll)
		paused(readings)
	}

	want(t, "readings without a reader", source.readings(), 0)
	want(t, "timers without a reader", clock.HasWaiters(), false)

	a := join("a")
	paused(1)
	want(t, "list", script(a), []string{queuesList("a", 1)})
	b := join("b")
	want(t, "list of another reader", script(b), []string{queuesList("b", 1)})
	want(t, "readings for both", source.readings(), 1)

	step(2)
	want(t, "frames while nothing changes", script(a), nil)
	source.set(2, nil)
	clock.Step(l.poll - 1)
	want(t, "readings before the interval has passed", source.readings(), 2)
	clock.Step(1)
	paused(3)
	want(t, "event", script(a), []string{queuesEvent("a", 2)})
	want(t, "event of the other", script(b), []string{queuesEvent("b", 2)})

	source.set(3, errors.New("unreadable"))
	step(4)
	want(t, "frames after an error", script(a), nil)

	f.leave(a)
	f.leave(b)
	clock.Step(l.poll)
	clustertest.EventuallyTrue(t, "the state is withdrawn", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return !f.open
	})
	want(t, "readings after the last reader", source.readings(), 4)
	want(t, "timers after the last reader", clock.HasWaiters(), false)

	source.set(4, nil)
	late := join("late")
	paused(5)
	want(t, "list of a late reader", script(late), []string{queuesList("late", 4)})
}

// TestWithdrawnObject: a reader of the old object gets the next one as a list.
func TestWithdrawnObject(t *testing.T) {
	f, s := testFeed(*testLimits())
	f.put([]byte("0"))
	script(s)
	f.withdraw()
	want(t, "frames while there is none", script(s), nil)
	f.put([]byte("0"))
	want(t, "list", script(s), []string{`{"type":"list","id":"s","first":true,"items":[0],"more":false}`})
}

func TestWatchQueues(t *testing.T) {
	limits := testLimits()
	limits.poll = time.Millisecond
	h := serve(t, Options{limits: limits})
	c := h.dial()
	c.Topic(topicQueues)
	source := &fakeQueues{active: 1}
	client, err := NewClient(nowhere)
	if err != nil {
		t.Fatal(err)
	}
	h.Attach(Backend{Client: client, Results: &watchtest.Results{}, Queues: source.read})
	want(t, "list", c.NextRaw(), queuesList("t", 1))
	source.set(2, nil)
	want(t, "event", c.NextRaw(), queuesEvent("t", 2))
}

func TestUnknownQueues(t *testing.T) {
	h := serve(t, Options{})
	c := h.dial()
	c.Topic(topicQueues)
	h.attach(nil, nil)
	refusal := fmt.Sprintf("error t %d: this simulator does not report its scheduling queue", http.StatusNotImplemented)
	want(t, "a client that waited", c.Next(), refusal)
	c.Topic(topicQueues)
	want(t, "a client that comes later", c.Next(), refusal)
}
