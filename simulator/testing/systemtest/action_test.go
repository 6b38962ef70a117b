package systemtest

import (
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// action is a composite action, as GitHub reads it.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Using string
		Steps []struct {
			Shell, Run string
			Env        map[string]string
		}
	}
}

// job is a job on a runner that uses the action.
type job struct {
	dir, path string
	action    action
}

func newJob(t *testing.T, files map[string]string) job {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, "action", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	j := job{dir: t.TempDir(), path: t.TempDir()}
	if err := yaml.Unmarshal(text, &j.action); err != nil {
		t.Fatal(err)
	}
	if j.action.Runs.Using != "composite" || len(j.action.Runs.Steps) == 0 {
		t.Fatalf("the action is %+v", j.action.Runs)
	}
	for name, content := range files {
		file := filepath.Join(j.dir, name)
		succeed(t, os.MkdirAll(filepath.Dir(file), 0o755))
		succeed(t, os.WriteFile(file, []byte(content), 0o600))
	}
	return j
}

// installs puts a program into the job's path.
func (j job) installs(t *testing.T, name, program string) {
	t.Helper()
	succeed(t, os.Symlink(program, filepath.Join(j.path, name)))
}

var expression = regexp.MustCompile(`\$\{\{ inputs\.([a-z-]+) \}\}`)

// run does the steps as a runner does, until one fails. It returns the exit code, what the steps print, and the summary of the job.
func (j job) run(t *testing.T, inputs map[string]string) (code int, output, summary string) {
	t.Helper()
	temp := t.TempDir()
	summaryFile, pathFile := filepath.Join(temp, "summary"), filepath.Join(temp, "path")
	defer func() {
		text, err := os.ReadFile(summaryFile)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		summary = string(text)
	}()
	for name := range inputs {
		if _, known := j.action.Inputs[name]; !known {
			t.Fatalf("the action has no input %q", name)
		}
	}
	where, err := filepath.Abs(filepath.Join(deploy, "action"))
	succeed(t, err)
	for _, step := range j.action.Runs.Steps {
		if step.Shell != "bash" || strings.Contains(step.Run, "${{") {
			t.Fatalf("a step in %s has an expression in its script:\n%s", step.Shell, step.Run)
		}
		script := filepath.Join(temp, "step.sh")
		succeed(t, os.WriteFile(script, []byte(step.Run), 0o600))
		added, _ := os.ReadFile(pathFile)
		path := strings.ReplaceAll(strings.TrimSpace(string(added)), "\n", ":")
		command := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", script)
		command.Dir = j.dir
		command.Env = []string{"PATH=" + path + ":" + j.path + ":/usr/bin:/bin", "HOME=" + temp, "RUNNER_TEMP=" + temp, "GITHUB_STEP_SUMMARY=" + summaryFile, "GITHUB_PATH=" + pathFile, "GITHUB_ACTION_PATH=" + where}
		for name, value := range step.Env {
			command.Env = append(command.Env, name+"="+expression.ReplaceAllStringFunc(value, func(found string) string {
				input := expression.FindStringSubmatch(found)[1]
				if given, ok := inputs[input]; ok {
					return given
				}
				return j.action.Inputs[input].Default
			}))
		}
		out, err := command.CombinedOutput()
		output += string(out)
		if exit, failed := errors.AsType[*exec.ExitError](err); failed {
			return exit.ExitCode(), output, ""
		}
		succeed(t, err)
	}
	return 0, output, ""
}

// cases counts the tests of a JUnit file, and names those that did not pass.
func (j job) cases(t *testing.T, name string) (n int, failed []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(j.dir, name))
	succeed(t, err)
	var file struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	succeed(t, xml.Unmarshal(text, &file))
	for _, suite := range file.Suites {
		for _, c := range suite.Cases {
			n++
			if c.Failure != nil || c.Error != nil {
				failed = append(failed, c.Name)
			}
		}
	}
	return n, failed
}

// actionFiles are a repository with a cluster, workloads and scenarios.
var actionFiles = map[string]string{
	"cluster.yaml":    "apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\nstatus: {allocatable: {cpu: \"2\", memory: 4Gi, pods: \"10\"}}\n",
	"good/small.yaml": actionWorkload("small", "1"), "mixed/small.yaml": actionWorkload("small", "1"), "mixed/large.yaml": actionWorkload("large", "3"),
	"scenarios/holds.yaml": actionScenario("holds", "1"), "scenarios/fails.yaml": actionScenario("fails", "0"),
}

func actionWorkload(name, cpu string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + name + `}
spec:
  selector: {matchLabels: {app: ` + name + `}}
  template:
    metadata: {labels: {app: ` + name + `}}
    spec: {containers: [{name: a, image: a, resources: {requests: {cpu: "` + cpu + `"}}}]}
`
}

func actionScenario(name, nodes string) string {
	return `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: ` + name + `}
steps:
- create: {count: 1, template: {apiVersion: v1, kind: Node, metadata: {name: "node-${i}"}, status: {allocatable: {cpu: "1", memory: 1Gi, pods: "10"}}}}
- expect: [{that: "size(nodes) == ` + nodes + `", say: there are nodes}]
`
}

// TestTheAction does the steps of the GitHub Action, with the programs themselves.
func TestTheAction(t *testing.T) {
	t.Parallel()
	programs := map[string]string{"simulator": clustertest.Program(), "kubectl-why": clustertest.Why(t)}
	start := func(t *testing.T) job {
		j := newJob(t, actionFiles)
		for name, program := range programs {
			j.installs(t, name, program)
		}
		return j
	}
	t.Run("everything is fine", func(t *testing.T) {
		j := start(t)
		code, output, summary := j.run(t, map[string]string{"scenarios": "scenarios/holds.yaml", "workloads": "good", "state": "cluster.yaml"})
		if code != 0 || !strings.Contains(summary, "1 of 1 runs passed") || !strings.Contains(summary, "1 of 1 workloads") {
			t.Errorf("exit code %d, with the summary\n%s\n%s", code, summary, output)
		}
	})
	t.Run("something is not", func(t *testing.T) {
		j := start(t)
		code, output, summary := j.run(t, map[string]string{"scenarios": "scenarios/*.yaml", "workloads": "mixed", "state": "cluster.yaml", "reports": "out/of it"})
		if code != 1 {
			t.Errorf("exit code %d\n%s", code, output)
		}
		for _, want := range []string{"1 of 2 runs passed", "| ✗ | fails (", "1 of 2 workloads", "| ✗ | Deployment default/large |", "| ✓ | Deployment default/small |", "cpu"} {
			if !strings.Contains(summary, want) {
				t.Errorf("the summary lacks %q:\n%s\n%s", want, summary, output)
			}
		}
		if n, failed := j.cases(t, "out/of it/placement.xml"); n != 2 || len(failed) != 1 || failed[0] != "Deployment default/large" {
			t.Errorf("%d workloads, of which %q do not fit", n, failed)
		}
		if n, failed := j.cases(t, "out/of it/scenarios.xml"); n != 2 || len(failed) != 1 {
			t.Errorf("%d expectations, of which %q do not hold", n, failed)
		}
	})
	t.Run("a mistake", func(t *testing.T) {
		j := start(t)
		// What an earlier step has found is not shown again.
		if code, output, _ := j.run(t, map[string]string{"scenarios": "scenarios/holds.yaml", "workloads": "good", "state": "cluster.yaml"}); code != 0 {
			t.Errorf("exit code %d\n%s", code, output)
		}
		for _, inputs := range []map[string]string{
			{"workloads": `$(touch bad) "; touch bad; #`, "state": "cluster.yaml"}, {"workloads": "good", "state": "-x --help; touch bad"},
			{"scenarios": "--help $(touch bad) ;touch bad"}, {"state": "cluster.yaml"},
		} {
			if code, output, summary := j.run(t, inputs); code != 2 || output == "" || summary != "" {
				t.Errorf("%q: exit code %d\n%s\n%s", inputs, code, output, summary)
			}
		}
		if _, err := os.Stat(filepath.Join(j.dir, "bad")); err == nil {
			t.Error("an input became a command")
		}
	})
	t.Run("a job without the programs builds what it needs", func(t *testing.T) {
		j := newJob(t, actionFiles)
		// It would take minutes, so the compiler is one that knows the answer.
		golang := filepath.Join(t.TempDir(), "go")
		succeed(t, os.WriteFile(golang, []byte("#!/bin/sh\n"+`test "$1 $2" = "build -C" && cd "$3" && test -d "$8" && echo built "$8" && mkdir -p "$7" && ln -s `+programs["simulator"]+` "$7/$(basename "$8")"`+"\n"), 0o700))
		j.installs(t, "go", golang)
		code, output, _ := j.run(t, map[string]string{"scenarios": "scenarios/holds.yaml"})
		if code != 0 || !strings.Contains(output, "built ./simulator/cmd/simulator\n") || strings.Contains(output, "kubectl-why") {
			t.Errorf("exit code %d\n%s", code, output)
		}
	})
}
