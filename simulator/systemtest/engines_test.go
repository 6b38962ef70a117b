package systemtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/clustertest"
)

// played is what a run reports, as far as both engines agree on it: times differ, and so do the names of the pods of workloads.
type played struct {
	Outcome string
	// Metrics are without the waiting times, and without the number of decisions: how often a pod is tried again depends on when events come.
	Metrics map[string]any
	// Nodes are those of pods that no workload owns. Owned counts the pods of each workload on a node, most first: the API server
	// creates the pods of a workload in an order of its own, so that the nodes may change places.
	Nodes map[string]string
	Owned map[string][]int
}

// play runs a scenario file as users do.
func play(t *testing.T, file string, flags ...string) []played {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.json")
	out, err := exec.Command(clustertest.Program(), append([]string{"run", file, "-o", "json=" + report}, flags...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var reported struct {
		Suites []struct {
			Results []struct {
				Outcome string
				Metrics map[string]any
				Pods    []struct{ Name, Owner, Node string }
			}
		}
	}
	if err := json.Unmarshal(text, &reported); err != nil {
		t.Fatal(err)
	}
	var runs []played
	for _, r := range reported.Suites[0].Results {
		delete(r.Metrics, "waited")
		delete(r.Metrics, "decisions")
		run := played{Outcome: r.Outcome, Metrics: r.Metrics, Nodes: map[string]string{}, Owned: map[string][]int{}}
		counts := map[[2]string]int{}
		for _, p := range r.Pods {
			if p.Owner == "" {
				run.Nodes[p.Name] = p.Node
			} else {
				counts[[2]string{p.Owner, p.Node}]++
			}
		}
		for key, n := range counts {
			run.Owned[key[0]] = append(run.Owned[key[0]], n)
		}
		for _, list := range run.Owned {
			slices.SortFunc(list, func(a, b int) int { return b - a })
		}
		runs = append(runs, run)
	}
	return runs
}

// ranked has pods of falling priority, so that both engines schedule them in the same order, and each preemptor has one best victim: start
// times, which are real on one engine, decide nothing. Of the nodes with the same total both engines choose alike.
const ranked = `
apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: ranked}
cluster: six-nodes.yaml
matrix: {configuration: [default, packing.yaml], seed: 1..2}
steps:
- create:
    count: 21
    template: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: 'p-${i + 1}'}, value: '${i + 1}'}
- create:
    count: 20
    template:
      apiVersion: v1
      kind: Pod
      metadata: {name: 'pod-${i}'}
      spec: {priorityClassName: 'p-${20 - i}', containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}
- wait: settled
- create:
    count: 2
    template:
      apiVersion: v1
      kind: Pod
      metadata: {name: urgent}
      spec: {priorityClassName: p-21, containers: [{name: c, image: i, resources: {requests: {cpu: "6"}}}]}
- wait: settled
- expect:
  - that: pods.filter(p, p.name.startsWith("urgent") && p.node != "").size() == 2
  - that: preempted(pods).size() > 0
`

// TestEnginesAgree plays the examples in memory and on the real control plane. Where pods wait for minutes it plays the beginning.
func TestEnginesAgree(t *testing.T) {
	clustertest.Slow(t) // a control plane for each run
	examples := filepath.Join("..", "examples", "scenarios")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(examples)); err != nil {
		t.Fatal(err)
	}
	peak, err := os.ReadFile(filepath.Join(examples, "web-peak.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, cut := strings.Cut(string(peak), "- name: A node fails at the peak")
	if !cut {
		t.Fatal("web-peak.yaml has no node that fails")
	}
	for name, text := range map[string]string{"peak.yaml": before, "ranked.yaml": ranked} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"ranked.yaml", "peak.yaml", "matrix.yaml"} {
		t.Run(file, func(t *testing.T) {
			file := filepath.Join(dir, file)
			var seeds []string
			if strings.HasSuffix(file, "matrix.yaml") {
				seeds = []string{"--seeds", "1"}
			}
			memory, full := play(t, file, seeds...), play(t, file, append(seeds, "--engine", "full")...)
			if diff := cmp.Diff(memory, full); diff != "" {
				t.Errorf("in memory (-) and on the control plane (+):\n%s", diff)
			}
		})
	}
}
