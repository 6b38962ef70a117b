package systemtest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

var update = flag.Bool("update", false, "write the golden files")

// asked is what a command prints.
type asked struct {
	out, errors string
	code        int
	// took is the processor time of the command.
	took time.Duration
	// memory is the most that it held, in bytes; only why measures it.
	memory int64
}

func (a asked) String() string {
	text := a.out
	if a.errors != "" {
		text += "stderr: " + a.errors
	}
	if a.code != 0 {
		text += fmt.Sprintf("exit code %d\n", a.code)
	}
	return text
}

// ask runs a command of the program in a directory.
func ask(t *testing.T, dir string, args ...string) asked {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, stderr bytes.Buffer
	command := exec.CommandContext(ctx, clustertest.Program(), args...)
	command.Dir, command.Stdout, command.Stderr = dir, &out, &stderr
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	ended := command.ProcessState
	return asked{out: out.String(), errors: stderr.String(), code: ended.ExitCode(), took: ended.UserTime() + ended.SystemTime()}
}

// TestAskingAFile reviews what the commands print about a cluster in a file, with no simulator running.
func TestAskingAFile(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join("testdata", "ask"))
	if err != nil {
		t.Fatal(err)
	}
	const golden = "ask.golden"
	old, err := os.ReadFile(filepath.Join(dir, golden))
	if err != nil {
		t.Fatal(err)
	}
	// The commands are in the golden file, so that a reader can try them.
	var got strings.Builder
	for line := range strings.Lines(string(old)) {
		command, found := strings.CutPrefix(line, "$ simulator ")
		if !found {
			continue
		}
		fmt.Fprintf(&got, "%s%s\n", line, ask(t, dir, arguments(command)...))
	}
	text := strings.ReplaceAll(got.String(), dir+"/", "")
	if *update {
		if err := os.WriteFile(filepath.Join(dir, golden), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(old), text); diff != "" {
		t.Errorf("%s (run with -update when you can explain every line):\n%s", golden, diff)
	}
}

// arguments splits a line as a shell does, except that it knows single quotes only.
func arguments(line string) []string {
	var out []string
	for i, part := range strings.Split(strings.TrimSpace(line), "'") {
		if i%2 == 0 {
			out = append(out, strings.Fields(part)...)
			continue
		}
		out = append(out, part)
	}
	return out
}

// TestAskingASimulatorAndItsExport: both give the same answers, and neither changes anything.
func TestAskingASimulatorAndItsExport(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join("testdata", "ask"))
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, passing(t), "--import", filepath.Join(dir, "cluster.yaml"), "--controllers", "*,-nodelifecycle")
	eventually(t, "the cluster is imported", func() error {
		var state struct{ State string }
		if err := p.get("/api/v1/import", &state); err != nil {
			return err
		}
		if state.State != "finished" {
			return fmt.Errorf("it is %s", state.State)
		}
		return nil
	})
	before, err := p.request("GET", "/api/v1/export", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	export := filepath.Join(t.TempDir(), "export.json")
	if err := os.WriteFile(export, before.body, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{
		"whatif -f pod.yaml",
		"whatif -f pod.yaml -o wide --patch node/gpu={\"spec\":{\"taints\":null}}",
		"whatif -f deployment.yaml",
		"whatif shop/web-1",
		"whatif -f pod.yaml --add-node a=2 --copies 3",
		"whatif -f pod.yaml --fit",
		"whatif -f critical.yaml",
		"capacity -f pod.yaml",
		"capacity -f small.yaml --delete node/b",
		"capacity shop/web-1 --nodes-like a --for 40",
	} {
		t.Run(question, func(t *testing.T) {
			var answers []string
			for _, source := range [][]string{{"--server", p.url}, {"--state", export}} {
				a := ask(t, dir, append(strings.Fields(question), source...)...)
				if a.errors != "" {
					t.Fatalf("%s %s: %s", question, source, a)
				}
				// The first line names the source.
				_, answer, _ := strings.Cut(a.out, "\n")
				answers = append(answers, answer)
			}
			if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
				t.Errorf("-the simulator +its export:\n%s", diff)
			}
		})
	}
	t.Run("redacted", func(t *testing.T) {
		redacted, err := p.request("GET", "/api/v1/export?redact=true", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "redacted.json")
		if err := os.WriteFile(file, redacted.body, 0o600); err != nil {
			t.Fatal(err)
		}
		open, shut := ask(t, dir, "capacity", "-f", "small.yaml", "--state", export), ask(t, dir, "capacity", "-f", "small.yaml", "--state", file)
		if count := strings.Split(open.out, "\n")[1]; shut.errors != "" || !strings.Contains(shut.out, count) {
			t.Errorf("%s\nthe redacted cluster: %s", open, shut)
		}
	})
	after, err := p.request("GET", "/api/v1/export", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before.body), string(after.body)); diff != "" {
		t.Errorf("the questions changed the cluster:\n%s", diff)
	}
}

// TestAskingTakesNoTime: without a simulator, an answer needs no control plane, whose start takes several seconds of processor time.
func TestAskingTakesNoTime(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("testdata", "ask"))
	if err != nil {
		t.Fatal(err)
	}
	fastest := time.Hour
	for range 3 {
		a := ask(t, dir, "whatif", "-f", "pod.yaml", "--state", "cluster.yaml")
		if a.code != 0 {
			t.Fatal(a)
		}
		fastest = min(fastest, a.took)
	}
	if limit := clustertest.Scale(time.Second); fastest > limit {
		t.Errorf("the fastest of three answers took %s of processor time, more than %s", fastest, limit)
	}
}
