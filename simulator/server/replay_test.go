package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/past/replay"
	"kube-scheduler-simulator/simulator/server/watch/watchtest"
)

// fakeReplay accepts bodies that start with "recording".
type fakeReplay struct {
	loaded bool
	name   string
	asked  []string
}

var _ Replay = (*fakeReplay)(nil)

func (f *fakeReplay) Status() (replay.Status, bool) {
	return replay.Status{Name: f.name, State: replay.Paused}, f.loaded
}

func (f *fakeReplay) Load(_ context.Context, name string, body io.Reader) (replay.Status, error) {
	data, err := io.ReadAll(body)
	switch {
	case err != nil:
		return replay.Status{}, err
	case string(data) == "busy":
		return replay.Status{}, replay.ErrBusy
	case string(data) == "operation":
		return replay.Status{}, fmt.Errorf("emptying: %w", &operation.Busy{With: operation.Import})
	case string(data) == "external":
		return replay.Status{}, fmt.Errorf("emptying: %w", &Forbidden{Message: "not ours"})
	case !strings.HasPrefix(string(data), "recording"):
		return replay.Status{}, fmt.Errorf("%w: no block begins here", replay.ErrNotRecording)
	}
	f.loaded, f.name = true, name
	status, _ := f.Status()
	return status, nil
}

func (f *fakeReplay) Do(c replay.Control) (replay.Status, error) {
	if !f.loaded {
		return replay.Status{}, replay.ErrNoRecording
	}
	if c.Speed != nil && *c.Speed < 0 {
		return replay.Status{}, fmt.Errorf("%w: the speed is negative", replay.ErrControl)
	}
	if c.Position != nil {
		f.asked = append(f.asked, c.Position.Format(time.RFC3339))
	}
	status, _ := f.Status()
	return status, nil
}

func (f *fakeReplay) Step(context.Context) (replay.Status, error) { return f.Do(replay.Control{}) }

func (f *fakeReplay) Comparison(q replay.ComparisonQuery) (replay.Comparison, error) {
	f.asked = append(f.asked, fmt.Sprint(q.Outcome, " ", q.Limit, " ", q.Continue))
	_, err := f.Do(replay.Control{})
	return replay.Comparison{Items: []replay.Decision{}}, err
}

func (f *fakeReplay) Unload(context.Context) error {
	_, err := f.Do(replay.Control{})
	f.loaded = false
	return err
}

func TestReplay(t *testing.T) {
	h, f := serve(t, Options{MaxBody: 64}), &fakeReplay{}
	if got := h.do(http.MethodGet, replayPath, ""); got.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("before the start: %d", got.StatusCode)
	}
	err := h.SetBackend(Backend{ClientConfig: &rest.Config{Host: "127.0.0.1:1"}, Results: &watchtest.Results{}, Configuration: &fakeConfiguration{}, Replay: f})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		method, path, body string
		code               int
		contains           string
	}{
		{"GET", "", "", 404, "POST /api/v1/replay"},
		{"PATCH", "", "{}", 404, "no recording"},
		{"POST", "/step", "", 404, "no recording"},
		{"GET", "/comparison", "", 404, "no recording"},
		{"DELETE", "", "", 404, "no recording"},
		{"POST", "", "kind: Pod", 400, "not a recording"},
		{"POST", "", "busy", 409, "another recording"},
		{"POST", "", "operation", 409, "an import is in progress"},
		{"POST", "", "external", 403, "not ours"},
		{"POST", "?name=tuesday", "recording" + strings.Repeat(" ", 100), 200, `"name":"tuesday"`}, // larger than other bodies may be
		{"GET", "", "", 200, `"state":"paused"`},
		{"PATCH", "", `{"position":"2026-03-03T14:03:00Z","speed":10}`, 200, `"tuesday"`},
		{"PATCH", "", `{"speed":-1}`, 400, "negative"},
		{"PATCH", "", `{"sped":1}`, 400, "unknown field"},
		{"PATCH", "", `speed`, 400, "want a mapping with the fields followRecording, position, speed, state, waitForScheduler"},
		{"POST", "/step", "", 200, `"tuesday"`},
		{"GET", "/comparison?outcome=different&limit=5&continue=10", "", 200, `"items":[]`},
		{"GET", "/comparison?outcome=other", "", 400, "want one of"},
		{"GET", "/comparison?limit=0", "", 400, "limit"},
		{"GET", "/comparison?continue=x", "", 400, "earlier page"},
		{"DELETE", "", "", 204, ""},
		{"GET", "", "", 404, ""},
	} {
		got := h.do(step.method, replayPath+step.path, step.body)
		if got.StatusCode != step.code || !strings.Contains(got.body, step.contains) {
			t.Errorf("%s %s %.40s: %d %s, want %d with %q", step.method, step.path, step.body, got.StatusCode, got.body, step.code, step.contains)
		}
	}
	want(t, "asked", f.asked, []string{" 0 ", "2026-03-03T14:03:00Z", "different 5 10"})
}

func TestASimulatorWithoutReplaySaysSo(t *testing.T) {
	h := serve(t, Options{})
	h.attach(nil, nil)
	if got := h.do(http.MethodGet, replayPath, ""); got.StatusCode != http.StatusNotImplemented {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}
