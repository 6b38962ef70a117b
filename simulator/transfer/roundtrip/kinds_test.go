package transfer

import (
	"testing"

	"kube-scheduler-simulator/simulator/objects"
)

// TestTheTableAgreesWithTheAPIServer compares the table of kinds with discovery.
func TestTheTableAgreesWithTheAPIServer(t *testing.T) {
	needsCluster(t)
	c, err := newClient(shared.config)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.discover(); err != nil {
		t.Fatal(err)
	}
	for _, k := range objects.Kinds(0) {
		r, served := c.preferredFor(k.GroupKind())
		if !served || k.Refused != "" {
			continue
		}
		if r.namespaced != k.Namespaced {
			t.Errorf("%s: the API server says namespaced %v", k.GroupKind(), r.namespaced)
		}
		if k.Resource != "" && (r.gvr.Resource != k.Resource || r.gvr.Version != k.Version) {
			t.Errorf("%s: the API server serves %s", k.GroupKind(), r.gvr)
		}
	}
}
