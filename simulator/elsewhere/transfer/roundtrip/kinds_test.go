package roundtrip

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// TestTheTableAgreesWithTheAPIServer compares the table of kinds with discovery.
func TestTheTableAgreesWithTheAPIServer(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(shared.config)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	compared := 0
	for _, k := range objects.Kinds(0) {
		mapping, err := mapper.RESTMapping(k.GroupKind())
		if err != nil || k.Refused != "" {
			continue
		}
		compared++
		if namespaced := mapping.Scope.Name() == "namespace"; namespaced != k.Namespaced {
			t.Errorf("%s: the API server says namespaced %v", k.GroupKind(), namespaced)
		}
		served := schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource}
		if k.Resource != "" && mapping.Resource != served {
			t.Errorf("%s: the API server serves %s", k.GroupKind(), mapping.Resource)
		}
	}
	if compared < 20 {
		t.Errorf("the API server serves only %d kinds of the table", compared)
	}
}
