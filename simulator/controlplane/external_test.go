package controlplane

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/clustertest"
)

func TestVersionSkew(t *testing.T) {
	tests := []struct {
		major, minor, git string
		warning, err      string
	}{
		{"1", "37", "v1.37.0", "", ""},
		{"1", "38+", "v1.38.0-alpha.1", "", ""},
		{"1", "35", "v1.35.2", "Kubernetes supports 1.37 and 1.38", ""},
		{"1", "39", "v1.39.0", "Kubernetes supports 1.37 and 1.38", ""},
		{"1", "33", "v1.33.9", "", "needs 1.34 or newer"},
		{"2", "0", "v2.0.0", "", "not understood"},
		{"1", "x", "v1.x", "", "not understood"},
	}
	for _, test := range tests {
		t.Run(test.git, func(t *testing.T) {
			warning, err := checkVersion(&version.Info{Major: test.major, Minor: test.minor, GitVersion: test.git})
			said := ""
			if err != nil {
				said = err.Error()
			}
			if !strings.Contains(warning, test.warning) || !strings.Contains(said, test.err) || (test.warning == "") != (warning == "") || (test.err == "") != (said == "") {
				t.Errorf("warning %q, error %q", warning, said)
			}
		})
	}
}

// changedKubeconfig is the control plane's, after change.
func changedKubeconfig(t *testing.T, c *ControlPlane, change func(*clientcmdapi.Config)) string {
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

func TestExternalSaysWhatIsWrong(t *testing.T) {
	c := sharedControlPlane(t)
	nothing := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(nothing, []byte("hello: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, kubeconfig, context, want string
	}{
		{"no kubeconfig", nothing, "", "kubeconfig " + nothing},
		{"no such context", c.Kubeconfig(), "elsewhere", `context "elsewhere" does not exist`},
		{"nobody there", changedKubeconfig(t, c, func(k *clientcmdapi.Config) {
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
		{"a user who may only look", changedKubeconfig(t, c, func(k *clientcmdapi.Config) {
			k.AuthInfos["simulator"] = &clientcmdapi.AuthInfo{Token: viewerToken(t, clustertest.Client(t, c.ClientConfig()))}
		}), "", "may not list nodes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			start := time.Now()
			err := NewExternal(ExternalOptions{Kubeconfig: test.kubeconfig, Context: test.context, DataDir: t.TempDir()}).Start(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "wrong-secret") {
				t.Errorf("it said %v", err)
			}
			if took := time.Since(start); took > externalStartTimeout+clustertest.Scale(time.Second) {
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

// silentAddress accepts connections and says nothing.
func silentAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// viewerToken is that of a service account that may read what is in namespaces.
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

func TestExternalWarnsOfAnotherScheduler(t *testing.T) {
	c := clustertest.Start(t, New(Options{DataDir: t.TempDir()}))
	leases := clustertest.Client(t, c.ClientConfig()).CoordinationV1().Leases(metav1.NamespaceSystem)
	now := metav1.NowMicro()
	held, err := leases.Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "kube-scheduler"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("control-plane-1_abc"), LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &now},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e := NewExternal(ExternalOptions{Kubeconfig: c.Kubeconfig(), DataDir: t.TempDir()})
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	clustertest.Eventually(t, "it warns", func(context.Context) (bool, error) {
		w := e.State().Warnings
		return len(w) == 1 && strings.Contains(w[0], "control-plane-1_abc"), nil
	})

	held.Spec.HolderIdentity = ptr.To("") // as who stops in order
	if _, err := leases.Update(t.Context(), held, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "the warning goes", func(context.Context) (bool, error) { return len(e.State().Warnings) == 0, nil })
}

func TestEtcdOfOthers(t *testing.T) {
	etcd, err := startEtcd(t.Context(), filepath.Join(t.TempDir(), "etcd"), false, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := etcd.stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	where := Etcd{Servers: []string{etcd.endpoint}, Prefix: "ours"}
	first := complete(t, Options{DataDir: t.TempDir(), Etcd: where})
	before := values(t, first)
	for key := range before {
		if !strings.HasPrefix(key, "/ours/") {
			t.Errorf("%s is not below the prefix", key)
		}
	}
	if _, err := first.startState.registry.client.Put(t.Context(), "/oursnot/key", "other"); err != nil {
		t.Fatal(err)
	}
	created := must[*corev1.ConfigMap](t)(clustertest.Client(t, first.ClientConfig()).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("kept"), metav1.CreateOptions{}))
	clustertest.Stop(t, first)

	// Another directory: what there is is in etcd.
	second := complete(t, Options{DataDir: t.TempDir(), Etcd: where})
	must[*corev1.ConfigMap](t)(clustertest.Client(t, second.ClientConfig()).CoreV1().ConfigMaps("default").Get(t.Context(), created.Name, metav1.GetOptions{}))
	reset(t, second)
	if diff := len(values(t, second)) - len(before); diff != 0 {
		t.Errorf("%d keys more than at the start", diff)
	}
	answer, err := second.startState.registry.client.Get(t.Context(), "/oursnot/key")
	if err != nil || len(answer.Kvs) != 1 {
		t.Errorf("the key of others: %v, %v", answer, err)
	}
}

// secured is an etcd that speaks TLS with those who have a certificate of its
// authority, and how it is reached.
func secured(t *testing.T) Etcd {
	t.Helper()
	dir := t.TempDir()
	certs, err := ensureCertificates(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	broken := &etcdBroken{fail: func(error) {}}
	config, err := etcdConfig("https://127.0.0.1:0", filepath.Join(dir, "etcd"), false, broken)
	if err != nil {
		t.Fatal(err)
	}
	config.ClientTLSInfo = transport.TLSInfo{
		CertFile: certs.servingCertFile, KeyFile: certs.servingKeyFile,
		ClientCertAuth: true, TrustedCAFile: certs.caFile,
	}
	server, err := runEmbedded(config, broken)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	<-server.Server.ReadyNotify()
	return Etcd{
		Servers: []string{"https://" + server.Clients[0].Addr().String()},
		CAFile:  certs.caFile, CertFile: filepath.Join(dir, "admin.crt"), KeyFile: filepath.Join(dir, "admin.key"),
	}
}

func TestEtcdBehindTLS(t *testing.T) {
	etcd := secured(t)
	c := clustertest.Start(t, New(Options{DataDir: t.TempDir(), Etcd: etcd}))
	must[*corev1.ConfigMap](t)(clustertest.Client(t, c.ClientConfig()).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("kept"), metav1.CreateOptions{}))

	others := t.TempDir()
	if _, err := ensureCertificates(others, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		change func(*Etcd)
		want   string
	}{
		{"another authority", func(e *Etcd) { e.CAFile = filepath.Join(others, "ca.crt") }, "certificate signed by unknown authority"},
		{"no certificate", func(e *Etcd) { e.CertFile, e.KeyFile = "", "" }, "certificate required"},
		{"a certificate of others", func(e *Etcd) {
			e.CertFile, e.KeyFile = filepath.Join(others, "admin.crt"), filepath.Join(others, "admin.key")
		}, "unknown certificate authority"},
		{"a key of others", func(e *Etcd) { e.KeyFile = filepath.Join(others, "admin.key") }, "private key does not match public key"},
		{"a certificate without its key", func(e *Etcd) { e.KeyFile = "" }, "KeyFile and CertFile must both be present"},
		{"no file", func(e *Etcd) { e.CAFile = filepath.Join(others, "missing.crt") }, "missing.crt: no such file"},
		{"no encryption", func(e *Etcd) { e.Servers[0] = strings.Replace(e.Servers[0], "https", "http", 1) }, "etcd at http://"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wrong := etcd
			wrong.Servers = slices.Clone(etcd.Servers)
			test.change(&wrong)
			begin := time.Now()
			err := New(Options{DataDir: t.TempDir(), Etcd: wrong}).Start(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it said %v", err)
			}
			t.Log(err)
			if took := time.Since(begin); took > 3*etcdDialTimeout {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestEtcdThatIsNotThere(t *testing.T) {
	err := New(Options{DataDir: t.TempDir(), Etcd: Etcd{Servers: []string{"http://" + closedAddress(t)}}}).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "etcd at http://127.0.0.1:") || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("it said %v", err)
	}
}
