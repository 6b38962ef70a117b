package perf

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// head begins a file with the operations that follow.
const head = `# scheduler_perf
- name: Basic
  workloadTemplate:
  - {opcode: createNodes, countParam: $nodes}
`

const tail = `
  workloads:
  - {name: small, labels: [short], params: {nodes: 2}}
`

func loadPerf(text string, s Selection) ([]*scenario.Scenario, error) {
	return Load(context.Background(), []byte(text), scenario.Options{File: "perf.yaml", Parse: config.Parse, Read: func(name string) ([]byte, error) {
		if name == "pod.yaml" {
			return []byte("{apiVersion: v1, kind: Pod, metadata: {generateName: 'p-{{.Index}}-'}, spec: {containers: [{name: c, image: '{{.Image}}'}]}}"), nil
		}
		return nil, os.ErrNotExist
	}}, s)
}

// TestPerfMistakes: what is wrong in a file of scheduler_perf is said at its line.
func TestPerfMistakes(t *testing.T) {
	tests := []struct{ name, op, want string }{
		{"an unknown op code", "{opcode: createWonders, count: 1}", `perf.yaml:5: [0].workloadTemplate[1].opcode: there is no op code createWonders; there are allocResourceClaims, barrier, churn, createAny,`},
		{"one without a counterpart", "{opcode: stopCollectingProfile}", `perf.yaml:5: [0].workloadTemplate[1].opcode: stopCollectingProfile is not supported: it profiles the process of a test`},
		{"no op code", "{count: 1}", `perf.yaml:5: [0].workloadTemplate[1]: the opcode is missing`},
		{"an unknown field", "{opcode: createNodes, many: 1}", `perf.yaml:5: [0].workloadTemplate[1].many: unknown field "many"`},
		{"a parameter that the workload has not", "{opcode: createPods, countParam: $pods}", `perf.yaml:5: countParam: the workload has no parameter $pods (workload Basic/small)`},
		{"a file that is not there", "{opcode: createPods, count: 1, podTemplatePath: none.yaml}", `perf.yaml:5: reading none.yaml: file does not exist`},
		{"a function that is not there", "{opcode: createPods, count: 1, podTemplatePath: pod.yaml, templateParams: {Image: $image}}", `perf.yaml:5: templateParams: the workload has no parameter $image`},
		{"an impossible count", "{opcode: createPods, count: -1}", `perf.yaml:5: count: want 0 to 1000000, not -1 (workload Basic/small)`},
		{"a steady state without an end", "{opcode: createPods, count: 1, steadyState: true}", `perf.yaml:5: steadyState: a steady state needs a duration`},
		{"a churn that does nothing", "{opcode: churn, mode: recreate, templatePaths: [pod.yaml]}", `perf.yaml:5: number: want a number of objects, not 0`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadPerf(head+"  - "+test.op+tail, Selection{})
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	if _, err := loadPerf(strings.Replace(head+tail, "nodes: 2", "nodes: 2, pods: 3", 1), Selection{}); err == nil || !strings.Contains(err.Error(), "perf.yaml:7: params.pods: no operation uses the parameter (workload Basic/small)") {
		t.Errorf("%v", err)
	}
}

// TestPerfSelection: labels and names choose workloads.
func TestPerfSelection(t *testing.T) {
	text := head + tail + "  - {name: large, labels: [performance], params: {nodes: 9}}\n"
	tests := map[string]struct {
		selection Selection
		want      []string
	}{
		"all":          {Selection{}, []string{"Basic/small", "Basic/large"}},
		"with a label": {Selection{Labels: []string{"+short"}}, []string{"Basic/small"}},
		"without":      {Selection{Labels: []string{"-short"}}, []string{"Basic/large"}},
		"by name":      {Selection{Workloads: regexp.MustCompile("^Basic/l")}, []string{"Basic/large"}},
		"none":         {Selection{Labels: []string{"short", "performance"}}, nil},
	}
	for name, test := range tests {
		all, err := loadPerf(text, test.selection)
		var got []string
		for _, s := range all {
			got = append(got, s.Name)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		if test.want == nil && (err == nil || !strings.Contains(err.Error(), "no workload is chosen; there are Basic/large, Basic/small")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPerfSamples: the throughput of a phase is that of its parts, and pauses lower it.
func TestPerfSamples(t *testing.T) {
	second := interval
	steady := []point{{second, 10}, {2 * second, 20}, {10 * second, 100}}
	if got := quantiles(samples(steady, 10*second)); got["Average"] != 10 || got["Perc99"] != 10 {
		t.Errorf("a steady phase: %v", got)
	}
	paused := []point{{5 * second, 50}, {9 * second, 50}, {10 * second, 60}}
	want := map[string]float64{"Average": 6, "Perc50": 2, "Perc90": 10, "Perc95": 10, "Perc99": 10}
	if diff := cmp.Diff(want, quantiles(samples(paused, 10*second))); diff != "" {
		t.Errorf("a phase with a pause:\n%s", diff)
	}
	if got := samples(nil, second); got != nil {
		t.Errorf("nothing scheduled: %v", got)
	}
	if got := samples([]point{{second / 2, 50}, {second, 100}}, second); len(got) != least {
		t.Errorf("a short phase has the samples %v", got)
	}
}
