package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// asProgram makes this test binary the program, with a plugin that never ends.
const asProgram = "SIMULATOR_HANGING_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		Main(WithPlugin(hanging{}.Name(), func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return hanging{}, nil }))
		return
	}
	os.Exit(m.Run())
}

// hanging is a plugin whose Close does not return.
type hanging struct{}

func (hanging) Name() string { return "Hanging" }

func (hanging) Filter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) *fwk.Status { return nil }

func (hanging) Close() error { select {} }

// TestAStopThatIsNotOrderly: the program ends in time, with an exit code that is not 0, and one line says what did not end.
func TestAStopThatIsNotOrderly(t *testing.T) {
	clustertest.Slow(t)
	file := filepath.Join(t.TempDir(), "configuration.yaml")
	configuration := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{plugins: {multiPoint: {enabled: [{name: Hanging}]}}}]\n"
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	program := exec.CommandContext(t.Context(), os.Args[0], "--listen", "127.0.0.1:0", "--scheduler-config", file)
	program.Env, program.Stderr = append(os.Environ(), asProgram+"=1"), &log
	out, err := program.StdoutPipe()
	if err == nil {
		err = program.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready: ") {
		t.Fatalf("the ready line is %q: %v: %s", line, err, log.String())
	}
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	exit, _ := errors.AsType[*exec.ExitError](program.Wait())
	if exit == nil || exit.ExitCode() != 1 {
		t.Errorf("it ended with %v", exit)
	}
	if want := "simulator: the stop was not orderly: the scheduler"; strings.Count(log.String(), "\n") != 1 || !strings.HasPrefix(log.String(), want) {
		t.Errorf("it said %q, want one line that begins with %q", log.String(), want)
	}
}
