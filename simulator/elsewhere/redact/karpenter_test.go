package redact

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestANodePoolIsShownWithoutNames: what decides stays, and the label by which nodes belong to their NodePool becomes its word.
func TestANodePoolIsShownWithoutNames(t *testing.T) {
	r := New(nil)
	of := kinds[groupKind("karpenter.sh", "NodePool")]
	got := object(of.fields)(r, map[string]any{"spec": map[string]any{
		"weight": int64(10), "limits": map[string]any{"cpu": "100"},
		"disruption": map[string]any{"consolidateAfter": "Never", "consolidationPolicy": "WhenEmpty", "budgets": []any{map[string]any{"nodes": "10%", "schedule": "0 9 * * mon-fri", "duration": "8h"}}},
		"template": map[string]any{"spec": map[string]any{
			"nodeClassRef": map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "secret"},
			"requirements": []any{map[string]any{"key": "karpenter.sh/capacity-type", "operator": "In", "values": []any{"spot"}, "minValues": int64(1)}},
		}},
	}})
	want := map[string]any{"spec": map[string]any{
		"weight": int64(10), "limits": map[string]any{"cpu": "100"},
		"disruption": map[string]any{"consolidateAfter": "Never", "consolidationPolicy": "WhenEmpty", "budgets": []any{map[string]any{"nodes": "10%", "schedule": "0 9 * * mon-fri", "duration": "8h"}}},
		"template": map[string]any{"spec": map[string]any{
			"nodeClassRef": map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
			"requirements": []any{map[string]any{"key": "karpenter.sh/capacity-type", "operator": "In", "values": []any{"spot"}, "minValues": int64(1)}},
		}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if label, name := r.labelValue("karpenter.sh/nodepool", "secret"), nodePools(r, "secret"); label != name || label == "secret" {
		t.Errorf("the label has %v, the NodePool %v", label, name)
	}
}
