package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain crashes instead of testing when the environment says where to.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CRASH_IN"); dir != "" {
		if _, err := Open(dir); err != nil {
			panic("cannot open: " + err.Error())
		}
		done := make(chan struct{})
		go func() { panic("it went wrong") }() // on a goroutine that nothing guards
		<-done
	}
	os.Exit(m.Run())
}

func open(t *testing.T, dir string) *Log {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestCrashesAreRememberedUntilAnOrderlyEnd(t *testing.T) {
	dir := t.TempDir()
	if got := open(t, dir).Crashes(); len(got) != 0 {
		t.Errorf("crashes before the first: %+v", got)
	}
	for range maxKept + 2 {
		crash := exec.Command(os.Args[0])
		crash.Env = append(os.Environ(), "CRASH_IN="+dir)
		if out, err := crash.CombinedOutput(); err == nil || strings.Contains(string(out), "cannot open") {
			t.Fatalf("%v: %s", err, out)
		}
	}
	l := open(t, dir)
	crashes := l.Crashes()
	if len(crashes) != maxKept || crashes[0].Message != "panic: it went wrong" || crashes[0].Time.After(crashes[len(crashes)-1].Time) {
		t.Errorf("%d crashes: %+v", len(crashes), crashes)
	}
	details, err := os.ReadFile(l.Details())
	if err != nil || !strings.Contains(string(details), "crash_test.go") {
		t.Errorf("the details: %v %s", err, details)
	}
	// A run that is killed writes nothing: the crashes stay, and none is added.
	if got := open(t, dir).Crashes(); len(got) != maxKept {
		t.Errorf("after a kill: %d crashes", len(got))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := open(t, dir).Crashes(); len(got) != 0 {
		t.Errorf("after an orderly end: %+v", got)
	}
}

func TestADamagedListIsForgotten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, list), []byte(`[{"time":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := open(t, dir).Crashes(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
