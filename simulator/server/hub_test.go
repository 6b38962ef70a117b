package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"kube-scheduler-simulator/scheduler/result"
)

func want[T any](t *testing.T, what string, got, wanted T) {
	t.Helper()
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// TestWatchKind is the life of a subscription.
func TestWatchKind(t *testing.T) {
	for _, unstreamed := range []bool{false, true} {
		t.Run(fmt.Sprintf("unstreamed=%t", unstreamed), func(t *testing.T) {
			api := newFakeAPI(t)
			api.unstreamed = unstreamed
			api.put("b", "1")
			api.put("a", "1")
			h := serve(t, Options{})
			h.attach(api, nil)

			c := h.dial()
			c.subscribe("cm")
			want(t, "list", c.next(), "list cm first: a=1, b=1")
			api.put("c", "1")
			api.put("a", "2")
			api.remove("b")
			want(t, "events", c.events(3), []string{"ADDED c=1", "MODIFIED a=2", "DELETED b=1"})

			other := h.dial()
			other.subscribe("mine")
			want(t, "list of another client", other.next(), "list mine first: a=2, c=1")

			c.subscribe("cm")
			want(t, "list again", c.next(), "list cm first: a=2, c=1")
			c.send(`{"type":"unsubscribe","id":"cm"}`)
			// Answers come in order: after this one, the subscription has ended.
			c.send(`{}`)
			want(t, "refusal", c.next(), "error  400: the frame is not understood: id must have 1 to 256 bytes")
			api.put("d", "1")
			want(t, "event to the other", other.events(1), []string{"ADDED d=1"})
			c.subscribe("again")
			want(t, "next frame", c.next(), "list again first: a=2, c=1, d=1")
			api.until(t, "one watch for all", func() bool { return api.watches == 1 })
		})
	}
}

func TestSubscriptionsWaitForTheBackend(t *testing.T) {
	api := newFakeAPI(t)
	api.put("a", "1")
	h := serve(t, Options{})
	c := h.dial()
	c.topic(topicResults)
	c.subscribe("cm")
	c.send(`{}`)
	c.next()
	h.attach(api, &fakeResults{cycles: []*result.Cycle{cycle("u", 1, result.Scheduled)}})
	got := map[string]bool{c.next(): true, c.next(): true}
	want(t, "lists", got, map[string]bool{"list t first: u/1=scheduled": true, "list cm first: a=1": true})
}

func TestListInChunks(t *testing.T) {
	api := newFakeAPI(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		api.put(name, "1")
	}
	limits := testLimits()
	limits.frameItems = 2
	h := serve(t, Options{limits: limits})
	h.attach(api, nil)
	c := h.dial()
	c.subscribe("cm")
	want(t, "frames", []string{c.next(), c.next(), c.next()}, []string{
		"list cm first more: a=1, b=1",
		"list cm more: c=1, d=1",
		"list cm: e=1",
	})
}

// TestWatchIsResumed covers what an API server does to watches: readers see
// changes only, never a second list.
func TestWatchIsResumed(t *testing.T) {
	for _, tc := range []struct {
		name      string
		interrupt func(*fakeAPI)
	}{
		{"ended", func(api *fakeAPI) { api.epoch++ }},
		{"expired", func(api *fakeAPI) { api.epoch++; api.compacted = api.version + 3; api.changes = nil }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := newFakeAPI(t)
			api.put("a", "1")
			api.put("b", "1")
			h := serve(t, Options{})
			h.attach(api, nil)
			c := h.dial()
			c.subscribe("cm")
			want(t, "list", c.next(), "list cm first: a=1, b=1")
			api.until(t, "a watch", func() bool { return api.watches == 1 })

			api.do(func() { tc.interrupt(api) })
			api.remove("a")
			api.put("b", "2")
			api.put("c", "1")
			want(t, "events", c.events(3), []string{"DELETED a=1", "MODIFIED b=2", "ADDED c=1"})
			api.until(t, "a watch again", func() bool { return api.watches == 1 })
			api.put("c", "2")
			want(t, "event", c.events(1), []string{"MODIFIED c=2"})
		})
	}
}

// TestRecreatedUnnoticed: an object of the same name is another object.
func TestRecreatedUnnoticed(t *testing.T) {
	api := newFakeAPI(t)
	api.put("a", "1")
	h := serve(t, Options{})
	h.attach(api, nil)
	c := h.dial()
	c.subscribe("cm")
	c.next()
	api.do(func() {
		api.epoch++
		api.version += 2
		api.compacted = api.version
		api.changes = nil
		api.objects["a"] = fakeObject{name: "a", data: "2", uid: api.version, version: api.version}
	})
	want(t, "events", c.events(2), []string{"DELETED a=1", "ADDED a=2"})
}

func TestRefusedKinds(t *testing.T) {
	api := newFakeAPI(t)
	h := serve(t, Options{})
	h.attach(api, nil)
	c := h.dial()
	c.send(`{"type":"subscribe","id":"w","resource":{"group":"example.com","version":"v1","resource":"widgets"}}`)
	want(t, "unknown kind", c.next(), "error w 404: refused with 404")

	api.do(func() { api.refusal = http.StatusForbidden })
	c.subscribe("cm")
	want(t, "forbidden kind", c.next(), "error cm 403: refused with 403")
	// The refusal is not remembered.
	api.do(func() { api.refusal = 0 })
	c.subscribe("cm")
	want(t, "kind", c.next(), "list cm first: ")
}

// TestKindGoes: a CRD is deleted while its objects are watched.
func TestKindGoes(t *testing.T) {
	api := newFakeAPI(t)
	api.put("a", "1")
	h := serve(t, Options{})
	h.attach(api, nil)
	c := h.dial()
	c.subscribe("cm")
	c.next()
	api.do(func() { api.refusal = http.StatusNotFound; api.epoch++ })
	want(t, "end", c.next(), "error cm 404: refused with 404")
}

func TestAPIServerFailsForAWhile(t *testing.T) {
	api := newFakeAPI(t)
	api.put("a", "1")
	h := serve(t, Options{})
	h.attach(api, nil)
	c := h.dial()
	c.subscribe("cm")
	c.next()
	api.do(func() { api.refusal = http.StatusServiceUnavailable; api.epoch++ })
	api.until(t, "no watch", func() bool { return api.watches == 0 })
	api.put("a", "2")
	api.do(func() { api.refusal = 0 })
	want(t, "event", c.events(1), []string{"MODIFIED a=2"})
}

func TestFeedStops(t *testing.T) {
	api := newFakeAPI(t)
	limits := testLimits()
	limits.linger = time.Millisecond
	h := serve(t, Options{limits: limits})
	h.attach(api, nil)
	c := h.dial()
	c.subscribe("cm")
	c.next()
	api.until(t, "a watch", func() bool { return api.watches == 1 })
	c.ws.Close()
	api.until(t, "no watch", func() bool { return api.watches == 0 })
	waitFor(t, "no feed", func() bool {
		h.hub.mu.Lock()
		defer h.hub.mu.Unlock()
		return len(h.hub.kinds) == 0
	})
	again := h.dial()
	again.subscribe("cm")
	want(t, "list", again.next(), "list cm first: ")
}

// TestKeptFeeds: a list that is kept is read before anybody asks, and neither the
// linger time nor a lack of room ends it.
func TestKeptFeeds(t *testing.T) {
	api := newFakeAPI(t)
	api.put("a", "1")
	configMaps := feedKey{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}
	limits := testLimits()
	limits.linger, limits.feeds, limits.kept = time.Millisecond, 2, []feedKey{configMaps}
	h := serve(t, Options{limits: limits})
	h.attach(api, nil)
	api.until(t, "a watch", func() bool { return api.watches == 1 })
	for range 2 {
		c := h.dial()
		c.subscribe("cm")
		want(t, "list", c.next(), "list cm first: a=1")
		c.send(`{"type":"subscribe","id":"one","resource":{"version":"v1","resource":"configmaps"},"namespace":"default"}`)
		want(t, "list of a namespace", c.next(), "list one first: a=1")
		c.ws.Close()
		waitFor(t, "the namespace's feed ends, and no other", func() bool {
			h.hub.mu.Lock()
			defer h.hub.mu.Unlock()
			return len(h.hub.kinds) == 1 && h.hub.kinds[configMaps] != nil
		})
	}
	api.until(t, "the kept watch only", func() bool { return api.watches == 1 })
}

// waitFor is for conditions that announce nothing.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	timeout := time.After(patience)
	for !condition() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}

func TestWatchResults(t *testing.T) {
	results := &fakeResults{}
	results.put(cycle("u1", 1, result.Unschedulable))
	results.put(cycle("u2", 1, result.Waiting))
	h := serve(t, Options{})
	h.attach(nil, results)
	c := h.dial()
	c.topic(topicResults)
	want(t, "list, newest first", c.next(), "list t first: u2/1=waiting, u1/1=unschedulable")
	results.put(cycle("u1", 2, result.Scheduled))
	results.put(cycle("u2", 1, result.Scheduled))
	want(t, "events", c.events(2), []string{"ADDED u1/2=scheduled", "MODIFIED u2/1=scheduled"})

	results.put(cycle("w", 1, result.Waiting))
	c.events(1)
	for i := range maxNewest {
		results.put(cycle(fmt.Sprint("n", i), 1, result.Scheduled))
	}
	results.put(cycle("w", 1, result.Error))
	events := c.events(maxNewest + 1)
	want(t, "an attempt that waited long", events[maxNewest], "MODIFIED w/1=error")

	other := h.dial()
	other.topic(topicResults)
	list := other.next()
	want(t, "start of the list", list[:len("list t first: w/1=error, n499/1")], "list t first: w/1=error, n499/1")
}

func TestWatchStatus(t *testing.T) {
	h := serve(t, Options{})
	c := h.dial()
	c.topic(topicStatus)
	want(t, "list", c.next(), "list t first: starting ready=false")
	running := Status{Ready: true, Phase: Running, Scheduler: SchedulerStatus{Phase: Running, Profiles: []string{"default-scheduler"}, Revision: 1}}
	h.SetStatus(running)
	h.SetStatus(running)
	want(t, "event", c.events(1), []string{"MODIFIED running ready=true"})
	h.SetStatus(Status{Phase: Stopping})
	want(t, "event", c.events(1), []string{"MODIFIED stopping ready=false"})
}

func TestBadFrames(t *testing.T) {
	h := serve(t, Options{})
	for _, tc := range []struct{ frame, want string }{
		{`nonsense`, "error  400: the frame is not understood: invalid character 'o' in literal null (expecting 'u')"},
		{`{"type":"subscribe"}`, "error  400: the frame is not understood: id must have 1 to 256 bytes"},
		{`{"type":"shout","id":"x"}`, `error  400: the frame is not understood: type is "shout", want subscribe or unsubscribe`},
		{`{"type":"subscribe","id":"x"}`, "error x 400: a subscription needs a resource or a topic"},
		{`{"type":"subscribe","id":"x","topic":"weather"}`, `error x 404: there is no topic "weather"`},
		{`{"type":"subscribe","id":"x","resource":{"version":"v1","resource":"../secrets"}}`, `error x 404: there is no resource "../secrets" in version "v1" of group ""`},
		{`{"type":"subscribe","id":"x","resource":{"version":"v1","resource":"pods"},"namespace":"a/b"}`, `error x 400: "a/b" is not the name of a namespace`},
	} {
		c := h.dial()
		c.send(tc.frame)
		want(t, tc.frame, c.next(), tc.want)
	}
}

func TestConnectionLimits(t *testing.T) {
	limits := testLimits()
	limits.subscriptions, limits.feeds, limits.connections, limits.clientFrame = 2, 1, 2, 1000
	api := newFakeAPI(t)
	h := serve(t, Options{limits: limits})
	h.attach(api, nil)
	c := h.dial()
	c.topic(topicStatus)
	c.next()
	c.subscribe("cm")
	c.next()
	c.subscribe("more")
	want(t, "a third subscription", c.next(), "error more 429: a connection has at most 2 subscriptions")

	other := h.dial()
	other.send(`{"type":"subscribe","id":"x","resource":{"version":"v1","resource":"configmaps"},"namespace":"default"}`)
	want(t, "a second feed", other.next(), "error x 429: more than 1 different lists are being watched")
	want(t, "a third connection", h.dial().closed(), websocket.CloseTryAgainLater)

	other.send(`{"id":"` + string(make([]byte, 1000)) + `"}`)
	want(t, "a large frame", other.closed(), websocket.CloseMessageTooBig)

	// A feed that only lingers makes room.
	c.send(`{"type":"unsubscribe","id":"cm"}`)
	c.send(`{"type":"subscribe","id":"x","resource":{"version":"v1","resource":"configmaps"},"namespace":"default"}`)
	want(t, "another feed", c.next(), "list x first: ")
}

// TestShutdown: clients are told, and everything ends.
func TestShutdown(t *testing.T) {
	api := newFakeAPI(t)
	results := &fakeResults{}
	h := serve(t, Options{})
	h.attach(api, results)
	c := h.dial()
	c.subscribe("cm")
	c.next()
	closed := make(chan int)
	go func() { closed <- c.closed() }()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	want(t, "close code", <-closed, websocket.CloseGoingAway)
	api.until(t, "no watch", func() bool { return api.watches == 0 })
	want(t, "subscribers", len(results.subscribers), 0)
	waitFor(t, "no goroutine of the server", func() bool {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, part := range []string{"server.(*hub)", "server.(*conn)", "server.(*kindFeed)", "StreamWatcher", "cache.(*Reflector)"} {
			if bytes.Contains(stacks, []byte(part)) {
				return false
			}
		}
		return true
	})
}

func TestPing(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	h := serve(t, Options{clock: clock})
	c := h.dial()
	c.topic(topicStatus)
	c.next()
	pinged := make(chan struct{}, 1)
	c.ws.SetPingHandler(func(string) error { notify(pinged); return nil })
	go c.read()
	waitFor(t, "a ping", func() bool {
		clock.Step(h.opts.limits.ping)
		select {
		case <-pinged:
			return true
		default:
			return false
		}
	})
}
