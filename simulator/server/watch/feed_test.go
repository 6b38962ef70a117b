package watch

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// testFeed returns a feed of one object, and a reader of it.
func testFeed(l limits) (*objectFeed, *subscription) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	f := newObjectFeed(clock, l)
	s := newSubscription("s", &conn{hub: &Hub{limits: l}, woken: make(chan struct{}, 1)})
	s.feed = &f.feed
	f.join(s)
	return f, s
}

// script returns the frames that s gets now.
func script(s *subscription) []string {
	var frames []string
	for {
		f, _ := s.take()
		if f == nil {
			return frames
		}
		var out bytes.Buffer
		f.writeTo(&frameWriter{to: &out})
		frames = append(frames, out.String())
	}
}

func TestSlowReaderListsAgain(t *testing.T) {
	for _, tc := range []struct {
		name  string
		limit func(*limits)
	}{
		{"events", func(l *limits) { l.logEvents = 2 }},
		{"bytes", func(l *limits) { l.logBytes = 2 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := *testLimits()
			tc.limit(&l)
			f, s := testFeed(l)
			want(t, "before there is a list", script(s), nil)
			f.put([]byte("0"))
			want(t, "list", script(s), []string{`{"type":"list","id":"s","first":true,"items":[0],"more":false}`})
			f.put([]byte("1"))
			f.put([]byte("2"))
			want(t, "events", script(s), []string{
				`{"type":"events","id":"s","events":[{"type":"MODIFIED","object":1},{"type":"MODIFIED","object":2}]}`,
			})
			for i := range 3 {
				f.put(fmt.Append(nil, i+3))
			}
			want(t, "list again", script(s), []string{`{"type":"list","id":"s","first":true,"items":[5],"more":false}`})
			want(t, "log", len(f.log), 2)
		})
	}
}

func TestEventsInChunks(t *testing.T) {
	l := *testLimits()
	l.frameItems, l.frameBytes = 2, 5
	f, s := testFeed(l)
	f.put([]byte("0"))
	script(s)
	for _, object := range []string{"1", "2", "3", "44444", "5"} {
		f.put([]byte(object))
	}
	want(t, "frames", script(s), []string{
		`{"type":"events","id":"s","events":[{"type":"MODIFIED","object":1},{"type":"MODIFIED","object":2}]}`,
		`{"type":"events","id":"s","events":[{"type":"MODIFIED","object":3}]}`,
		`{"type":"events","id":"s","events":[{"type":"MODIFIED","object":44444}]}`,
		`{"type":"events","id":"s","events":[{"type":"MODIFIED","object":5}]}`,
	})
}

// TestReadersShareAList: readers that join within one batch get the same list, followed
// by the changes since.
func TestReadersShareAList(t *testing.T) {
	f, s := testFeed(*defaultLimits())
	f.put([]byte("0"))
	script(s)
	f.put([]byte("1"))
	late := newSubscription("l", s.conn)
	late.feed = s.feed
	want(t, "frames", script(late), []string{
		`{"type":"list","id":"l","first":true,"items":[0],"more":false}`,
		`{"type":"events","id":"l","events":[{"type":"MODIFIED","object":1}]}`,
	})
	f.clock.(*clocktesting.FakeClock).Step(f.limits.batch)
	later := newSubscription("n", s.conn)
	later.feed = s.feed
	want(t, "frames", script(later), []string{`{"type":"list","id":"n","first":true,"items":[1],"more":false}`})
}

// TestNoLogWithoutReaders: a feed without readers logs no changes; the next reader gets
// them in the list.
func TestNoLogWithoutReaders(t *testing.T) {
	f, s := testFeed(*defaultLimits())
	f.put([]byte("0"))
	script(s)
	f.leave(s)
	for _, object := range []string{"1", "2"} {
		f.put([]byte(object))
	}
	if len(f.log) != 0 || f.logBytes != 0 {
		t.Errorf("the log has %d changes of %d bytes", len(f.log), f.logBytes)
	}
	next := newSubscription("n", s.conn)
	next.feed = s.feed
	f.join(next)
	want(t, "the list", script(next), []string{`{"type":"list","id":"n","first":true,"items":[2],"more":false}`})
	f.put([]byte("3"))
	want(t, "events", script(next), []string{`{"type":"events","id":"n","events":[{"type":"MODIFIED","object":3}]}`})
}

// TestPumpBatches: the first change wakes readers at once; later ones wake them after
// the batch time.
func TestPumpBatches(t *testing.T) {
	f, s := testFeed(*defaultLimits())
	clock := f.clock.(*clocktesting.FakeClock)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); f.pump(ctx, nil) }()
	defer func() { cancel(); <-done }()

	f.put([]byte("0"))
	<-s.conn.woken
	clustertest.EventuallyTrue(t, "the pause begins", clock.HasWaiters)
	f.put([]byte("1"))
	f.put([]byte("2"))
	want(t, "woken within the pause", len(s.conn.woken), 0)
	clock.Step(f.limits.batch)
	<-s.conn.woken
}

// TestPumpLingers: a feed ends when it has had no readers for the linger time.
func TestPumpLingers(t *testing.T) {
	f, s := testFeed(*defaultLimits())
	clock := f.clock.(*clocktesting.FakeClock)
	asked := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.pump(context.Background(), func() bool { notify(asked); return !f.hasReaders() })
	}()
	f.leave(s)
	clustertest.EventuallyTrue(t, "the linger timer runs", clock.HasWaiters)
	clock.Step(f.limits.linger - 1)
	want(t, "asked early", len(asked), 0)
	f.join(s)
	clock.Step(1)
	<-asked

	f.leave(s)
	clustertest.EventuallyTrue(t, "the linger timer runs", clock.HasWaiters)
	clock.Step(f.limits.linger)
	<-done
}
