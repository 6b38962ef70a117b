package upgrade

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kube-scheduler-simulator/scheduler/versions"
)

// built makes the schedulers of two versions seem built, and returns a question about them.
func built(t *testing.T) Question {
	t.Helper()
	dir, err := versions.Beside()
	if err != nil {
		t.Fatal(err)
	}
	for _, minor := range []string{"1.35", "1.36"} {
		path := filepath.Join(dir, "scheduler-"+minor)
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(path) })
	}
	return Question{From: "1.35", To: "1.36"}
}

func TestJobs(t *testing.T) {
	q := built(t)
	begun, proceed := make(chan struct{}), make(chan error)
	released := make(chan struct{}, 10)
	release := func() { released <- struct{}{} }
	j := &Jobs{ask: func(ctx context.Context, _ Cluster, _ Question, progress func(Progress)) (*Answer, error) {
		progress(Progress{Decided: 3, Decisions: 7})
		begun <- struct{}{}
		select {
		case err := <-proceed:
			return &Answer{Kind: Kind}, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	if _, found := j.Latest(); found || j.Delete() {
		t.Error("there is a comparison before the first")
	}
	start := func() {
		t.Helper()
		if _, err := j.Start(nil, "a.yaml", q, release); err != nil {
			t.Fatal(err)
		}
		<-begun
	}
	is := func(id string, state JobState) Job {
		t.Helper()
		<-released
		job, found := j.Latest()
		if !found || job.ID != id || job.State != state || job.Ended == nil {
			t.Errorf("%+v", job)
		}
		return job
	}
	start()
	if job, _ := j.Latest(); job.State != Running || job.Progress != (Progress{Decided: 3, Decisions: 7}) || job.File != "a.yaml" {
		t.Errorf("%+v", job)
	}
	if _, err := j.Start(nil, "", q, release); !errors.Is(err, ErrBusy) {
		t.Errorf("error %v", err)
	}
	<-released // also after an error
	proceed <- nil
	if job := is("1", Ended); job.Answer == nil {
		t.Errorf("%+v", job)
	}
	start()
	proceed <- errors.New("it died")
	if job := is("2", Failed); job.Error != "it died" || job.Answer != nil {
		t.Errorf("%+v", job)
	}
	start()
	if !j.Delete() {
		t.Error("it was not canceled")
	}
	is("3", Canceled)
	if !j.Delete() {
		t.Error("it was not forgotten")
	}
	if _, found := j.Latest(); found {
		t.Error("it is still there")
	}
	start()
	if err := j.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	is("4", Canceled)
	if _, err := j.Start(nil, "", q, release); !errors.Is(err, ErrBusy) {
		t.Errorf("error %v after the stop", err)
	}
}

func TestWhatNoJobBegins(t *testing.T) {
	for _, q := range []Question{{To: "1.36"}, {From: "1.20", To: "1.36"}, {From: "1.35.4", To: "1.36"}, {From: "1.36", To: "1.36"}} {
		if _, err := new(Jobs).Start(nil, "", q, func() {}); !errors.As(err, new(*QuestionError)) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if _, err := new(Jobs).Start(nil, "", Question{From: "1.34", To: versions.Own}, func() {}); !errors.As(err, new(*versions.NotBuiltError)) {
		t.Errorf("error %v", err)
	}
}
