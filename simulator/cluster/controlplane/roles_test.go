package controlplane

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2/textlogger"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestDefaultRolesDoNotDelayAStop: kube-apiserver's own hook goes on, for 30 s if it fails, and a stop on a
// busy machine waited for it longer than it may.
func TestDefaultRolesDoNotDelayAStop(t *testing.T) {
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	}))
	defer server.Close()
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		bootstrapRoles(ctx, &rest.Config{Host: server.URL}, textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log))))
	}()
	<-asked
	cancel()
	<-ended
	if log.Len() > 0 {
		t.Errorf("it logged %s", log.String())
	}
}

// TestDefaultRolesAreNotAHook: a stop waits for every hook of the API server.
func TestDefaultRolesAreNotAHook(t *testing.T) {
	c := complete(t, Options{DataDir: t.TempDir()})
	client := clustertest.Client(t, c.ClientConfig())
	checks, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Param("verbose", "").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(checks), "poststarthook/") || strings.Contains(string(checks), "rbac") {
		t.Errorf("the checks are\n%s", checks)
	}
	for _, path := range []string{
		"clusterroles/view", "clusterrolebindings/system:controller:job-controller",
		"namespaces/kube-system/roles/extension-apiserver-authentication-reader", "namespaces/kube-public/rolebindings/system:controller:bootstrap-signer",
	} {
		if err := client.RbacV1().RESTClient().Get().AbsPath("/apis/rbac.authorization.k8s.io/v1/" + path).Do(t.Context()).Error(); err != nil {
			t.Error(err)
		}
	}
}
