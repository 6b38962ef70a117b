package runner

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kube-scheduler-simulator/simulator/scenarios/perf"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// perfFiles are a file of scheduler_perf with every op code, and its templates.
var perfFiles = map[string]string{
	"performance-config.yaml": `
- name: Everything
  defaultPodTemplatePath: templates/pod.yaml
  labels: [integration-test]
  workloadTemplate:
  - opcode: createNodes
    countParam: $nodes
    nodeTemplatePath: templates/node.yaml
    labelNodePrepareStrategy: {labelKey: topology.kubernetes.io/zone, labelValues: [a, b]}
  - {opcode: createNamespaces, prefix: ns, count: 2}
  - {opcode: createAny, templatePath: templates/class.yaml, count: 2, templateParams: {value: $value|7}}
  - {opcode: churn, mode: recreate, number: 1, templatePaths: [templates/service.yaml], intervalMilliseconds: 100}
  - {opcode: createPods, count: 40, collectMetrics: true}
  - opcode: createPodSets
    count: 2
    namespacePrefix: ns
    createPodsOp: {opcode: createPods, count: 10, skipWaitToCompletion: true}
  - {opcode: barrier, namespaces: [ns-0]}
  - {opcode: barrier}
  - {opcode: startCollectingMetrics, name: after, namespaces: [late]}
  - {opcode: createPods, count: 5, namespace: late}
  - {opcode: stopCollectingMetrics}
  - {opcode: updateAny, templatePath: templates/class.yaml}
  - {opcode: deletePods, namespace: late, deletePodsPerSecond: 50}
  - {opcode: sleep, duration: 5s}
  workloads:
  - {name: small, params: {nodes: 10}}
  - {name: large, params: {nodes: 20, value: 9}, labels: [performance], threshold: 1000000000}
`,
	"templates/pod.yaml":     `{apiVersion: v1, kind: Pod, metadata: {generateName: pod-}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "{{DivideFloat 1 5}}"}}}]}}`,
	"templates/node.yaml":    `{apiVersion: v1, kind: Node, metadata: {generateName: perf-}, status: {capacity: {cpu: "4", memory: 32Gi, pods: "110"}}}`,
	"templates/service.yaml": `{apiVersion: v1, kind: Service, metadata: {generateName: service-}, spec: {ports: [{port: 80}]}}`,
	"templates/class.yaml":   `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: "class-{{.Index}}"}, value: {{AddInt .Index 1}}}`,
}

func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPerf runs a file of scheduler_perf, recorded and bare, and reports what it measures.
func TestPerf(t *testing.T) {
	dir := writeFiles(t, perfFiles)
	for _, bare := range []bool{false, true} {
		var out bytes.Buffer
		o := options(&out)
		o.Bare = bare
		o.Perf = perf.Selection{Labels: []string{"integration-test", "-performance"}}
		items, whole := filepath.Join(dir, "items.json"), filepath.Join(dir, "whole.json")
		passed, err := Run(t.Context(), []string{filepath.Join(dir, "performance-config.yaml")}, []Output{{"perf", items}, {"json", whole}}, o)
		if err != nil || !passed {
			t.Fatalf("%v\n%s", err, out.String())
		}
		var perf struct{ DataItems []scenario.Measurement }
		text, err := os.ReadFile(items)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &perf); err != nil {
			t.Fatal(err)
		}
		found := map[string]scenario.Measurement{}
		for _, m := range perf.DataItems {
			found[m.Labels["Name"]+" "+m.Labels["Metric"]+" "+m.Labels["result"]] = m
		}
		for _, want := range []string{
			"Everything/small/namespace-4 SchedulingThroughput ", "Everything/small/namespace-4 SchedulingDuration ", "Everything/small/after SchedulingThroughput ",
			"Everything/small/namespace-4 scheduler_scheduling_attempt_duration_seconds scheduled",
		} {
			m, ok := found[want]
			if !ok {
				t.Errorf("bare %t: %q is missing in %s", bare, want, text)
			}
			for bucket, value := range m.Data {
				if value <= 0 {
					t.Errorf("bare %t: %q has %s %v", bare, want, bucket, value)
				}
			}
		}
		var suites struct {
			Suites []struct{ Results []scenario.Result }
		}
		if text, err = os.ReadFile(whole); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &suites); err != nil {
			t.Fatal(err)
		}
		r := suites.Suites[0].Results[0]
		if m := r.Metrics; m.Placed != 60 || m.Pending != 0 || m.Nodes != 10 || (m.Decisions == 0) != bare {
			t.Errorf("bare %t: %+v", bare, m)
		}
		if !strings.Contains(out.String(), "SchedulingThroughput") || !strings.Contains(out.String(), "pods/s") {
			t.Error(out.String())
		}
	}
}

// TestPerfThreshold: a workload that misses its threshold fails.
func TestPerfThreshold(t *testing.T) {
	dir := writeFiles(t, perfFiles)
	var out bytes.Buffer
	o := options(&out)
	o.Perf.Workloads = regexp.MustCompile("large$")
	passed, err := Run(t.Context(), []string{filepath.Join(dir, "performance-config.yaml")}, nil, o)
	if err != nil || passed || !strings.Contains(out.String(), "and the threshold is more than 1000000000.0 pods/s") {
		t.Errorf("%t, %v\n%s", passed, err, out.String())
	}
}

// TestKubernetesPerfFiles loads all files of scheduler_perf that Kubernetes has, and runs a few small workloads.
func TestKubernetesPerfFiles(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(dir)), "test", "integration", "scheduler_perf")
	var out bytes.Buffer
	o := options(&out)
	o.FilesBelow = root // templates stand beside the directories of the configurations
	files, workloads := 0, 0
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "performance-config.yaml" {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all, err := perf.Load(t.Context(), text, o.files(path), perf.Selection{Labels: []string{"integration-test"}})
		// A parameter that only Kubernetes' own test knows is refused by name.
		if ofTest := filepath.Base(filepath.Dir(path)) == "nodedeclaredfeatures"; err != nil && (!ofTest || !strings.Contains(err.Error(), "params.numNodeDeclaredFeatures: no operation uses the parameter")) {
			t.Errorf("%s: %v", path, err)
		}
		workloads += len(all)
		return nil
	})
	if err != nil || files < 10 || workloads < 60 {
		t.Errorf("%d files with %d workloads: %v", files, workloads, err)
	}
	for file, workload := range map[string]string{
		"misc": "^(SchedulingBasic|SchedulingWithMixedChurn|Unschedulable|SchedulingDaemonset)/5Nodes$", "affinity": "^SchedulingPodAffinity/5Nodes$", "volumes": "^SchedulingCSIPVs/5Nodes$",
		"topology_spreading": "^TopologySpreading/5Nodes$", "default_preemption": "^PreemptionBasic/5Nodes$", "dra": "^SchedulingWithResourceClaimTemplate/fast$",
	} {
		o.Perf.Workloads = regexp.MustCompile(workload)
		if passed, err := Run(t.Context(), []string{filepath.Join(root, file, "performance-config.yaml")}, nil, o); err != nil || !passed {
			t.Errorf("%s: %v\n%s", workload, err, out.String())
		}
	}
}
