package sessions

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/others/flow"
	"kube-scheduler-simulator/scheduler/others/session"
)

// After a reset, a session and a round that decide what the latest ones did are recorded again.
func TestARecordComesBackAfterAReset(t *testing.T) {
	s, err := New(Options{ClientConfig: &rest.Config{}, Dir: t.TempDir(), Logger: klog.Background()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	keep := func() {
		t.Helper()
		if err := s.rounds.keep(&flow.Outcome{Record: &flow.Record{Model: flow.Trivial}}); err != nil {
			t.Fatal(err)
		}
		if err := s.runners[0].keep(&session.Outcome{Record: &session.Record{}}); err != nil {
			t.Fatal(err)
		}
	}
	keep()
	keep()
	if n := len(s.List("", 0, 10)); n != 2 {
		t.Errorf("%d records, want 2: what says the same is kept once", n)
	}
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	keep()
	if n := len(s.List("", 0, 10)); n != 2 {
		t.Errorf("%d records after a reset, want 2", n)
	}
}

// A reset of everything leaves the schedulers as the program's flags have them, also for the next start.
func TestDefaultsTurnTheSchedulersOff(t *testing.T) {
	dir := t.TempDir()
	open := func() *Service {
		t.Helper()
		s, err := New(Options{ClientConfig: &rest.Config{}, Dir: dir, Logger: klog.Background()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Stop() })
		return s
	}
	for _, flag := range []bool{false, true} {
		s := open()
		if err := s.Enable(!flag); err != nil {
			t.Fatal(err)
		}
		if err := s.Defaults(flag); err != nil {
			t.Fatal(err)
		}
		if s.Enabled() != flag || open().Enabled() != flag {
			t.Errorf("with the flag %t: enabled after a reset %t, and after a restart %t", flag, s.Enabled(), open().Enabled())
		}
	}
}

// A reset may delete the definitions while they are being installed. They are installed again.
func TestPreparationsThatAResetUndoesAreRepeated(t *testing.T) {
	apiServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		w.WriteHeader(http.StatusCreated)
		_, _ = io.Copy(w, r.Body) // the object that was created
	}))
	t.Cleanup(apiServer.Close)
	installed := 0
	var s *Service
	s, err := New(Options{ClientConfig: &rest.Config{Host: apiServer.URL}, Dir: t.TempDir(), Logger: klog.Background(), Install: func(context.Context) error {
		if installed++; installed == 1 {
			return s.Reset()
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	for range 3 {
		if err := s.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if installed != 2 {
		t.Errorf("the definitions were installed %d times, want 2: before and after the reset", installed)
	}
}
