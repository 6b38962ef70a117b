package server

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/shadow"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// fakeShadow keeps a document that it can parse.
type fakeShadow struct {
	state  shadow.State
	last   int
	within time.Duration
	err    error
}

func (f *fakeShadow) State() shadow.State { return f.state }

func (f *fakeShadow) Set(_ context.Context, document []byte) error {
	c, err := config.Parse(document)
	if err != nil {
		return hypothesis.RefusedConfiguration(err)
	}
	f.state.Configuration, f.state.Since = c, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return f.err
}

func (f *fakeShadow) Clear() error {
	f.state = shadow.State{Judgement: shadow.Judgement{Items: []shadow.Item{}}}
	return f.err
}

func (f *fakeShadow) Draft(_ context.Context, document []byte, last int, within time.Duration) (*shadow.Draft, error) {
	if _, err := config.Parse(document); err != nil {
		return nil, hypothesis.RefusedConfiguration(err)
	}
	f.last, f.within = last, within
	return &shadow.Draft{State: whatif.State{Nodes: 3}, Judgement: shadow.Judgement{Items: []shadow.Item{}}, Complete: true}, f.err
}

const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// TestShadow: put, read, remove.
func TestShadow(t *testing.T) {
	f := &fakeShadow{}
	_ = f.Clear()
	h := serve(t, Options{})
	h.attach(nil, nil, func(b *Backend) { b.Shadow = f })
	const none = `{"configuration":null,"skipped":0,"waiting":0,"judged":0,"differ":0,"verdicts":{"same":0,"asGood":0,"elsewhere":0,"pending":0,"placed":0},"items":[]}`
	want(t, "no shadow", strings.TrimSpace(h.get(shadowPath).body), none)

	const document = `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration"}`
	set := strings.Replace(none, `null,`, document+`,"since":"2026-01-02T03:04:05Z",`, 1)
	for name, body := range map[string]string{
		"an object": `{"configuration":` + document + `}`,
		"a string":  `{"configuration":"` + strings.ReplaceAll(header, "\n", `\n`) + `"}`,
		"YAML":      "configuration:\n  apiVersion: kubescheduler.config.k8s.io/v1\n  kind: KubeSchedulerConfiguration\n",
	} {
		answer := h.do(http.MethodPut, shadowPath, body)
		want(t, name, answer.StatusCode, http.StatusOK)
		want(t, name, strings.TrimSpace(answer.body), set)
	}

	total := int64(7)
	f.state.Judgement = shadow.Judgement{Judged: 1, Differ: 1, Verdicts: shadow.Counts{Elsewhere: 1}, Items: []shadow.Item{{
		Pod: result.Pod{Namespace: "shop", Name: "web", UID: "u"}, Attempt: 1, Profile: "default-scheduler",
		Comparison: shadow.Comparison{
			Live: shadow.Place{Node: "a", Total: &total}, Shadow: shadow.Place{Node: "b"}, Verdict: shadow.Elsewhere, Differs: true,
			PartedBy: &shadow.Parting{Plugin: "NodeResourcesFit", ExtensionPoint: "filter", By: shadow.Shadow, Node: "a", Reasons: []string{"Insufficient cpu"}},
		},
	}}}
	want(t, "an item", strings.Contains(h.get(shadowPath).body, `"items":[{"pod":{"namespace":"shop","name":"web","uid":"u"},"attempt":1,"time":"0001-01-01T00:00:00Z","profile":"default-scheduler",`+
		`"live":{"node":"a","total":7},"shadow":{"node":"b"},"verdict":"elsewhere","differs":true,"partedBy":{"plugin":"NodeResourcesFit","extensionPoint":"filter","by":"shadow","node":"a","reasons":["Insufficient cpu"]}}]`), true)

	f.state.Problem = "no scheduler runs"
	want(t, "a problem", strings.Contains(h.get(shadowPath).body, `"problem":"no scheduler runs"`), true)

	want(t, "removed", h.do(http.MethodDelete, shadowPath, "").StatusCode, http.StatusNoContent)
	want(t, "no shadow", strings.TrimSpace(h.get(shadowPath).body), none)
}

func TestDraft(t *testing.T) {
	f := &fakeShadow{}
	h := serve(t, Options{})
	h.attach(nil, nil, func(b *Backend) { b.Shadow = f })
	document := `"` + strings.ReplaceAll(header, "\n", `\n`) + `"`
	answer := h.do(http.MethodPost, shadowPath, `{"configuration":`+document+`}`)
	want(t, "status", answer.StatusCode, http.StatusOK)
	want(t, "answer", strings.TrimSpace(answer.body), `{"state":{"nodes":3,"pods":0,"resourceVersion":""},"judged":0,"differ":0,`+
		`"verdicts":{"same":0,"asGood":0,"elsewhere":0,"pending":0,"placed":0},"items":[],"complete":true}`)
	want(t, "last", f.last, 200)
	want(t, "within", f.within, 10*time.Second)
	h.do(http.MethodPost, shadowPath, `{"configuration":`+document+`,"last":5,"withinMilliseconds":250}`)
	want(t, "last", f.last, 5)
	want(t, "within", f.within, 250*time.Millisecond)
}

// TestBadShadows: a document with mistakes is refused at their lines, and the shadow stays.
func TestBadShadows(t *testing.T) {
	wrong := `"` + strings.ReplaceAll(header+"parallelism: many", "\n", `\n`) + `"`
	for name, test := range map[string]struct {
		method, body string
		code         int
		details      string
	}{
		"no configuration":        {http.MethodPut, `{}`, http.StatusBadRequest, `[{"field":"configuration","message":"want a KubeSchedulerConfiguration"}]`},
		"a bare document":         {http.MethodPut, header, http.StatusBadRequest, `[{"field":"apiVersion","line":1,"column":1,"message":"unknown field \"apiVersion\"; the fields are configuration"},{"field":"kind","line":2`},
		"a mistake":               {http.MethodPut, `{"configuration":` + wrong + `}`, http.StatusUnprocessableEntity, `[{"field":"configuration.parallelism","line":3,"column":14,"message":"want a whole number of 32 bits, not \"many\""}]`},
		"a draft's mistake":       {http.MethodPost, `{"configuration":` + wrong + `}`, http.StatusUnprocessableEntity, `[{"field":"configuration.parallelism","line":3,"column":14,"message":"want a whole number of 32 bits, not \"many\""}]`},
		"a draft of nothing":      {http.MethodPost, `{"last":5}`, http.StatusBadRequest, `[{"field":"configuration","message":"want a KubeSchedulerConfiguration"}]`},
		"a draft for too many":    {http.MethodPost, `{"configuration":{},"last":501}`, http.StatusBadRequest, `[{"field":"last","message":"want a number from 1 to 500"}]`},
		"a draft in no time":      {http.MethodPost, `{"configuration":{},"withinMilliseconds":-1}`, http.StatusBadRequest, `[{"field":"withinMilliseconds","message":"want a number from 1 to 10000"}]`},
		"a document of 2 MiB":     {http.MethodPut, strings.Repeat(" ", 2*config.MaxSize+1), http.StatusRequestEntityTooLarge, `[]`},
		"a shadow and its number": {http.MethodPut, `{"configuration":{},"last":5}`, http.StatusBadRequest, `[{"field":"last","line":1,"column":21,"message":"unknown field \"last\"; the fields are configuration"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeShadow{}
			h := serve(t, Options{})
			h.attach(nil, nil, func(b *Backend) { b.Shadow = f })
			answer := h.do(test.method, shadowPath, test.body)
			want(t, "status", answer.StatusCode, test.code)
			if !strings.Contains(answer.body, `"details":`+test.details) {
				t.Errorf("the answer is %s", answer.body)
			}
			if f.state.Configuration != nil {
				t.Error("there is a shadow now")
			}
		})
	}
}
