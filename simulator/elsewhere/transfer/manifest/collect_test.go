package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestCollecting: objects come in order, and the caller's are not modified.
func TestCollecting(t *testing.T) {
	node := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{
			"name": "a", "managedFields": []any{}, "deletionTimestamp": nil,
			"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": "{}"},
		},
	}}
	before := node.DeepCopy()
	nameless := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{}}}
	c := Collector{Name: "production"}
	for _, u := range []*unstructured.Unstructured{nameless, node} {
		if err := c.Add(u); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, node); diff != "" {
		t.Error("it was changed:", diff)
	}
	var got []string
	err := Read(t.Context(), c.Source(), Content{
		Object: func(o *Object) error {
			got = append(got, o.Source+": "+string(o.JSON))
			return nil
		},
		Unreadable: func(source, message string) { got = append(got, source+": "+message) },
	})
	want := []string{"Pod : the Pod has no metadata.name", `production: {"apiVersion":"v1","kind":"Node","metadata":{"annotations":{},"name":"a"}}`}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}
