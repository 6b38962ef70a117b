package conversion_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/batch/kueue/conversion"
)

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		name, old, current string
		// down is what v1beta2 becomes; empty if that is old.
		down string
	}{
		{
			name:    "a cluster queue",
			old:     `{kind: ClusterQueue, spec: {cohort: a, flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt}}, status: {@}}`,
			current: `{kind: ClusterQueue, spec: {cohortName: a, flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch}}, status: {@}}`,
			down:    `{kind: ClusterQueue, spec: {cohort: a, flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch}}, status: {@}}`,
		},
		{
			name:    "a list of checks becomes a strategy, and stays one",
			old:     `{kind: ClusterQueue, spec: {admissionChecks: [x]}, status: {@, pendingWorkloadsStatus: {lastChangeTime: "2026-08-22T00:00:00Z"}}}`,
			current: `{kind: ClusterQueue, spec: {admissionChecksStrategy: {admissionChecks: [{name: x}]}}, status: {@}}`,
			down:    `{kind: ClusterQueue, spec: {admissionChecksStrategy: {admissionChecks: [{name: x}]}}, status: {@}}`,
		},
		{
			name:    "a local queue",
			old:     `{kind: LocalQueue, spec: {}, status: {@, flavorUsage: [{name: f, resources: []}]}}`,
			current: `{kind: LocalQueue, spec: {}, status: {@, flavorsUsage: [{name: f}]}}`,
			down:    `{kind: LocalQueue, spec: {}, status: {@, flavorUsage: [{name: f}]}}`,
		},
		{
			name:    "a workload",
			old:     `{kind: Workload, spec: {priority: 3, priorityClassName: p, priorityClassSource: kueue.x-k8s.io/workloadpriorityclass}, status: {accumulatedPastExexcutionTimeSeconds: 7}}`,
			current: `{kind: Workload, spec: {priority: 3, priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: p}}, status: {accumulatedPastExecutionTimeSeconds: 7}}`,
		},
		{
			name:    "the priority class of pods",
			old:     `{kind: Workload, spec: {priorityClassName: p, priorityClassSource: scheduling.k8s.io/priorityclass}, status: {}}`,
			current: `{kind: Workload, spec: {priorityClassRef: {group: scheduling.k8s.io, kind: PriorityClass, name: p}}, status: {}}`,
		},
		{
			name:    "domains of a topology",
			old:     `{kind: Workload, spec: {}, status: {admission: {clusterQueue: q, podSetAssignments: [{name: main, topologyAssignment: {levels: [rack, host], domains: [{values: [r1, node-1-x], count: 2}, {values: [r1, node-2-x], count: 3}]}}]}}}`,
			current: `{kind: Workload, spec: {}, status: {admission: {clusterQueue: q, podSetAssignments: [{name: main, topologyAssignment: {levels: [rack, host], slices: [{domainCount: 2, valuesPerLevel: [{universal: r1}, {individual: {prefix: node-, suffix: -x, roots: ["1", "2"]}}], podCounts: {individual: [2, 3]}}]}}]}}}`,
		},
		{
			name:    "values of which one is the start and the end of another",
			old:     `{kind: Workload, spec: {}, status: {admission: {clusterQueue: q, podSetAssignments: [{name: main, topologyAssignment: {levels: [host], domains: [{values: [aa], count: 1}, {values: [aaa], count: 1}]}}]}}}`,
			current: `{kind: Workload, spec: {}, status: {admission: {clusterQueue: q, podSetAssignments: [{name: main, topologyAssignment: {levels: [host], slices: [{domainCount: 2, valuesPerLevel: [{individual: {suffix: aa, roots: ["", a]}}], podCounts: {universal: 1}}]}}]}}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.down == "" {
				c.down = c.old
			}
			check(t, read(t, c.old, v1beta1.GroupVersion.String()), v1beta2.GroupVersion.String(), read(t, c.current, v1beta2.GroupVersion.String()))
			check(t, read(t, c.current, v1beta2.GroupVersion.String()), v1beta1.GroupVersion.String(), read(t, c.down, v1beta1.GroupVersion.String()))
		})
	}
}

// TestAContradictionIsAnError: a stored object whose numbers do not agree must not end the process.
func TestAContradictionIsAnError(t *testing.T) {
	text := `{kind: Workload, spec: {}, status: {admission: {clusterQueue: q, podSetAssignments: [{name: main, topologyAssignment: {levels: [host], slices: [{domainCount: 2, valuesPerLevel: [], podCounts: {}}]}}]}}}`
	if out, err := conversion.Convert(read(t, text, v1beta2.GroupVersion.String()), v1beta1.GroupVersion.String()); err == nil {
		t.Errorf("converted to %v", out)
	}
}

func TestKindsWithoutAConversionAreRefused(t *testing.T) {
	if out, err := conversion.Convert(read(t, "{kind: Topology}", v1beta1.GroupVersion.String()), v1beta2.GroupVersion.String()); err == nil {
		t.Errorf("converted to %v", out)
	}
}

func read(t *testing.T, text, version string) *unstructured.Unstructured {
	t.Helper()
	text = strings.ReplaceAll(text, "@", "pendingWorkloads: 0, reservingWorkloads: 0, admittedWorkloads: 0")
	data, err := yaml.YAMLToJSON([]byte("{metadata: {name: o, labels: {a: b}}, apiVersion: " + version + ", " + text[1:]))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return o
}

func check(t *testing.T, in *unstructured.Unstructured, to string, want *unstructured.Unstructured) {
	t.Helper()
	got, err := conversion.Convert(in, to)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Object, got.Object); diff != "" {
		t.Errorf("to %s (-want +got):\n%s", to, diff)
	}
}
