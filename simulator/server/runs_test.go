package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/scenarios/runs"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// fakeRuns keeps one entry.
type fakeRuns struct {
	asked   runs.Request
	err     error
	deleted bool
}

func (f *fakeRuns) Start(_ context.Context, q runs.Request) (runs.Entry, error) {
	f.asked = q
	return runs.Entry{ID: "1", State: runs.Queued}, f.err
}

func (f *fakeRuns) Load(_ context.Context, q runs.Request) (*scenario.Scenario, error) {
	f.asked = q
	return &scenario.Scenario{Name: "a"}, f.err
}

func (f *fakeRuns) List() []runs.Entry { return []runs.Entry{{ID: "1"}} }

// Get: 1 are runs of a scenario, and 3 are those of a sweep.
func (f *fakeRuns) Get(id string) (runs.Entry, bool) {
	e := runs.Entry{ID: id}
	if id == "3" {
		e.Sweep = &scenario.SweepResult{}
	}
	return e, id == "1" || id == "3"
}

func (f *fakeRuns) Result(id string, index int) *scenario.Result {
	if id != "1" || index != 0 {
		return nil
	}
	cycle := &result.Cycle{Summary: result.Summary{Pod: result.Pod{Namespace: "default", Name: "web", UID: "u"}, Attempt: 2, Outcome: result.Unschedulable}}
	decision := func(attempt int, whole *result.Cycle) *scenario.Decision {
		return &scenario.Decision{Summary: result.Summary{Pod: cycle.Pod, Attempt: attempt}, Cycle: whole}
	}
	return &scenario.Result{Steps: []scenario.StepResult{{Expectations: []scenario.ExpectationResult{{Decision: decision(1, nil)}, {Passed: true}, {Decision: decision(2, cycle)}}}}}
}

func (f *fakeRuns) Delete(id string) bool { f.deleted = true; return id == "1" }

// TestPlay: the answer has the steps as they begin, and the error in the end.
func TestPlay(t *testing.T) {
	f := &fakeRuns{}
	var failure error
	steps := 2
	h := serve(t, Options{})
	h.attach(nil, nil, func(b *Backend) {
		b.Runs = f
		b.Play = func(_ context.Context, sc *scenario.Scenario, begun func(PlayedStep)) error {
			for i := range steps {
				begun(PlayedStep{Step: fmt.Sprintf("%s %d", sc.Name, i), Done: i, Total: steps})
			}
			return failure
		}
	})
	const text = "kind: Scenario"
	got := h.do(http.MethodPost, "/api/v1/play", text)
	want(t, "the answer", got.body, `{"progress":{"step":"a 0","done":0,"total":2}}`+"\n"+`{"progress":{"step":"a 1","done":1,"total":2}}`+"\n")
	want(t, "its type", got.Header.Get("Content-Type"), mimeNDJSON)
	want(t, "the scenario", f.asked, runs.Request{Scenario: text})

	failure = errors.New("line 3: it did not settle")
	if got := h.do(http.MethodPost, "/api/v1/play", text); !strings.Contains(got.body, `"error"`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	steps, failure = 0, &operation.Busy{With: operation.Import}
	if got := h.do(http.MethodPost, "/api/v1/play", text); got.StatusCode != http.StatusConflict {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	f.err = &scenario.Error{Mistakes: []scenario.Mistake{{Line: 3, Message: "no such verb"}}}
	if got := h.do(http.MethodPost, "/api/v1/play", text); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "no such verb") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

func TestRuns(t *testing.T) {
	f := &fakeRuns{}
	h := serve(t, Options{Assets: builtReport})
	h.attach(nil, nil, func(b *Backend) { b.Runs = f })
	const text = "kind: Scenario\nmetadata: {name: a}\n"

	want(t, "a scenario by itself", h.do(http.MethodPost, runsPath, text).StatusCode, http.StatusCreated)
	want(t, "its text", f.asked, runs.Request{Scenario: text})
	body, err := json.Marshal(runs.Request{Scenario: text, Files: map[string]string{"a.yaml": "b"}, Against: "default"})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "with files", h.do(http.MethodPost, runsPath, string(body)).StatusCode, http.StatusCreated)
	want(t, "its files", f.asked, runs.Request{Scenario: text, Files: map[string]string{"a.yaml": "b"}, Against: "default"})
	want(t, "an unknown field", h.do(http.MethodPost, runsPath, `{"scenario": "a", "fils": {}}`).StatusCode, http.StatusBadRequest)

	const sweep = "kind: Sweep\nmetadata: {name: a}\nscenario: {file: a.yaml}\n"
	want(t, "a sweep by itself", h.do(http.MethodPost, runsPath, sweep).StatusCode, http.StatusCreated)
	want(t, "its text", f.asked, runs.Request{Sweep: sweep})
	want(t, "a sweep with files", h.do(http.MethodPost, runsPath, `{"sweep": "a", "files": {"a.yaml": "b"}}`).StatusCode, http.StatusCreated)
	want(t, "its files", f.asked, runs.Request{Sweep: "a", Files: map[string]string{"a.yaml": "b"}})

	f.err = &scenario.Error{Mistakes: []scenario.Mistake{{Line: 3, Field: "steps", Message: "no"}}}
	answer := h.do(http.MethodPost, runsPath, text)
	want(t, "a wrong scenario", answer.StatusCode, http.StatusBadRequest)
	if !strings.Contains(answer.body, `"line":3`) {
		t.Error(answer.body)
	}
	f.err = &runs.FullError{}
	want(t, "too many", h.do(http.MethodPost, runsPath, text).StatusCode, http.StatusTooManyRequests)

	want(t, "the list", h.get(runsPath).StatusCode, http.StatusOK)
	want(t, "one", h.get(runsPath+"/1").StatusCode, http.StatusOK)
	want(t, "none", h.get(runsPath+"/2").StatusCode, http.StatusNotFound)
	want(t, "a result", h.get(runsPath+"/1/results/0").StatusCode, http.StatusOK)
	for _, path := range []string{"/2/results/0", "/1/results/1", "/1/results/x", "/1/results/0/decisions/u/1", "/1/results/0/decisions/v/2"} {
		want(t, path, h.get(runsPath+path).StatusCode, http.StatusNotFound)
	}
	decision := h.get(runsPath + "/1/results/0/decisions/u/2")
	if decision.StatusCode != http.StatusOK || !strings.Contains(decision.body, `"kind":"decision"`) || !strings.Contains(decision.body, `"outcome":"unschedulable"`) {
		t.Errorf("%d: %s", decision.StatusCode, decision.body)
	}
	want(t, "a decision as a file", h.get(runsPath+"/1/results/0/decisions/u/2?format=html").Header.Get("Content-Disposition"), "inline; filename=decision.html")
	for kind, code := range map[string]int{"": 200, "Scenario": 200, "Sweep": 200, "Pod": 400} {
		want(t, "the schema of "+kind, h.get(runsPath+"/schema?kind="+kind).StatusCode, code)
	}
	file := h.get(runsPath + "/1?format=html")
	want(t, "as a file", file.StatusCode, http.StatusOK)
	want(t, "its name", file.Header.Get("Content-Disposition"), "inline; filename=run-1.html")
	want(t, "a sweep as a file", h.get(runsPath+"/3?format=html").StatusCode, http.StatusOK)
	want(t, "another format", h.get(runsPath+"/1?format=pdf").StatusCode, http.StatusBadRequest)
	want(t, "redacted", h.get(runsPath+"/1?format=html&redact=true").StatusCode, http.StatusBadRequest)
	want(t, "cancel", h.do(http.MethodDelete, runsPath+"/1", "").StatusCode, http.StatusNoContent)
	want(t, "cancel none", h.do(http.MethodDelete, runsPath+"/2", "").StatusCode, http.StatusNotFound)
}
