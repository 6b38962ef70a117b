package server

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/simulator/questions/upgrade"
)

type fakeUpgrades struct {
	job *upgrade.Job
	err error
}

func (f *fakeUpgrades) Start(q upgrade.Question) (upgrade.Job, error) {
	if f.err != nil {
		return upgrade.Job{}, f.err
	}
	f.job = &upgrade.Job{ID: "1", State: upgrade.Running, From: q.From, To: q.To}
	return *f.job, nil
}

func (f *fakeUpgrades) StartFile(_ context.Context, q upgrade.Question, name string, body io.Reader) (upgrade.Job, error) {
	content, err := io.ReadAll(body)
	if err != nil {
		return upgrade.Job{}, err
	}
	f.job = &upgrade.Job{ID: "2", State: upgrade.Running, From: q.From, To: q.To, File: name + ": " + string(content)}
	return *f.job, nil
}

func (f *fakeUpgrades) Latest() (upgrade.Job, bool) {
	if f.job == nil {
		return upgrade.Job{}, false
	}
	return *f.job, true
}

func (f *fakeUpgrades) Delete() bool {
	found := f.job != nil
	f.job = nil
	return found
}

func TestUpgrade(t *testing.T) {
	h := serve(t, Options{})
	f := &fakeUpgrades{}
	h.attach(nil, nil, func(b *Backend) { b.Upgrades = f })
	check := func(method, path, body string, code int, parts ...string) {
		t.Helper()
		a := h.do(method, path, body)
		if a.StatusCode != code {
			t.Errorf("%s %s: %d %s", method, path, a.StatusCode, a.body)
		}
		for _, part := range parts {
			if !strings.Contains(a.body, part) {
				t.Errorf("%s %s: %s lacks %s", method, path, a.body, part)
			}
		}
	}
	check("GET", upgradePath, "", http.StatusOK, `{"minor":"1.35","own":false,"built":false,"command":"make scheduler-1.35"}`, `"minor":"1.37","own":true`)
	check("DELETE", upgradePath, "", http.StatusNotFound)
	check("POST", upgradePath, `{"from": "1.35", "into": "1.37"}`, http.StatusBadRequest, "into")
	check("POST", upgradePath, `{"from": "1.35", "to": "1.37"}`, http.StatusAccepted, `"state":"running","from":"1.35","to":"1.37","file":""`)
	check("GET", upgradePath, "", http.StatusOK, `"id":"1"`)
	check("POST", upgradeFilePath+"?from=1.34&to=1.36&name=prod.ksr", "objects", http.StatusAccepted, `"from":"1.34","to":"1.36","file":"prod.ksr: objects"`)
	check("DELETE", upgradePath, "", http.StatusNoContent)
	for _, refused := range []struct {
		err  error
		code int
		said string
	}{
		{upgrade.ErrBusy, http.StatusConflict, "another comparison is running"},
		{&upgrade.QuestionError{Field: "to", Message: "no upgrade"}, http.StatusUnprocessableEntity, `"field":"to"`},
		{&versions.NotBuiltError{Minor: "1.35", Path: "/bin/scheduler-1.35"}, http.StatusUnprocessableEntity, "make scheduler-1.35"},
	} {
		f.err = refused.err
		check("POST", upgradePath, `{"from": "1.35", "to": "1.37"}`, refused.code, refused.said)
	}
}
