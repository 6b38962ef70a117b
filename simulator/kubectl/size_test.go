package kubectl

import (
	"os/exec"
	"strings"
	"testing"
)

// TestNoControlPlaneIsLinked: kubectl-why holds a scheduler and a client, so that it stays small.
func TestNoControlPlaneIsLinked(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../cmd/kubectl-why").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 500 {
		t.Fatalf("there are only %d packages", len(packages))
	}
	for _, p := range packages {
		for _, heavy := range []string{
			"go.etcd.io/etcd/server", "k8s.io/kubernetes/cmd/", "k8s.io/kubernetes/pkg/controller/", "k8s.io/kube-aggregator", "kube-scheduler-simulator/simulator/app",
			"kube-scheduler-simulator/simulator/server", "kube-scheduler-simulator/web",
		} {
			if strings.HasPrefix(p, heavy) {
				t.Errorf("it links %s", p)
			}
		}
	}
}
