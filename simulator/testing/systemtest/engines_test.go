package systemtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/testing/clustertest"
	"kube-scheduler-simulator/simulator/testing/kubectltest"
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
	t.Parallel()
	examples := filepath.Join("..", "..", "examples", "scenarios")
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

// TestARecordingRunsOnBothEngines: the pods of a recorded Deployment stay, although no run has the Deployment's controllers.
func TestARecordingRunsOnBothEngines(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	h := passing(t)
	p := start(t, h)
	p.createNodes(t, "recorded", 2)
	path := filepath.Join(h.tmp, "web.rec")
	end := startRecorder(t, p, path)
	kubectl := kubectltest.Kubectl{Kubeconfig: p.kubeconfig, Namespace: namespace}
	kubectl.Must(t, "create", "deployment", "web", "--image=web", "--replicas=4")
	kubectl.Must(t, "rollout", "status", "deployment", "web", "--timeout=60s")
	kubectl.Must(t, "delete", "pod", "--selector=app=web") // waits until they are gone
	kubectl.Must(t, "rollout", "status", "deployment", "web", "--timeout=60s")
	end()
	p.stop(t)
	memory, full := play(t, path), play(t, path, "--engine", "full")
	if diff := cmp.Diff(memory, full); diff != "" {
		t.Errorf("in memory (-) and on the control plane (+):\n%s", diff)
	}
	if placed := full[0].Metrics["placed"]; placed != float64(4) {
		t.Errorf("%v pods have a node", placed)
	}
}

// hundredNodes has ten expectations about a hundred nodes.
const hundredNodes = `
apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: hundred-nodes}
steps:
- create:
    count: 100
    template:
      apiVersion: v1
      kind: Node
      metadata: {name: 'n-${i}', labels: {topology.kubernetes.io/zone: 'z-${i % 3}'}}
      status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}
- create:
    count: 300
    template:
      apiVersion: v1
      kind: Pod
      metadata: {name: 'p-${i}', labels: {app: web}}
      spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1", memory: 1Gi}}}]}
- wait: settled
- expect:
  - that: pods.size() == 300
  - that: pods.all(p, p.node != "")
  - that: pods.all(p, p.phase == "Running")
  - that: pods.all(p, p.waited < duration("10s"))
  - that: nodes.size() == 100
  - that: nodes.all(n, n.ready)
  - that: nodes.all(n, n.requested.cpu <= n.allocatable.cpu)
  - that: spread(pods, "zone") <= 30
  - that: preempted(pods).size() == 0
  - that: decisions.size() >= 300
`

// TestTenExpectationsTakeTwoSeconds: from the start of the process to its exit. The best of three counts.
func TestTenExpectationsTakeTwoSeconds(t *testing.T) {
	clustertest.Slow(t) // make test-measured runs it
	file := filepath.Join(t.TempDir(), "hundred.yaml")
	if err := os.WriteFile(file, []byte(hundredNodes), 0o600); err != nil {
		t.Fatal(err)
	}
	best := time.Hour
	for range 3 {
		began := time.Now()
		if out, err := exec.Command(clustertest.Program(), "run", file).CombinedOutput(); err != nil || !strings.Contains(string(out), "10 of 10") {
			t.Fatalf("%v: %s", err, out)
		}
		if best = min(best, time.Since(began)); best <= 2*time.Second {
			return
		}
	}
	t.Errorf("it takes %s", best)
}
