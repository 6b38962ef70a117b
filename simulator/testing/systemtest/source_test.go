package systemtest

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestARefusedImportIsNotRetried: a cluster that does not accept the kubeconfig of --import-kubeconfig is
// asked once, and the status says why nothing was imported.
func TestARefusedImportIsNotRetried(t *testing.T) {
	clustertest.Slow(t)
	h := passing(t)
	cluster := start(t, passing(t))
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"other": {Server: cluster.config.Host, CertificateAuthorityData: cluster.config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"stranger": {Token: "expired"}},
		Contexts:       map[string]*clientcmdapi.Context{"other": {Cluster: "other", AuthInfo: "stranger"}},
		CurrentContext: "other",
	}
	path := filepath.Join(h.tmp, "refused-kubeconfig")
	if err := clientcmd.WriteToFile(config, path); err != nil {
		t.Fatal(err)
	}
	p := start(t, h, "--import-kubeconfig", path)
	eventually(t, "the status says that it failed", func() error {
		if got := p.warnings(t); !strings.Contains(got, "failed") {
			return fmt.Errorf("it warns of %s", got)
		}
		return nil
	})
	if got := p.warnings(t); strings.Contains(got, "trying again") {
		t.Errorf("it warns of %s", got)
	}
	p.stopsInTime(t, syscall.SIGTERM)
}
