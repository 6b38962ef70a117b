package server

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/host/process"
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

var testAssets = fstest.MapFS{
	"index.html":          {Data: []byte("<title>simulator</title>" + strings.Repeat("<p>pods</p>", 50))},
	"favicon.svg":         {Data: []byte("<svg/>")},
	"assets/app-1a2b.js":  {Data: []byte("go()" + strings.Repeat(" ", 100))},
	"assets/app-1a2b.css": {Data: []byte("p{}")},
}

// harness is a server that serves.
type harness struct {
	*Server
	t    *testing.T
	host string
	url  string
}

func serve(t *testing.T, opts Options) *harness {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if opts.Assets == nil {
		opts.Assets = testAssets
	}
	// Reading lists would disturb the fake API servers.
	opts.keep = []schema.GroupVersionResource{}
	opts.Version = "v1.37.2"
	h := &harness{Server: New(opts), t: t, host: l.Addr().String(), url: "http://" + l.Addr().String()}
	served := make(chan error, 1)
	go func() { served <- h.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := h.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	// Serve runs once it answers.
	h.get("/healthz")
	return h
}

// attach gives the server a backend of fakes and returns the fake configuration.
func (h *harness) attach(api *httptest.Server, results *watchtest.Results, change ...func(*Backend)) *fakeConfiguration {
	h.t.Helper()
	if results == nil {
		results = &watchtest.Results{}
	}
	host := "127.0.0.1:1"
	if api != nil {
		host = api.URL
	}
	configuration := &fakeConfiguration{}
	backend := Backend{
		ClientConfig:         &rest.Config{Host: host, BearerToken: "admin"},
		Results:              results,
		Configuration:        configuration,
		PreEnqueueRejections: rejectedPod,
		FeatureGates:         []process.Gate{{Name: "GenericWorkload", Stage: "ALPHA", Enabled: true}},
	}
	for _, f := range change {
		f(&backend)
	}
	if err := h.SetBackend(backend); err != nil {
		h.t.Fatal(err)
	}
	return configuration
}

// rejectedPod says that a plugin keeps the pod "held" out of the queue.
func rejectedPod(uid types.UID) []result.PluginResult {
	if uid != "held" {
		return nil
	}
	return []result.PluginResult{{Plugin: "GangScheduling", Status: "UnschedulableAndUnresolvable", Reasons: []string{"waiting for minCount pods"}}}
}

// answer is a response with its body.
type answer struct {
	*http.Response
	body string
}

// do sends a request; headers are "Name: value".
func (h *harness) do(method, path, body string, headers ...string) answer {
	h.t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, h.url+path, content)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	return h.send(r)
}

var plainClient = &http.Client{
	Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       patience,
}

func (h *harness) send(r *http.Request) answer {
	h.t.Helper()
	response, err := plainClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer{response, string(data)}
}

func (h *harness) get(path string, headers ...string) answer {
	h.t.Helper()
	return h.do(http.MethodGet, path, "", headers...)
}

// message returns the message of an error. It fails the test if the body is not one.
func (a answer) message(t *testing.T) string {
	t.Helper()
	var e struct {
		Message *string
		Details *[]config.Mistake
	}
	if err := json.Unmarshal([]byte(a.body), &e); err != nil || e.Message == nil || e.Details == nil {
		t.Fatalf("%s %s: not an error with message and details: %s", a.Status, a.Request.URL.Path, a.body)
	}
	return *e.Message
}

var _ Results = (*watchtest.Results)(nil)
