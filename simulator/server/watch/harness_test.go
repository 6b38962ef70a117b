package watch

import (
	"context"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/server/watch/watchtest"
)

// patience bounds every wait of the tests. It is a limit, not a delay.
const patience = 10 * time.Second

func want[T any](t *testing.T, what string, got, wanted T) {
	t.Helper()
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// harness is a hub that serves.
type harness struct {
	*Hub
	t   *testing.T
	url string
}

func serve(t *testing.T, opts Options) *harness {
	t.Helper()
	if opts.limits == nil {
		opts.limits = testLimits()
	}
	hub := New(opts)
	hub.Start()
	hub.PutStatus(testStatus{Phase: "starting"})
	server := httptest.NewServer(hub)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		hub.Stop(ctx)
		server.Close()
	})
	return &harness{Hub: hub, t: t, url: server.URL}
}

// testStatus is an object of the topic status.
type testStatus struct {
	Phase string
	Ready bool
}

// testLimits are limits that cause no delays.
func testLimits() *limits {
	l := defaultLimits()
	l.batch, l.retry, l.retryMax = 0, time.Millisecond, time.Millisecond
	return l
}

// nowhere is an address at which no API server answers.
var nowhere = &rest.Config{Host: "127.0.0.1:1"}

// attach gives the hub a backend of fakes.
func (h *harness) attach(api *fakeAPI, results *fakeResults) {
	h.t.Helper()
	if results == nil {
		results = &fakeResults{}
	}
	config := nowhere
	if api != nil {
		config = &rest.Config{Host: api.URL}
	}
	client, err := NewClient(config)
	if err != nil {
		h.t.Fatal(err)
	}
	h.Attach(Backend{Client: client, Results: results})
}

func (h *harness) dial() *watchtest.Client {
	h.t.Helper()
	return watchtest.Dial(h.t, h.url, "/")
}

// fakeResults keeps cycles in order of arrival.
type fakeResults struct {
	mu          sync.Mutex
	cycles      []*result.Cycle
	subscribers map[int]func(*result.Cycle)
	n           int
}

func (f *fakeResults) List(result.Query) (result.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	page := result.Page{}
	for i := len(f.cycles) - 1; i >= 0; i-- {
		page.Items = append(page.Items, f.cycles[i].Summary)
	}
	return page, nil
}

func (f *fakeResults) Subscribe(fn func(*result.Cycle)) func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subscribers == nil {
		f.subscribers = map[int]func(*result.Cycle){}
	}
	f.n++
	n := f.n
	f.subscribers[n] = fn
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subscribers, n)
	}
}

func (f *fakeResults) put(c *result.Cycle) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cycles = append(f.cycles, c)
	for _, fn := range f.subscribers {
		fn(c)
	}
}

func cycle(uid string, attempt int, outcome result.Outcome) *result.Cycle {
	return &result.Cycle{Summary: result.Summary{
		Pod:       result.Pod{Namespace: "default", Name: "pod-" + uid, UID: types.UID(uid)},
		Attempt:   attempt,
		Profile:   "default-scheduler",
		StartTime: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC),
		Outcome:   outcome,
		Nodes:     result.NodeCounts{Total: 3, Evaluated: 3, Feasible: 1},
	}}
}

var _ Results = (*fakeResults)(nil)
