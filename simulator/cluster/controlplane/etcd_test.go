package controlplane

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestExternalEtcd(t *testing.T) {
	clustertest.Slow(t)
	etcd, err := startEtcd(t.Context(), etcdOptions{dataDir: filepath.Join(t.TempDir(), "etcd")}, func(error) {})
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

	// In another directory, so that all objects come from etcd.
	second := complete(t, Options{DataDir: t.TempDir(), Etcd: where})
	must[*corev1.ConfigMap](t)(clustertest.Client(t, second.ClientConfig()).CoreV1().ConfigMaps("default").Get(t.Context(), created.Name, metav1.GetOptions{}))
	reset(t, second)
	if diff := len(values(t, second)) - len(before); diff != 0 {
		t.Errorf("%d keys more than at the start", diff)
	}
	answer, err := second.startState.registry.client.Get(t.Context(), "/oursnot/key")
	if err != nil || len(answer.Kvs) != 1 {
		t.Errorf("the key of another client: %v, %v", answer, err)
	}
}

// secured starts an etcd that requires client certificates of its authority.
func secured(t *testing.T) Etcd {
	t.Helper()
	dir := t.TempDir()
	certs, err := ensureCertificates(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	broken := &etcdBroken{fail: func(error) {}}
	config, err := etcdConfig("https://127.0.0.1:0", etcdOptions{dataDir: filepath.Join(dir, "etcd")}, broken)
	if err != nil {
		t.Fatal(err)
	}
	config.ClientTLSInfo = transport.TLSInfo{
		CertFile: certs.servingCertFile, KeyFile: certs.servingKeyFile,
		ClientCertAuth: true, TrustedCAFile: certs.caFile,
	}
	server, err := runEmbedded(t.Context(), config, broken)
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
	clustertest.Slow(t)
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
		{"a certificate of another authority", func(e *Etcd) {
			e.CertFile, e.KeyFile = filepath.Join(others, "admin.crt"), filepath.Join(others, "admin.key")
		}, "unknown certificate authority"},
		{"a key of another authority", func(e *Etcd) { e.KeyFile = filepath.Join(others, "admin.key") }, "private key does not match public key"},
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

// A second simulator on the same keys would schedule the same pods.
func TestTwoControlPlanesOnOnePrefix(t *testing.T) {
	clustertest.Slow(t)
	etcd, err := startEtcd(t.Context(), etcdOptions{dataDir: filepath.Join(t.TempDir(), "etcd")}, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := etcd.stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	where := Etcd{Servers: []string{etcd.endpoint}, Prefix: "ours"}
	dir := t.TempDir()
	first := clustertest.Start(t, New(Options{DataDir: dir, Etcd: where}))

	begin := time.Now()
	err = New(Options{DataDir: t.TempDir(), Etcd: where}).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "another simulator uses the keys below /ours/") || !strings.Contains(err.Error(), dir) {
		t.Errorf("it said %v", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	clustertest.Start(t, New(Options{DataDir: t.TempDir(), Etcd: Etcd{Servers: where.Servers, Prefix: "theirs"}}))

	// Stopped in order, the first one leaves at once.
	clustertest.Stop(t, first)
	third := clustertest.Start(t, New(Options{DataDir: t.TempDir(), Etcd: where}))

	// A killed one leaves its key behind. The next start on the same directory takes it over.
	r := third.startState.registry
	left := ownership{Host: must[string](t)(os.Hostname()), Process: 1, Directory: t.TempDir()}
	other := &registry{client: r.client, prefix: "/killed/"}
	if _, err := r.client.Put(t.Context(), other.prefix+ownerKey, string(must[[]byte](t)(json.Marshal(left)))); err != nil {
		t.Fatal(err)
	}
	begin = time.Now()
	o, err := own(t.Context(), other, left.Directory, func(error) {})
	if err != nil || time.Since(begin) > time.Second {
		t.Fatalf("after %v: %v", time.Since(begin), err)
	}
	if err := o.release(t.Context()); err != nil {
		t.Error(err)
	}
	if answer, err := r.client.Get(t.Context(), other.prefix+ownerKey); err != nil || len(answer.Kvs) > 0 {
		t.Errorf("the key is left: %v, %v", answer, err)
	}
}

func TestUnreachableEtcd(t *testing.T) {
	clustertest.Slow(t)
	err := New(Options{DataDir: t.TempDir(), Etcd: Etcd{Servers: []string{"http://" + closedAddress(t)}}}).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "etcd at http://127.0.0.1:") || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("it said %v", err)
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
