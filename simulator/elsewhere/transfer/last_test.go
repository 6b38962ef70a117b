package transfer

import (
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest/manifesttest"
)

// TestTheLastReportSurvivesARestart: until a reset, and whatever an undo restores meanwhile.
func TestTheLastReportSurvivesARestart(t *testing.T) {
	start := func(dir string) *Cluster {
		return New(Options{Config: &rest.Config{Host: "http://willing", Transport: newWilling()}, Kept: filepath.Join(dir, "last.json")})
	}
	dir := t.TempDir()
	s := start(dir)
	if s.Last() != nil || s.Latest() != nil {
		t.Error("there is one before the first import")
	}
	for _, opts := range []ImportOptions{{Reschedule: true}, {Untold: true}} {
		run, err := s.Begin(manifest.NewSource(manifesttest.Part("f", onePod)), opts)
		if err != nil {
			t.Fatal(err)
		}
		<-run.Done()
	}
	if last := s.Last(); last == nil || !last.Reschedule {
		t.Errorf("the last report is %+v", last)
	}
	s = start(dir)
	if last := s.Last(); last == nil || !last.Reschedule || last.Created != 1 {
		t.Errorf("after a restart, the last report is %+v", last)
	}
	if run := s.Latest(); run == nil || run.State() != Finished || run.Cancel() {
		t.Error("after a restart, the last import has not finished")
	}
	if err := s.ForgetLast(); err != nil || s.Last() != nil {
		t.Errorf("it is still there, %v", err)
	}
	if start(dir).Last() != nil {
		t.Error("after a reset and a restart, it is there again")
	}
}
