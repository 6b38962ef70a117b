// The control plane of these tests is the existing one that package external connects to. They are here because both
// would link it.
package controlplane_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/cluster/controlplane/external"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// changedKubeconfig returns the control plane's kubeconfig after change.
func changedKubeconfig(t *testing.T, c *controlplane.ControlPlane, change func(*clientcmdapi.Config)) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	change(config)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// refusedWithin is how long external waits for an answer of the API server.
const refusedWithin = 4 * time.Second

func TestStartRefusals(t *testing.T) {
	c := clustertest.Start(t, controlplane.New(controlplane.Options{DataDir: t.TempDir()}))
	nothing := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(nothing, []byte("hello: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, kubeconfig, context, want string
	}{
		{"no kubeconfig", nothing, "", "kubeconfig " + nothing},
		{"no such context", c.Kubeconfig(), "elsewhere", `it has no context "elsewhere"; it has simulator`},
		{"no server", changedKubeconfig(t, c, func(k *clientcmdapi.Config) {
			k.Clusters["simulator"].Server = "https://" + closedAddress(t)
		}), "", "connection refused"},
		{"silence", changedKubeconfig(t, c, func(k *clientcmdapi.Config) {
			k.Clusters["simulator"].Server = "https://" + silentAddress(t)
		}), "", "deadline exceeded"},
		{"another authority", changedKubeconfig(t, c, func(k *clientcmdapi.Config) {
			k.Clusters["simulator"].CertificateAuthorityData = nil
		}), "", "certificate"},
		{"a wrong token", changedKubeconfig(t, c, func(k *clientcmdapi.Config) {
			k.AuthInfos["simulator"] = &clientcmdapi.AuthInfo{Token: "wrong-secret"}
		}), "", "does not accept the kubeconfig's credentials"},
		{"a user with read permissions only", changedKubeconfig(t, c, func(k *clientcmdapi.Config) {
			k.AuthInfos["simulator"] = &clientcmdapi.AuthInfo{Token: viewerToken(t, clustertest.Client(t, c.ClientConfig()))}
		}), "", "may not list nodes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			start := time.Now()
			err := external.New(external.Options{Kubeconfig: test.kubeconfig, Context: test.context, DataDir: t.TempDir()}).Start(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "wrong-secret") {
				t.Errorf("it said %v", err)
			}
			if took := time.Since(start); took > refusedWithin+clustertest.Scale(time.Second) {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func closedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// silentAddress accepts connections and never answers.
func silentAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// viewerToken returns the token of a service account that may read namespaced objects.
func viewerToken(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	account, err := client.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{GenerateName: "viewer-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "viewer-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return token.Status.Token
}

func TestAnotherSchedulerIsAWarning(t *testing.T) {
	c := clustertest.Start(t, controlplane.New(controlplane.Options{DataDir: t.TempDir()}))
	leases := clustertest.Client(t, c.ClientConfig()).CoordinationV1().Leases(metav1.NamespaceSystem)
	now := metav1.NowMicro()
	held, err := leases.Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "kube-scheduler"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("control-plane-1_abc"), LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &now},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e := external.New(external.Options{Kubeconfig: c.Kubeconfig(), DataDir: t.TempDir()})
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	clustertest.Eventually(t, "it warns", func(context.Context) (bool, error) {
		w := e.State().Warnings
		return len(w) == 1 && strings.Contains(w[0], "control-plane-1_abc"), nil
	})

	held.Spec.HolderIdentity = ptr.To("") // as a scheduler does when it stops in order
	if _, err := leases.Update(t.Context(), held, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "the warning disappears", func(context.Context) (bool, error) { return len(e.State().Warnings) == 0, nil })
}
