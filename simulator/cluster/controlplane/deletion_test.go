package controlplane

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestPodOnANodeIsDeleted(t *testing.T) {
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	bound := pod("on-a-node", "some-node")
	// Much longer than this test waits, so that only an immediate deletion passes.
	gracePeriod := int64((24 * time.Hour).Seconds())
	bound.Spec.TerminationGracePeriodSeconds = &gracePeriod
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), bound, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	if err := client.CoreV1().Pods("default").Delete(t.Context(), bound.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	clustertest.Eventually(t, "the pod is gone", gone(func(ctx context.Context) error {
		_, err := client.CoreV1().Pods("default").Get(ctx, bound.Name, metav1.GetOptions{})
		return err
	}))
}

func TestPodWithFinalizerIsKept(t *testing.T) {
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	pods := client.CoreV1().Pods("default")
	held := pod("held", "some-node")
	held.Finalizers = []string{"example.com/hold"}
	if _, err := pods.Create(t.Context(), held, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := pods.Delete(t.Context(), held.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "only the finalizer holds the pod", func(ctx context.Context) (bool, error) {
		found, err := pods.Get(ctx, held.Name, metav1.GetOptions{})
		return err == nil && *found.DeletionGracePeriodSeconds == 0, err
	})

	patch := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := pods.Patch(t.Context(), held.Name, "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "the pod is gone", gone(func(ctx context.Context) error {
		_, err := pods.Get(ctx, held.Name, metav1.GetOptions{})
		return err
	}))
}

func TestNamespaceIsDeleted(t *testing.T) {
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	name := newNamespace(t, client)
	if _, err := client.CoreV1().Pods(name).Create(t.Context(), pod("bound", "some-node"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().ConfigMaps(name).Create(t.Context(), configMap("settings"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().PersistentVolumeClaims(name).Create(t.Context(), claim("data", "no-such-class"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	if err := client.CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	clustertest.Eventually(t, "the namespace is gone", gone(func(ctx context.Context) error {
		_, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		return err
	}))
}

// newNamespace creates a namespace for one test.
func newNamespace(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	created, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created.Name
}

// gone returns the condition that get does not find the object.
func gone(get func(context.Context) error) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		err := get(ctx)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	}
}
