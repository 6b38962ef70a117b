package watch

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/server/watch/watchtest"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestWatchKind follows a subscription from the first list to the end.
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
			c.Subscribe("cm")
			want(t, "list", c.Next(), "list cm first: a=1, b=1")
			api.put("c", "1")
			api.put("a", "2")
			api.remove("b")
			want(t, "events", c.Events(3), []string{"ADDED c=1", "MODIFIED a=2", "DELETED b=1"})

			other := h.dial()
			other.Subscribe("mine")
			want(t, "list of another client", other.Next(), "list mine first: a=2, c=1")

			c.Subscribe("cm")
			want(t, "list again", c.Next(), "list cm first: a=2, c=1")
			c.Send(`{"type":"unsubscribe","id":"cm"}`)
			// The hub handles frames in order: after this reply, the subscription has ended.
			c.Send(`{}`)
			want(t, "refusal", c.Next(), "error  400: invalid frame: id must have 1 to 256 bytes")
			api.put("d", "1")
			want(t, "event to the other", other.Events(1), []string{"ADDED d=1"})
			c.Subscribe("again")
			want(t, "next frame", c.Next(), "list again first: a=2, c=1, d=1")
			api.until(t, "there is one watch for all", func() bool { return api.watches == 1 })
		})
	}
}

func TestSubscriptionsWaitForTheBackend(t *testing.T) {
	api := newFakeAPI(t)
	api.put("a", "1")
	h := serve(t, Options{})
	c := h.dial()
	c.Topic(topicResults)
	c.Subscribe("cm")
	c.Send(`{}`)
	c.Next()
	results := &watchtest.Results{}
	results.Put(watchtest.Cycle("u", 1, result.Scheduled))
	h.attach(api, results)
	got := map[string]bool{c.Next(): true, c.Next(): true}
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
	c.Subscribe("cm")
	want(t, "frames", []string{c.Next(), c.Next(), c.Next()}, []string{
		"list cm first more: a=1, b=1",
		"list cm more: c=1, d=1",
		"list cm: e=1",
	})
}

// TestWatchIsResumed: when the API server interrupts a watch, readers get the changes,
// not a second list.
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
			c.Subscribe("cm")
			want(t, "list", c.Next(), "list cm first: a=1, b=1")
			api.until(t, "there is a watch", func() bool { return api.watches == 1 })

			api.do(func() { tc.interrupt(api) })
			api.remove("a")
			api.put("b", "2")
			api.put("c", "1")
			want(t, "events", c.Events(3), []string{"DELETED a=1", "MODIFIED b=2", "ADDED c=1"})
			api.until(t, "there is a watch again", func() bool { return api.watches == 1 })
			api.put("c", "2")
			want(t, "event", c.Events(1), []string{"MODIFIED c=2"})
		})
	}
}

// TestRecreatedUnnoticed: an object that was deleted and created again while the watch
// was interrupted is another object.
func TestRecreatedUnnoticed(t *testing.T) {
	api := newFakeAPI(t)
	api.put("a", "1")
	h := serve(t, Options{})
	h.attach(api, nil)
	c := h.dial()
	c.Subscribe("cm")
	c.Next()
	api.do(func() {
		api.epoch++
		api.version += 2
		api.compacted = api.version
		api.changes = nil
		api.objects["a"] = fakeObject{name: "a", data: "2", uid: api.version, version: api.version}
	})
	want(t, "events", c.Events(2), []string{"DELETED a=1", "ADDED a=2"})
}

func TestRefusedKinds(t *testing.T) {
	api := newFakeAPI(t)
	h := serve(t, Options{})
	h.attach(api, nil)
	c := h.dial()
	c.Send(`{"type":"subscribe","id":"w","resource":{"group":"example.com","version":"v1","resource":"widgets"}}`)
	want(t, "unknown kind", c.Next(), "error w 404: refused with 404")

	api.do(func() { api.refusal = http.StatusForbidden })
	c.Subscribe("cm")
	want(t, "forbidden kind", c.Next(), "error cm 403: refused with 403")
	// The hub does not remember the refusal.
	api.do(func() { api.refusal = 0 })
	c.Subscribe("cm")
	want(t, "kind", c.Next(), "list cm first: ")
}

// TestKindGoes: a CRD is deleted while a client watches its objects.
func TestKindGoes(t *testing.T) {
	api := newFakeAPI(t)
	api.put("a", "1")
	h := serve(t, Options{})
	h.attach(api, nil)
	c := h.dial()
	c.Subscribe("cm")
	c.Next()
	api.do(func() { api.refusal = http.StatusNotFound; api.epoch++ })
	want(t, "end", c.Next(), "error cm 404: refused with 404")
}

func TestAPIServerFailsForAWhile(t *testing.T) {
	api := newFakeAPI(t)
	api.put("a", "1")
	h := serve(t, Options{})
	h.attach(api, nil)
	c := h.dial()
	c.Subscribe("cm")
	c.Next()
	api.do(func() { api.refusal = http.StatusServiceUnavailable; api.epoch++ })
	api.until(t, "there is no watch", func() bool { return api.watches == 0 })
	api.put("a", "2")
	api.do(func() { api.refusal = 0 })
	want(t, "event", c.Events(1), []string{"MODIFIED a=2"})
}

func TestFeedStops(t *testing.T) {
	api := newFakeAPI(t)
	limits := testLimits()
	limits.linger = time.Millisecond
	h := serve(t, Options{limits: limits})
	h.attach(api, nil)
	c := h.dial()
	c.Subscribe("cm")
	c.Next()
	api.until(t, "there is a watch", func() bool { return api.watches == 1 })
	c.WS.Close()
	api.until(t, "there is no watch", func() bool { return api.watches == 0 })
	clustertest.EventuallyTrue(t, "no feed is left", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.kinds) == 0
	})
	again := h.dial()
	again.Subscribe("cm")
	want(t, "list", again.Next(), "list cm first: ")
}

// TestKeptFeeds: the hub watches a kept kind before any client asks for it, and neither
// the linger time nor the limit of feeds ends that watch.
func TestKeptFeeds(t *testing.T) {
	api := newFakeAPI(t)
	api.put("a", "1")
	configMaps := feedKey{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}
	limits := testLimits()
	limits.linger, limits.feeds = time.Millisecond, 2
	h := serve(t, Options{limits: limits, Keep: []schema.GroupVersionResource{configMaps.GroupVersionResource}})
	h.attach(api, nil)
	api.until(t, "there is a watch", func() bool { return api.watches == 1 })
	for range 2 {
		c := h.dial()
		c.Subscribe("cm")
		want(t, "list", c.Next(), "list cm first: a=1")
		c.Send(`{"type":"subscribe","id":"one","resource":{"version":"v1","resource":"configmaps"},"namespace":"default"}`)
		want(t, "list of a namespace", c.Next(), "list one first: a=1")
		c.WS.Close()
		clustertest.EventuallyTrue(t, "the namespace's feed has ended, and no other", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.kinds) == 1 && h.kinds[configMaps] != nil
		})
	}
	api.until(t, "only the kept watch is left", func() bool { return api.watches == 1 })
}

func TestWatchResults(t *testing.T) {
	results := &watchtest.Results{}
	results.Put(watchtest.Cycle("u1", 1, result.Unschedulable))
	results.Put(watchtest.Cycle("u2", 1, result.Waiting))
	h := serve(t, Options{})
	h.attach(nil, results)
	c := h.dial()
	c.Topic(topicResults)
	want(t, "list, newest first", c.Next(), "list t first: u2/1=waiting, u1/1=unschedulable")
	results.Put(watchtest.Cycle("u1", 2, result.Scheduled))
	results.Put(watchtest.Cycle("u2", 1, result.Scheduled))
	want(t, "events", c.Events(2), []string{"ADDED u1/2=scheduled", "MODIFIED u2/1=scheduled"})

	results.Put(watchtest.Cycle("w", 1, result.Waiting))
	c.Events(1)
	for i := range maxNewest {
		results.Put(watchtest.Cycle(fmt.Sprint("n", i), 1, result.Scheduled))
	}
	results.Put(watchtest.Cycle("w", 1, result.Error))
	events := c.Events(maxNewest + 1)
	want(t, "an attempt that waited long", events[maxNewest], "MODIFIED w/1=error")

	other := h.dial()
	other.Topic(topicResults)
	list := other.Next()
	want(t, "start of the list", list[:len("list t first: w/1=error, n499/1")], "list t first: w/1=error, n499/1")
}

func TestWatchStatus(t *testing.T) {
	h := serve(t, Options{})
	c := h.dial()
	c.Topic(topicStatus)
	want(t, "list", c.Next(), "list t first: starting ready=false")
	h.PutStatus(testStatus{Phase: "running", Ready: true})
	want(t, "event", c.Events(1), []string{"MODIFIED running ready=true"})
	h.PutStatus(testStatus{Phase: "stopping"})
	want(t, "event", c.Events(1), []string{"MODIFIED stopping ready=false"})
}

func TestBadFrames(t *testing.T) {
	h := serve(t, Options{})
	for _, tc := range []struct{ frame, want string }{
		{`nonsense`, "error  400: invalid frame: invalid character 'o' in literal null (expecting 'u')"},
		{`{"type":"subscribe"}`, "error  400: invalid frame: id must have 1 to 256 bytes"},
		{`{"type":"shout","id":"x"}`, `error  400: invalid frame: type is "shout", want subscribe or unsubscribe`},
		{`{"type":"subscribe","id":"x"}`, "error x 400: a subscription needs a resource or a topic"},
		{`{"type":"subscribe","id":"x","topic":"weather"}`, `error x 404: there is no topic "weather"`},
		{`{"type":"subscribe","id":"x","resource":{"version":"v1","resource":"../secrets"}}`, `error x 404: there is no resource "../secrets" in version "v1" of group ""`},
		{`{"type":"subscribe","id":"x","resource":{"version":"v1","resource":"pods"},"namespace":"a/b"}`, `error x 400: "a/b" is not the name of a namespace`},
	} {
		c := h.dial()
		c.Send(tc.frame)
		want(t, tc.frame, c.Next(), tc.want)
	}
}

func TestConnectionLimits(t *testing.T) {
	limits := testLimits()
	limits.subscriptions, limits.feeds, limits.connections, limits.clientFrame = 2, 1, 2, 1000
	api := newFakeAPI(t)
	h := serve(t, Options{limits: limits})
	h.attach(api, nil)
	c := h.dial()
	c.Topic(topicStatus)
	c.Next()
	c.Subscribe("cm")
	c.Next()
	c.Subscribe("more")
	want(t, "a third subscription", c.Next(), "error more 429: this connection already has 2 subscriptions, the limit of this server")

	other := h.dial()
	other.Send(`{"type":"subscribe","id":"x","resource":{"version":"v1","resource":"configmaps"},"namespace":"default"}`)
	want(t, "a second feed", other.Next(), "error x 429: clients already watch 1 different lists, the limit of this server")
	want(t, "a third connection", h.dial().Closed(), websocket.CloseTryAgainLater)

	other.Send(`{"id":"` + string(make([]byte, 1000)) + `"}`)
	want(t, "a large frame", other.Closed(), websocket.CloseMessageTooBig)

	// A feed without readers makes room.
	c.Send(`{"type":"unsubscribe","id":"cm"}`)
	c.Send(`{"type":"subscribe","id":"x","resource":{"version":"v1","resource":"configmaps"},"namespace":"default"}`)
	want(t, "another feed", c.Next(), "list x first: ")
}

// TestStop: clients get a close frame, and every goroutine ends.
func TestStop(t *testing.T) {
	api := newFakeAPI(t)
	results := &watchtest.Results{}
	h := serve(t, Options{})
	h.attach(api, results)
	c := h.dial()
	c.Subscribe("cm")
	c.Next()
	closed := make(chan int)
	go func() { closed <- c.Closed() }()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h.Stop(ctx)
	want(t, "close code", <-closed, websocket.CloseGoingAway)
	api.until(t, "there is no watch", func() bool { return api.watches == 0 })
	want(t, "subscribers", results.Subscribers(), 0)
	clustertest.EventuallyTrue(t, "no goroutine of the server is left", func() bool {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, part := range []string{"watch.(*Hub)", "server.(*conn)", "server.(*kindFeed)", "StreamWatcher", "cache.(*Reflector)"} {
			if bytes.Contains(stacks, []byte(part)) {
				return false
			}
		}
		return true
	})
}

func TestPing(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	h := serve(t, Options{Clock: clock})
	c := h.dial()
	c.Topic(topicStatus)
	c.Next()
	pinged := make(chan struct{}, 1)
	c.WS.SetPingHandler(func(string) error { notify(pinged); return nil })
	go c.Read()
	clustertest.EventuallyTrue(t, "a ping arrives", func() bool {
		clock.Step(h.limits.ping)
		select {
		case <-pinged:
			return true
		default:
			return false
		}
	})
}

// TestClearResults: even a client that has read everything lists again.
func TestClearResults(t *testing.T) {
	results := &watchtest.Results{}
	results.Put(watchtest.Cycle("u1", 1, result.Scheduled))
	h := serve(t, Options{})
	h.attach(nil, results)
	c := h.dial()
	c.Topic(topicResults)
	want(t, "list", c.Next(), "list t first: u1/1=scheduled")

	h.ClearResults()
	want(t, "list afterwards", c.Next(), "list t first: ")
	results.Put(watchtest.Cycle("u2", 1, result.Scheduled))
	want(t, "events", c.Events(1), []string{"ADDED u2/1=scheduled"})
}

// TestRequestsThatAreNotForWebSockets: Options.Refuse answers them.
func TestRequestsThatAreNotForWebSockets(t *testing.T) {
	for _, tc := range []struct {
		name    string
		headers http.Header
		want    string
	}{
		{"no upgrade", nil, "426: /watch is for WebSocket clients"},
		{"no version", http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}, "400: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got string
			hub := New(Options{Refuse: func(_ http.ResponseWriter, _ *http.Request, status int, reason error) {
				got = fmt.Sprintf("%d: %v", status, reason)
			}})
			r := httptest.NewRequest(http.MethodGet, "/watch", nil)
			r.Header = tc.headers.Clone()
			hub.ServeHTTP(httptest.NewRecorder(), r)
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("refused with %q, want %q", got, tc.want)
			}
		})
	}
}
