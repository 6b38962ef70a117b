package systemtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestOtherPrograms installs a chart with Helm and evicts a duplicate with the descheduler, both
// as libraries. They are in a module of their own; see testdata/clients.
func TestOtherPrograms(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	p := start(t, newHome(t))
	command := exec.Command("go", "test", "-count=1", "-vet=off", "./...")
	command.Dir = filepath.Join("testdata", "clients")
	command.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig, "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=readonly", "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
