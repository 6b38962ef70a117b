package watch

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/server/watch/watchtest"
)

// patience bounds every wait of the tests. It is a limit, not a delay.
const patience = time.Minute

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
func (h *harness) attach(api *fakeAPI, results *watchtest.Results) {
	h.t.Helper()
	if results == nil {
		results = &watchtest.Results{}
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

var _ Results = (*watchtest.Results)(nil)
