package playback

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/past/replay"
)

// patience bounds every wait of the tests. It is a limit, not a delay.
const patience = 10 * time.Second

// newSession returns a session, and a counter of its resets.
func newSession(t *testing.T) (*Session, *int) {
	t.Helper()
	resets := 0
	return New(Options{
		Reset:   func(context.Context) error { resets++; return errors.New("the test has no cluster") },
		Spool:   func() (*datadir.Spool, error) { return datadir.NewSpool(t.TempDir(), "recording") },
		Changed: func() {},
	}), &resets
}

func aRecording(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "replay", "testdata", "format1.recording"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestHalfAnUploadDelaysNothing: while a client is still sending, the session stops and unloads, and refuses a
// second upload.
func TestHalfAnUploadDelaysNothing(t *testing.T) {
	s, resets := newSession(t)
	body, client := io.Pipe()
	loaded := make(chan error, 1)
	go func() {
		_, err := s.Load(t.Context(), "half", body)
		loaded <- err
	}()
	if _, err := client.Write(aRecording(t)[:10]); err != nil { // it returns when the session has read it
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := s.Unload(ctx); !errors.Is(err, replay.ErrNoRecording) {
		t.Errorf("unloading: %v", err)
	}
	if _, err := s.Load(ctx, "second", bytes.NewReader(aRecording(t))); !errors.Is(err, replay.ErrBusy) {
		t.Errorf("a second upload: %v", err)
	}
	client.CloseWithError(io.ErrUnexpectedEOF)
	if err := <-loaded; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the half one: %v", err)
	}
	if *resets != 0 {
		t.Error("the cluster was emptied")
	}
}

// TestARecordingWhoseClientHasGone: the cluster is not emptied for it.
func TestARecordingWhoseClientHasGone(t *testing.T) {
	s, resets := newSession(t)
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.take(ctx); err != nil {
		t.Fatal(err)
	}
	loaded := make(chan error, 1)
	go func() {
		_, err := s.Load(ctx, "late", bytes.NewReader(aRecording(t)))
		loaded <- err
	}()
	cancel()
	if err := <-loaded; !errors.Is(err, context.Canceled) {
		t.Errorf("it said %v", err)
	}
	s.release()
	if *resets != 0 {
		t.Error("the cluster was emptied")
	}
}

// TestADamagedRecordingChangesNothing: it is refused before the cluster is emptied.
func TestADamagedRecordingChangesNothing(t *testing.T) {
	s, resets := newSession(t)
	damaged := aRecording(t)
	damaged[len(damaged)-1] ^= 1
	if _, err := s.Load(t.Context(), "damaged", bytes.NewReader(damaged)); !errors.Is(err, replay.ErrDamaged) {
		t.Errorf("it said %v", err)
	}
	if *resets != 0 {
		t.Error("the cluster was emptied")
	}
}
