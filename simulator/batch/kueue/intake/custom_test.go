package intake

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return o
}

const (
	queue2   = `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, spec: {resourceGroups: [%]}}`
	workload = `{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, spec: {podSets: [{name: main, count: #, template: {spec: {containers: [{name: c, resources: {requests: {%}}}]}}}]}, status: {conditions: [{type: QuotaReserved, status: "True"}]}}`
)

// TestAPodSetBecomesSmaller: only where jobs are elastic, and never larger.
func TestAPodSetBecomesSmaller(t *testing.T) {
	sized := func(count string) string {
		return strings.ReplaceAll(strings.ReplaceAll(workload, "%", "cpu: 1"), "#", count)
	}
	for _, c := range []struct {
		before, now string
		elastic     bool
		refused     bool
	}{{"2", "1", true, false}, {"2", "1", false, true}, {"1", "2", true, true}, {"2", "2", true, false}} {
		got := checkCustom(object(t, sized(c.now)), object(t, sized(c.before)), c.elastic)
		if (len(got) > 0) != c.refused {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestMistakesThatSchemasCannotExpress: those that Kueue's webhooks refuse.
func TestMistakesThatSchemasCannotExpress(t *testing.T) {
	one := func(flavor, quota string) string {
		return `{coveredResources: [cpu], flavors: [{name: ` + flavor + `, resources: [` + quota + `]}]}`
	}
	with := func(form, text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(form, "%", text), "#", "1")
	}
	for _, c := range []struct {
		name, before, object string
		want                 string // a part of the error; empty if there is none
	}{
		{"a good queue", "", with(queue2, one("f", "{name: cpu, nominalQuota: 1}")), ""},
		{"a flavor twice", "", with(queue2, one("f", "{name: cpu, nominalQuota: 1}")+", {coveredResources: [memory], flavors: [{name: f, resources: [{name: memory, nominalQuota: 1}]}]}"), "resourceGroups[1].flavors[0].name: Duplicate"},
		{"a resource twice", "", with(queue2, one("f", "{name: cpu, nominalQuota: 1}")+", "+one("g", "{name: cpu, nominalQuota: 1}")), "resourceGroups[1].coveredResources[0]: Duplicate"},
		{"another order", "", with(queue2, "{coveredResources: [cpu, memory], flavors: [{name: f, resources: [{name: memory, nominalQuota: 1}, {name: cpu, nominalQuota: 1}]}]}"), "must match the name in coveredResources"},
		{"a negative quota", "", with(queue2, one("f", "{name: cpu, nominalQuota: -1}")), "greater than or equal to 0"},
		{"more lent than there is", "", with(queue2, one("f", "{name: cpu, nominalQuota: 1, lendingLimit: 2}")), "less than or equal to the nominalQuota"},
		{"in the older version, too", "", strings.Replace(with(queue2, one("f", "{name: cpu, nominalQuota: -1}")), "v1beta2", "v1beta1", 1), "greater than or equal to 0"},
		{"a cohort may lend what its children have", "", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, spec: {parentName: p, resourceGroups: [` + one("f", "{name: cpu, nominalQuota: 1, lendingLimit: 2}") + `]}}`, ""},
		{"a check on a flavor of others", "", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, spec: {admissionChecksStrategy: {admissionChecks: [{name: c, onFlavors: [x]}]}}}`, "must be a flavor of the cluster queue"},
		{"a taint twice", "", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, spec: {nodeTaints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule, value: b}]}}`, "nodeTaints[1]: Duplicate"},
		{"a selector without values", "", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, spec: {namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}}`, "namespaceSelector.matchExpressions[0].values: Required"},
		{"a negative weight", "", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, spec: {fairSharing: {weight: "-1"}}}`, "spec.fairSharing: Invalid"},
		{"a weight that counts as none", "", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, spec: {fairSharing: {weight: "1n"}}}`, "weight must be > 10e-9"},
		{"no weight", "", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, spec: {fairSharing: {weight: "0"}}}`, ""},
		{"a Cohort's negative weight", "", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, spec: {fairSharing: {weight: "-1"}}}`, "spec.fairSharing: Invalid"},
		{"a bad resource", "", with(queue2, "{coveredResources: [a b], flavors: [{name: f, resources: [{name: a b, nominalQuota: 1}]}]}"), "coveredResources[0]: Invalid"},
		{"a bad label of a flavor", "", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, spec: {nodeLabels: {"a b": c}}}`, "spec.nodeLabels: Invalid"},
		{"a bad taint", "", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, spec: {nodeTaints: [{key: "a b", effect: NoSchedule}]}}`, "nodeTaints[0].key: Invalid"},
		{"a bad toleration", "", `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, spec: {tolerations: [{key: "a b"}]}}`, "tolerations[0].key: Invalid"},
		{"more given back than there is", "", strings.Replace(with(workload, "cpu: 1"), "status: {", "status: {reclaimablePods: [{name: main, count: 2}], ", 1), "should be less or equal to 1"},
		{"given back by nobody", "", strings.Replace(with(workload, "cpu: 1"), "status: {", "status: {reclaimablePods: [{name: other, count: 1}], ", 1), "reclaimablePods[0].name: Unsupported"},
		{"a request of pods", "", with(workload, "pods: 1"), "reserved for internal kueue use"},
		{"other pods while quota is reserved", with(workload, "cpu: 1"), strings.ReplaceAll(strings.ReplaceAll(workload, "%", "cpu: 1"), "#", "2"), "spec.podSets: Invalid value: field is immutable"},
		{"the same pods", with(workload, "cpu: 1"), with(workload, "cpu: 1"), ""},
	} {
		got := checkCustom(object(t, c.object), object(t, c.before), false).ToAggregate()
		if (got == nil) != (c.want == "") || got != nil && !strings.Contains(got.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, got, c.want)
		}
	}
}
