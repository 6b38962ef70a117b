package quiet

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"k8s.io/klog/v2"
)

// TestOnlyFatalMessagesAreLogged logs in a process of its own, which the last message ends.
func TestOnlyFatalMessagesAreLogged(t *testing.T) {
	if os.Getenv("QUIET_LOGS") != "" {
		if err := Klog(); err != nil {
			t.Fatal(err)
		}
		klog.Errorf("a %s", "mistake")
		klog.ErrorS(errors.New("a mistake"), "structured")
		logger := klog.LoggerWithName(klog.FromContext(t.Context()), "component")
		logger.Error(errors.New("a mistake"), "contextual")
		logger.Info("a mistake")
		klog.Fatal("the end")
	}
	command := exec.Command(os.Args[0], "-test.run=^TestOnlyFatalMessagesAreLogged$")
	command.Env = append(os.Environ(), "QUIET_LOGS=1")
	out, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the end") || strings.Contains(string(out), "a mistake") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestNamesCostNothing checks that a component that names its logger for every call pays nothing for it.
func TestNamesCostNothing(t *testing.T) {
	if err := Klog(); err != nil {
		t.Fatal(err)
	}
	logger := klog.Background()
	if n := testing.AllocsPerRun(100, func() { klog.LoggerWithName(logger, "Filter") }); n != 0 {
		t.Errorf("a name takes %v allocations", n)
	}
}
