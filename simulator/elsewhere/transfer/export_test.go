package transfer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestExportsSayWhatMayBeEvicted: a program that reads an export without controllers has no other way to know.
func TestExportsSayWhatMayBeEvicted(t *testing.T) {
	budget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": map[string]any{"name": "web", "namespace": "shop", "uid": "1"},
		"spec": map[string]any{"minAvailable": int64(2)},
		"status": map[string]any{
			"disruptionsAllowed": int64(1), "currentHealthy": int64(3), "desiredHealthy": int64(2), "expectedPods": int64(3),
			"observedGeneration": int64(4), "conditions": []any{}, "disruptedPods": map[string]any{},
		},
	}}
	data, err := item(budget, false)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"web","namespace":"shop"},"spec":{"minAvailable":2},` +
		`"status":{"currentHealthy":3,"desiredHealthy":2,"disruptionsAllowed":1,"expectedPods":3}}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Error(diff)
	}
}
