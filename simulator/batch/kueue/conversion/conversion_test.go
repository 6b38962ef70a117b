package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
			old:     `{kind: ClusterQueue, spec: {cohort: a, flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt}}}`,
			current: `{kind: ClusterQueue, spec: {cohortName: a, flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch}}}`,
		},
		{
			name:    "a list of checks becomes a strategy, and stays one",
			old:     `{kind: ClusterQueue, spec: {admissionChecks: [x]}, status: {pendingWorkloadsStatus: {}}}`,
			current: `{kind: ClusterQueue, spec: {admissionChecksStrategy: {admissionChecks: [{name: x}]}}, status: {}}`,
			down:    `{kind: ClusterQueue, spec: {admissionChecksStrategy: {admissionChecks: [{name: x}]}}, status: {}}`,
		},
		{
			name:    "a local queue",
			old:     `{kind: LocalQueue, status: {flavorUsage: [{name: f}]}}`,
			current: `{kind: LocalQueue, status: {flavorsUsage: [{name: f}]}}`,
		},
		{
			name:    "a workload",
			old:     `{kind: Workload, spec: {priority: 3, priorityClassName: p, priorityClassSource: kueue.x-k8s.io/workloadpriorityclass}, status: {accumulatedPastExexcutionTimeSeconds: 7}}`,
			current: `{kind: Workload, spec: {priority: 3, priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: p}}, status: {accumulatedPastExecutionTimeSeconds: 7}}`,
		},
		{
			name:    "the priority class of pods",
			old:     `{kind: Workload, spec: {priorityClassName: p, priorityClassSource: scheduling.k8s.io/priorityclass}}`,
			current: `{kind: Workload, spec: {priorityClassRef: {group: scheduling.k8s.io, kind: PriorityClass, name: p}}}`,
		},
		{
			name:    "domains of a topology",
			old:     `{kind: Workload, status: {admission: {podSetAssignments: [{topologyAssignment: {levels: [rack, host], domains: [{values: [r1, node-1-x], count: 2}, {values: [r1, node-2-x], count: 3}]}}]}}}`,
			current: `{kind: Workload, status: {admission: {podSetAssignments: [{topologyAssignment: {levels: [rack, host], slices: [{domainCount: 2, valuesPerLevel: [{universal: r1}, {individual: {prefix: node-, suffix: -x, roots: ["1", "2"]}}], podCounts: {individual: [2, 3]}}]}}]}}}`,
		},
		{
			name:    "values of which one is the start and the end of another",
			old:     `{kind: Workload, status: {admission: {podSetAssignments: [{topologyAssignment: {levels: [host], domains: [{values: [aa], count: 1}, {values: [aaa], count: 1}]}}]}}}`,
			current: `{kind: Workload, status: {admission: {podSetAssignments: [{topologyAssignment: {levels: [host], slices: [{domainCount: 2, valuesPerLevel: [{individual: {prefix: aa, roots: ["", a]}}], podCounts: {universal: 1}}]}}]}}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.down == "" {
				c.down = c.old
			}
			check(t, read(t, c.old, conversion.V1beta1), conversion.V1beta2, read(t, c.current, conversion.V1beta2))
			check(t, read(t, c.current, conversion.V1beta2), conversion.V1beta1, read(t, c.down, conversion.V1beta1))
		})
	}
}

func TestKindsWithoutAConversionAreRefused(t *testing.T) {
	if out, err := conversion.Convert(read(t, "{kind: Topology}", conversion.V1beta1), conversion.V1beta2); err == nil {
		t.Errorf("converted to %v", out)
	}
}

func read(t *testing.T, text, version string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte("{apiVersion: " + version + ", " + text[1:]))
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
