package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"kube-scheduler-simulator/scheduler/config"
)

// fakeConfiguration accepts every document that does not contain "bad", and counts the
// applied ones.
type fakeConfiguration struct {
	err     error
	applied []string
}

var _ Configuration = (*fakeConfiguration)(nil)

const fakeDocument = "# mine\napiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 4\n"

func (f *fakeConfiguration) Current() ([]byte, error) { return []byte(fakeDocument), f.err }

func (f *fakeConfiguration) Default() ([]byte, error) {
	return []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"), f.err
}

func (f *fakeConfiguration) Apply(ctx context.Context, document []byte) (config.Applied, error) {
	applied, err := f.Check(ctx, document)
	if err == nil {
		f.applied = append(f.applied, string(document))
		applied.Revision.Number, applied.Revision.State = len(f.applied), config.RevisionRunning
	}
	return applied, err
}

func (f *fakeConfiguration) Check(_ context.Context, document []byte) (config.Applied, error) {
	if f.err != nil {
		return config.Applied{}, f.err
	}
	if strings.Contains(string(document), "bad") {
		return config.Applied{}, &config.Error{Mistakes: []config.Mistake{{Field: "parallelism", Line: 4, Column: 14, Message: "must be greater than 0"}, {Message: "more"}}}
	}
	return config.Applied{Revision: config.Revision{Document: string(document)}}, nil
}

func (f *fakeConfiguration) ApplyDefault(ctx context.Context) (config.Applied, error) {
	return f.Apply(ctx, []byte("default"))
}

func (f *fakeConfiguration) Effective() (*config.Effective, error) {
	return &config.Effective{Revision: len(f.applied)}, f.err
}

func (f *fakeConfiguration) Revisions() []config.Revision { return nil }

func (f *fakeConfiguration) Revision(number int) (config.Revision, bool) {
	if number > len(f.applied) {
		return config.Revision{}, false
	}
	return config.Revision{Number: number, Document: f.applied[number-1]}, true
}

func TestConfiguration(t *testing.T) {
	h := serve(t, Options{})
	h.attach(nil, nil)
	const asJSON = `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","parallelism":4}`
	want(t, "JSON", h.get(configurationPath).body, asJSON)
	want(t, "JSON, asked for", h.get(configurationPath, "Accept: application/json").body, asJSON)
	want(t, "JSON, preferred", h.get(configurationPath, "Accept: application/yaml;q=0.5, application/json").body, asJSON)
	a := h.get(configurationPath, "Accept: application/yaml")
	want(t, "type", a.Header.Get("Content-Type"), "application/yaml")
	if !strings.HasPrefix(a.body, "# mine\n") {
		t.Errorf("not as the user wrote it: %s", a.body)
	}
	want(t, "default", h.get(configurationPath+"/default").body, `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration"}`)
}

func TestApplyingAConfiguration(t *testing.T) {
	h := serve(t, Options{})
	fake := h.attach(nil, nil)
	for _, method := range []string{http.MethodPut, http.MethodPost} {
		a := h.do(method, configurationPath, fakeDocument, "Content-Type: application/yaml")
		want(t, method, a.StatusCode, http.StatusOK)
	}
	var applied config.Applied
	tried := h.do(http.MethodPut, configurationPath+"?dryRun=true", fakeDocument)
	if err := json.Unmarshal([]byte(tried.body), &applied); err != nil {
		t.Fatal(err)
	}
	want(t, "revision of a dry run", applied.Revision.Number, 0)
	want(t, "no effect", applied.NoEffect, []config.NoEffect{})
	want(t, "a revision again", h.do(http.MethodPost, configurationPath+"/revisions/2", "").StatusCode, http.StatusOK)
	want(t, "the default", h.do(http.MethodDelete, configurationPath, "").StatusCode, http.StatusOK)
	want(t, "applied", fake.applied, []string{fakeDocument, fakeDocument, fakeDocument, "default"})
	want(t, "revisions", h.get(configurationPath+"/revisions").body, "{\"items\":[]}\n")
	want(t, "effective", h.get(configurationPath+"/effective").StatusCode, http.StatusOK)
}

func TestRefusingAConfiguration(t *testing.T) {
	h := serve(t, Options{})
	fake := h.attach(nil, nil)
	a := h.do(http.MethodPut, configurationPath, "bad")
	want(t, "status", a.StatusCode, http.StatusUnprocessableEntity)
	var body struct{ Details []config.Mistake }
	if err := json.Unmarshal([]byte(a.body), &body); err != nil {
		t.Fatal(err)
	}
	want(t, "details", body.Details, []config.Mistake{
		{Field: "parallelism", Line: 4, Column: 14, Message: "must be greater than 0"}, {Message: "more"},
	})
	want(t, "dryRun", h.do(http.MethodPut, configurationPath+"?dryRun=perhaps", fakeDocument).StatusCode, http.StatusBadRequest)
	want(t, "no number", h.get(configurationPath+"/revisions/x").StatusCode, http.StatusBadRequest)
	want(t, "no revision", h.get(configurationPath+"/revisions/9").StatusCode, http.StatusNotFound)
	want(t, "applied", fake.applied, []string(nil))

	fake.err = config.ErrNotRunning
	want(t, "stopped", h.do(http.MethodPut, configurationPath, fakeDocument).StatusCode, http.StatusConflict)
	// Between two schedulers there is no configuration to read, as little as during the start.
	for _, path := range []string{configurationPath, configurationPath + "/effective"} {
		answer := h.get(path)
		want(t, path, answer.StatusCode, http.StatusServiceUnavailable)
		want(t, path+" again", answer.Header.Get("Retry-After"), "1")
	}
	fake.err = context.DeadlineExceeded
	want(t, "too long", h.do(http.MethodPut, configurationPath, fakeDocument).StatusCode, http.StatusServiceUnavailable)
	fake.err = errors.New("the disk is on fire")
	want(t, "broken", h.do(http.MethodPut, configurationPath, fakeDocument).StatusCode, http.StatusInternalServerError)
}

func TestFeatureGates(t *testing.T) {
	h := serve(t, Options{})
	h.attach(nil, nil)
	want(t, "gates", h.get("/api/v1/featuregates").body,
		`{"items":[{"name":"GenericWorkload","stage":"ALPHA","default":false,"enabled":true,"locked":false}]}`+"\n")
}
