package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/server/watch/watchtest"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestBeforeTheBackend(t *testing.T) {
	h := serve(t, Options{})
	for _, tc := range []struct {
		path string
		code int
	}{
		{"/", 200}, {"/healthz", 200}, {"/metrics", 200}, {"/api/v1/status", 200}, {"/api/v1/openapi.json", 200},
	} {
		want(t, tc.path, h.get(tc.path).StatusCode, tc.code)
	}
	for _, path := range []string{
		"/api/v1/results", "/api/v1/results/u", "/api/v1/results/u/1",
		"/api/v1/schedulerconfiguration", "/api/v1/schedulerconfiguration/default", "/kubernetes/api/v1/nodes",
	} {
		a := h.get(path)
		want(t, path, a.StatusCode, 503)
		want(t, path, a.message(t), "the control plane is starting")
		want(t, path, a.Header.Get("Retry-After"), "1")
	}
}

func TestStatus(t *testing.T) {
	h := serve(t, Options{})
	want(t, "at first", strings.TrimSpace(h.get("/api/v1/status").body),
		`{"ready":false,"phase":"starting","message":"","warnings":[],"controlPlane":"embedded","version":"v1.37.2","scheduler":{"phase":"starting","message":"","profiles":[],"revision":0}}`)

	h.SetStatus(Status{Message: "waiting for etcd"})
	a := h.get("/readyz")
	want(t, "readyz", a.StatusCode, 503)
	want(t, "readyz", a.message(t), "starting: waiting for etcd")

	h.SetStatus(Status{Ready: true, Phase: Running, Scheduler: SchedulerStatus{Phase: Running, Profiles: []string{"a"}, Revision: 1}})
	want(t, "readyz", h.get("/readyz").StatusCode, 200)
	want(t, "running", strings.TrimSpace(h.get("/api/v1/status").body),
		`{"ready":true,"phase":"running","message":"","warnings":[],"controlPlane":"embedded","version":"v1.37.2","scheduler":{"phase":"running","message":"","profiles":["a"],"revision":1}}`)
}

func TestErrors(t *testing.T) {
	h := serve(t, Options{})
	h.attach(nil, nil)
	for _, tc := range []struct {
		method, path string
		code         int
		message      string
	}{
		{"GET", "/api/v1/nothing", 404, "there is nothing at /api/v1/nothing"},
		{"POST", "/api/v1/nothing", 404, "there is nothing at /api/v1/nothing"},
		{"GET", "/api", 404, "there is nothing at /api"},
		{"GET", "/kubernetes", 404, "there is nothing at /kubernetes"},
		{"POST", "/nodes", 404, "there is nothing at /nodes"},
		{"GET", "/assets/gone-1.js", 404, "there is nothing at /assets/gone-1.js"},
		{"POST", "/api/v1/status", 405, "POST is not allowed at /api/v1/status"},
		{"DELETE", "/healthz", 405, "DELETE is not allowed at /healthz"},
		{"GET", "/api/v1/watch", 426, "/api/v1/watch is for WebSocket clients"},
		{"GET", "/api/v1/results/panic/1", 500, "internal error; see the simulator's log"},
		{"GET", "/kubernetes/api", 502, "the Kubernetes API server does not answer: dial tcp 127.0.0.1:1: connect: connection refused"},
	} {
		a := h.do(tc.method, tc.path, "")
		want(t, tc.method+" "+tc.path, a.StatusCode, tc.code)
		want(t, tc.method+" "+tc.path, a.message(t), tc.message)
		if tc.code == 405 && !strings.Contains(a.Header.Get("Allow"), "GET") {
			t.Errorf("%s: Allow is %q", tc.path, a.Header.Get("Allow"))
		}
	}
}

func TestHead(t *testing.T) {
	h := serve(t, Options{})
	a := h.do(http.MethodHead, "/healthz", "")
	want(t, "code", a.StatusCode, 200)
	want(t, "body", a.body, "")
}

func TestBodiesAreBounded(t *testing.T) {
	h := serve(t, Options{MaxBody: 1 << 20})
	h.attach(newDrain(t), nil)
	large := strings.Repeat("x", 1<<20+1)
	a := h.do(http.MethodPost, "/kubernetes/api/v1/pods", large)
	want(t, "of known length", a.StatusCode, 413)
	want(t, "of known length", a.message(t), "the request body is larger than 1 MiB, the limit of this server")

	r, _ := http.NewRequest(http.MethodPost, h.url+"/kubernetes/api/v1/pods", io.MultiReader(strings.NewReader(large)))
	a = h.send(r)
	want(t, "of unknown length", a.StatusCode, 413)
	want(t, "of unknown length", a.message(t), "the request body is larger than 1 MiB, the limit of this server")
}

// builtReport is a web application that draws reports.
var builtReport = fstest.MapFS{"report/report.js": {Data: []byte("run()")}, "report/report.css": {}}

func TestADecisionIsHandedOnAsAFile(t *testing.T) {
	results := &watchtest.Results{}
	results.Put(watchtest.Cycle("u", 1, result.Unschedulable))
	results.Put(watchtest.Cycle("u", 2, result.Scheduled))
	h := serve(t, Options{Assets: builtReport})
	h.attach(nil, results)
	file := h.get("/api/v1/results/u/2?format=html&other=u/1")
	want(t, "code", file.StatusCode, 200)
	want(t, "type", file.Header.Get("Content-Type"), "text/html; charset=UTF-8")
	want(t, "name", file.Header.Get("Content-Disposition"), "inline; filename=default-pod-u-2.html")
	if policy := file.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'sha256-") {
		t.Errorf("the policy is %s", policy)
	}
	if !strings.Contains(file.body, `id="report"`) {
		t.Errorf("the file is %s", file.body)
	}
	redacted := h.get("/api/v1/results/u/2?format=html&redact=true")
	if got := redacted.Header.Get("Content-Disposition"); redacted.StatusCode != 200 || !strings.Contains(got, "=default-app-") || strings.Contains(got+redacted.body, "default/pod-u") {
		t.Errorf("the redacted file is %d, %s", redacted.StatusCode, got)
	}
	for path, code := range map[string]int{"?format=html&redact=perhaps": 400, "?format=pdf": 400, "?format=html&other=u/3": 404, "?format=html&other=u": 400, "?format=json": 200} {
		want(t, path, h.get("/api/v1/results/u/2"+path).StatusCode, code)
	}

	h = serve(t, Options{})
	h.attach(nil, results)
	a := h.get("/api/v1/results/u/2?format=html")
	want(t, "without the application", a.StatusCode, 501)
	want(t, "without the application", a.message(t), "this program was built without the web application, which draws reports")
}

func TestResults(t *testing.T) {
	results := &watchtest.Results{}
	results.Put(watchtest.Cycle("u", 1, result.Unschedulable))
	results.Put(watchtest.Cycle("u", 2, result.Scheduled))
	h := serve(t, Options{})
	waits := true
	h.attach(nil, results, func(b *Backend) {
		b.Waiting = func(of result.Pod) *result.QueueWait {
			if of.UID != "u" || !waits {
				return nil
			}
			return &result.QueueWait{Queue: "backoff"}
		}
		b.TryNow = func(of result.Pod) bool {
			waited := of.UID == "u" && waits
			waits = false
			return waited
		}
	})

	var page result.Page
	if err := json.Unmarshal([]byte(h.get("/api/v1/results?namespace=n&name=p&uid=u&outcome=scheduled&limit=7&continue=c").body), &page); err != nil {
		t.Fatal(err)
	}
	want(t, "items", len(page.Items), 2)
	want(t, "query", results.Asked(), result.Query{Namespace: "n", Name: "p", UID: "u", Outcome: result.Scheduled, Limit: 7, Continue: "c"})

	if err := json.Unmarshal([]byte(h.get("/api/v1/results?q=web+shop%2F&plugin=NodeResourcesFit&reason=Insufficient+cpu&node=n1&rejectedOn=n2&profile=batch&revision=3&owner=Deployment%2Fweb"+
		"&since=2026-01-02T03:04:05Z&until=2026-01-02T04:04:05.5Z&counts=true&buckets=60").body), &page); err != nil {
		t.Fatal(err)
	}
	want(t, "search", results.Asked(), result.Query{
		Text: "web shop/", Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Node: "n1", RejectedOn: "n2", Profile: "batch", Revision: 3, Owner: "Deployment/web",
		Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Until: time.Date(2026, 1, 2, 4, 4, 5, 5e8, time.UTC), Counts: true, Buckets: 60,
	})

	want(t, "wrong parameters", h.get("/api/v1/results?since=yesterday&until=12&revision=0&owner=web&counts=maybe&buckets=1001&limit=x").message(t),
		"revision: want a number from 1 to 2147483647; owner: want a kind and a name, such as Deployment/web; since: want a time such as 2026-01-02T15:04:05Z; until: want a time such as 2026-01-02T15:04:05Z; "+
			"limit: want a number from 1 to 5000; counts: want true or false; buckets: want a number from 1 to 1000")
	want(t, "a timeline without a range", h.get("/api/v1/results?counts=true&buckets=5&since=2026-01-02T03:04:05Z").message(t),
		"buckets: a timeline needs counts=true, since and a later until")

	var all attempts
	if err := json.Unmarshal([]byte(h.get("/api/v1/results/u").body), &all); err != nil {
		t.Fatal(err)
	}
	want(t, "attempts", []int{all.Items[0].Attempt, all.Items[1].Attempt}, []int{1, 2})
	want(t, "a pod that is held", strings.TrimSpace(h.get("/api/v1/results/held").body),
		`{"items":[],"held":[{"plugin":"GangScheduling","status":"UnschedulableAndUnresolvable","reasons":["waiting for minCount pods"],"durationSeconds":0}]}`)

	want(t, "a pod that waits", all.Waiting, &result.QueueWait{Queue: "backoff"})
	want(t, "a pod that is tried now", h.do("POST", "/api/v1/results/u/try", "").StatusCode, http.StatusNoContent)
	want(t, "a pod that does not wait any more", h.do("POST", "/api/v1/results/u/try", "").message(t),
		"pod default/pod-u does not wait in the backoff queue or among the unschedulable pods")
	want(t, "an unknown pod", h.do("POST", "/api/v1/results/unknown/try", "").StatusCode, http.StatusNotFound)

	var one result.Cycle
	if err := json.Unmarshal([]byte(h.get("/api/v1/results/u/2").body), &one); err != nil {
		t.Fatal(err)
	}
	want(t, "cycle", one.Outcome, result.Scheduled)

	for _, tc := range []struct {
		path    string
		code    int
		message string
	}{
		{"?outcome=happy", 400, "outcome: want one of scheduled, unschedulable, waiting, error"},
		{"?limit=0", 400, "limit: want a number from 1 to 5000"},
		{"?limit=many&outcome=x", 400, "outcome: want one of scheduled, unschedulable, waiting, error; limit: want a number from 1 to 5000"},
		{"?continue=bad", 400, `continue: "bad" is not a continue token`},
		{"/nobody", 404, `there are no results for pod UID "nobody"`},
		{"/u/9", 404, `there is no result for attempt 9 of pod UID "u"`},
		{"/u/0", 400, "attempt: want a number from 1"},
		{"/u/first", 400, "attempt: want a number from 1"},
	} {
		a := h.get("/api/v1/results" + tc.path)
		want(t, tc.path, a.StatusCode, tc.code)
		want(t, tc.path, a.message(t), tc.message)
	}
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "pods_total", Help: "Pods."}))
	h := serve(t, Options{Gatherer: registry})
	if body := h.get("/metrics").body; !strings.Contains(body, "pods_total 0") {
		t.Errorf("no pods_total in %s", body)
	}
}

func TestBackendIsComplete(t *testing.T) {
	s := New(Options{})
	if err := s.SetBackend(Backend{}); err == nil {
		t.Error("an empty backend was attached")
	}
}

func TestServeRefusesOffLoopbackWithoutToken(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := New(Options{}).Serve(l); err == nil {
		t.Fatal("it served")
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is not closed: %v", err)
	}
}

// TestShutdownDoesNotWaitForFreshConnections: browsers open connections in advance.
func TestShutdownDoesNotWaitForFreshConnections(t *testing.T) {
	h := serve(t, Options{})
	c, err := net.Dial("tcp", h.host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	clustertest.EventuallyTrue(t, "the connection is taken", func() bool {
		return h.listener.Load().Open() == 1
	})
	if err := h.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("reading: %v", err)
	}
}
