package transfer

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// TestFailuresAreGroupedByCause: what the API server says names the object each time, and the cause does not.
func TestFailuresAreGroupedByCause(t *testing.T) {
	r := newRecorder(Merge, false, time.Now())
	pod := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	r.unreadable("a.yaml, document 1", "line 1: want an object")
	for i := range 80 {
		name := fmt.Sprint("web-", i)
		r.count(&manifest.Object{GVK: pod, Namespace: "default", Name: name}, failed, fmt.Sprintf("pods %q is forbidden: no PriorityClass with name high was found", name))
	}
	got := r.finish(time.Now())
	if len(got.Causes) != 2 || got.FailedTotal != 81 {
		t.Fatalf("%d failed, by %+v", got.FailedTotal, got.Causes)
	}
	if c := got.Causes[0]; c.Count != 80 || c.Kind != "Pod" || c.Message != "pods … is forbidden: no PriorityClass with name high was found" || c.First.Name != "web-0" {
		t.Errorf("the first cause is %+v", c)
	}
}
