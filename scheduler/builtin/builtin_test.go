package builtin

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestIs(t *testing.T) {
	custom := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Pool"}
	scheme.Scheme.AddKnownTypeWithName(custom, &v1.Node{}) // as libraries do
	for gvk, want := range map[schema.GroupVersionKind]bool{
		{Version: "v1", Kind: "Node"}:                      true,
		{Version: "v1", Kind: "List"}:                      true,
		{Group: "apps", Version: "v1", Kind: "Deployment"}: true,
		custom: false,
	} {
		if got := Is(gvk); got != want {
			t.Errorf("Is(%s) is %v", gvk, got)
		}
	}
}
