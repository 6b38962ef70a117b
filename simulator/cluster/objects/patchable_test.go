package objects

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestTakesStrategicMerge(t *testing.T) {
	custom := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Pool"}
	scheme.Scheme.AddKnownTypeWithName(custom, &v1.Node{}) // as libraries do
	for gvk, want := range map[schema.GroupVersionKind]bool{
		{Version: "v1", Kind: "Node"}:                      true,
		{Group: "apps", Version: "v1", Kind: "Deployment"}: true,
		custom: false,
	} {
		if got := TakesStrategicMerge(gvk); got != want {
			t.Errorf("TakesStrategicMerge(%s) is %v", gvk, got)
		}
	}
}
