package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// smallQuota has room for a new cluster and about twenty maps of a megabyte.
const smallQuota = 32 << 20

func bigMap(name string) *corev1.ConfigMap {
	m := configMap(name)
	m.Data = map[string]string{"data": strings.Repeat(name, 1_000_000/len(name))}
	return m
}

// fill creates maps until the API server refuses one, and returns its refusal.
func fill(t *testing.T, client kubernetes.Interface) error {
	t.Helper()
	for i := range 100 {
		_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), bigMap(fmt.Sprintf("big-%02d", i)), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	t.Fatal("the storage is never full")
	return nil
}

func databaseBytes(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "etcd/member/snap/db"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func canCreate(t *testing.T, client kubernetes.Interface) func(context.Context) (bool, error) {
	t.Helper()
	return func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ConfigMaps("default").Create(ctx, configMap("room"), metav1.CreateOptions{})
		return err == nil || apierrors.IsAlreadyExists(err), nil
	}
}

func TestAFullStorage(t *testing.T) {
	clustertest.Slow(t)
	dir := t.TempDir()
	options := Options{DataDir: dir, EtcdQuota: smallQuota}
	first := clustertest.Start(t, New(options))
	client := clustertest.Client(t, first.ClientConfig())
	if warning := first.StorageWarning(); warning != "" {
		t.Errorf("a new cluster warns: %s", warning)
	}

	if err := first.startState.wait(t.Context()); err != nil { // a cluster is full long after its start
		t.Fatal(err)
	}
	fill(t, client) // etcd raises its alarm with this request
	if warning := first.StorageWarning(); !strings.Contains(warning, "is full (32Mi)") {
		t.Errorf("the warning is %q", warning)
	}
	_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("small"), metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), "the storage of the cluster is full (32Mi): nothing can be created or changed; delete objects, or reset the simulator") {
		t.Errorf("a write is refused with %v", err)
	}
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "big-00", metav1.GetOptions{}); err != nil {
		t.Errorf("reading: %v", err)
	}

	for i := range 12 {
		if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), fmt.Sprintf("big-%02d", i), metav1.DeleteOptions{}); err != nil {
			t.Fatalf("deleting: %v", err)
		}
	}
	clustertest.Eventually(t, "there is room after the deletions", canCreate(t, client))
	if used := first.storage.used(); used > storageWarning {
		t.Errorf("%.0f%% are used", 100*used)
	}

	fill(t, client)
	clustertest.Stop(t, first)
	second := clustertest.Start(t, New(options))
	client = clustertest.Client(t, second.ClientConfig())
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "big-00", metav1.GetOptions{}); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	modifyABuiltIn(t, second)
	fill(t, client)
	full := databaseBytes(t, dir)
	done, err := second.Reset(t.Context())
	if err != nil || done.Deleted < 10 {
		t.Fatalf("a reset: %+v, %v", done, err)
	}
	if ok, _ := canCreate(t, client)(t.Context()); !ok || second.StorageWarning() != "" {
		t.Errorf("after a reset there is no room: %s", second.StorageWarning())
	}
	if size := databaseBytes(t, dir); size > full/2+1<<20 || second.storage.used() > 0.5 {
		t.Errorf("after a reset the file has %d of %d bytes", size, full)
	}
	class, err := client.SchedulingV1().PriorityClasses().Get(t.Context(), "system-node-critical", metav1.GetOptions{})
	if err != nil || class.Labels["changed"] != "" {
		t.Errorf("a built-in object was not restored: %v, %v", class.Labels, err)
	}

	// The storage may get room again in the middle of a reset's deletions.
	fill(t, client)
	modifyABuiltIn(t, second)
	if used := second.storage.used(); second.storage.isFull() || used <= 0.5 {
		t.Fatalf("%.0f%% are used", 100*used)
	}
	if _, err := second.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if used := second.storage.used(); used > 0.5 {
		t.Errorf("%.0f%% are used after a reset", 100*used)
	}
}

// modifyABuiltIn makes the reset write something. It does so in etcd, because the storage may be
// nearly full.
func modifyABuiltIn(t *testing.T, c *ControlPlane) {
	t.Helper()
	client := clustertest.Client(t, c.ClientConfig())
	for i := range 8 { // the storage takes writes again when less than four fifths are used
		if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), fmt.Sprintf("big-%02d", 20-i), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	clustertest.Eventually(t, "there is room for a change", func(ctx context.Context) (bool, error) {
		class, err := client.SchedulingV1().PriorityClasses().Get(ctx, "system-node-critical", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		class.Labels = map[string]string{"changed": "yes"}
		_, err = client.SchedulingV1().PriorityClasses().Update(ctx, class, metav1.UpdateOptions{})
		return err == nil, nil
	})
}
