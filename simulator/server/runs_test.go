package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"kube-scheduler-simulator/simulator/runs"
	"kube-scheduler-simulator/simulator/scenario"
)

// fakeRuns keeps one entry.
type fakeRuns struct {
	asked   runs.Request
	err     error
	deleted bool
}

func (f *fakeRuns) Start(q runs.Request) (runs.Entry, error) {
	f.asked = q
	return runs.Entry{ID: "1", State: runs.Queued}, f.err
}

func (f *fakeRuns) List() []runs.Entry { return []runs.Entry{{ID: "1"}} }

func (f *fakeRuns) Get(id string) (runs.Entry, bool) { return runs.Entry{ID: id}, id == "1" }

func (f *fakeRuns) Delete(id string) bool { f.deleted = true; return id == "1" }

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
	file := h.get(runsPath + "/1?format=html")
	want(t, "as a file", file.StatusCode, http.StatusOK)
	want(t, "its name", file.Header.Get("Content-Disposition"), "inline; filename=run-1.html")
	want(t, "another format", h.get(runsPath+"/1?format=pdf").StatusCode, http.StatusBadRequest)
	want(t, "redacted", h.get(runsPath+"/1?format=html&redact=true").StatusCode, http.StatusBadRequest)
	want(t, "cancel", h.do(http.MethodDelete, runsPath+"/1", "").StatusCode, http.StatusNoContent)
	want(t, "cancel none", h.do(http.MethodDelete, runsPath+"/2", "").StatusCode, http.StatusNotFound)
}
