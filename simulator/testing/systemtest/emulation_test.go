package systemtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// fromANewerCluster has what Kubernetes 1.34 serves, and what it does not: a kind, and a value of a field.
const fromANewerCluster = `{"apiVersion": "v1", "kind": "List", "items": [
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}},
{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": {"name": "broken"}, "spec": {"deviceSelector": {"driver": "gpu.example.com"}, "taint": {"key": "broken", "effect": "NoSchedule"}}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "old", "namespace": "default"}, "spec": {"containers": [{"name": "c", "image": "x"}]}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new", "namespace": "default"}, "spec": {"containers": [{"name": "c", "image": "x"}], "tolerations": [{"key": "sla", "operator": "Gt", "value": "900", "effect": "NoSchedule"}]}}
]}`

// TestAnImportIntoAnOlderVersion: what the emulated version serves is imported, and the report names the rest. The export says which
// version it was.
func TestAnImportIntoAnOlderVersion(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, newHome(t), "--kubernetes-version", "1.34")
	a, err := p.request(http.MethodPost, "/api/v1/import", strings.NewReader(fromANewerCluster), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
	if err != nil || a.status != http.StatusOK {
		t.Fatalf("%d, %v: %s", a.status, err, a.body)
	}
	var report struct {
		Created int
		Failed  []struct{ Kind, Name, Message string }
	}
	if err := json.Unmarshal(a.body, &report); err != nil {
		t.Fatal(err)
	}
	messages := map[string]string{}
	for _, f := range report.Failed {
		messages[f.Kind+"/"+f.Name] = f.Message
	}
	want := "the API server does not serve DeviceTaintRule in resource.k8s.io/v1: another version of Kubernetes does, or a feature gate turns it on"
	if report.Created != 2 || len(messages) != 2 || messages["DeviceTaintRule/broken"] != want || !strings.Contains(messages["Pod/new"], "spec.tolerations[0].operator") {
		t.Errorf("%d created; %v", report.Created, messages)
	}
	exported := p.read(t, "/api/v1/export")
	var document struct{ KubernetesVersion string }
	if err := json.Unmarshal(exported, &document); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(document.KubernetesVersion, ", emulating 1.34") {
		t.Errorf("the export is of version %q", document.KubernetesVersion)
	}
}
