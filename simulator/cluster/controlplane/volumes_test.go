package controlplane

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const zoneLabel = "topology.kubernetes.io/zone"

func TestClaimThatWaitsForItsFirstConsumer(t *testing.T) {
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	namespace := newNamespace(t, client)
	class := createClass(t, client, "csi.example.com", storagev1.VolumeBindingWaitForFirstConsumer, zones("a", "b"))
	createNode(t, client, node("consumer-node", map[string]string{zoneLabel: "b"}))
	claims := client.CoreV1().PersistentVolumeClaims(namespace)
	if _, err := claims.Create(t.Context(), claim("data", class), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "the claim waits for a consumer", func(ctx context.Context) (bool, error) {
		return hasEvent(ctx, client, namespace, "data", "WaitForFirstConsumer")
	})

	// The scheduler's VolumeBinding plugin does this in PreBind.
	patch := []byte(`{"metadata":{"annotations":{"` + storagehelpers.AnnSelectedNode + `":"consumer-node"}}}`)
	if _, err := claims.Patch(t.Context(), "data", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}

	volume := boundVolume(t, client, namespace, "data")
	got := map[string]any{
		"driver":        volume.Spec.CSI.Driver,
		"provisionedBy": volume.Annotations[storagehelpers.AnnDynamicallyProvisioned],
		"capacity":      volume.Spec.Capacity.Storage().String(),
		"reclaim":       volume.Spec.PersistentVolumeReclaimPolicy,
		"zones":         volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values,
	}
	want := map[string]any{
		"driver":        "csi.example.com",
		"provisionedBy": "csi.example.com",
		"capacity":      "1Gi",
		"reclaim":       corev1.PersistentVolumeReclaimDelete,
		"zones":         []string{"b"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("volume (-want +got):\n%s", diff)
	}
}

func TestVolumeIsDeletedWithItsClaim(t *testing.T) {
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	namespace := newNamespace(t, client)
	class := createClass(t, client, "example.com/noop", storagev1.VolumeBindingImmediate, nil)
	claims := client.CoreV1().PersistentVolumeClaims(namespace)
	if _, err := claims.Create(t.Context(), claim("data", class), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	volume := boundVolume(t, client, namespace, "data")
	if volume.Spec.NodeAffinity != nil {
		t.Errorf("node affinity %v without allowed topologies", volume.Spec.NodeAffinity)
	}
	// Like the volume of an external provisioner in another cluster.
	patch := []byte(`{"metadata":{"finalizers":["` + storagehelpers.PVDeletionProtectionFinalizer + `","kubernetes.io/pv-protection"]}}`)
	if _, err := client.CoreV1().PersistentVolumes().Patch(t.Context(), volume.Name, "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}

	if err := claims.Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	clustertest.Eventually(t, "the volume is gone", gone(func(ctx context.Context) error {
		_, err := client.CoreV1().PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
		return err
	}))
}

func TestClaimInUseIsKept(t *testing.T) {
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	namespace := newNamespace(t, client)
	class := createClass(t, client, "example.com/noop", storagev1.VolumeBindingImmediate, nil)
	claims := client.CoreV1().PersistentVolumeClaims(namespace)
	if _, err := claims.Create(t.Context(), claim("data", class), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	boundVolume(t, client, namespace, "data")
	user := pod("user", "some-node")
	user.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}}
	if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), user, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	if err := claims.Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := claims.Get(t.Context(), "data", metav1.GetOptions{}); err != nil {
		t.Errorf("a claim in use: %v", err)
	}
	if err := client.CoreV1().Pods(namespace).Delete(t.Context(), user.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "the claim is gone", gone(func(ctx context.Context) error {
		_, err := claims.Get(ctx, "data", metav1.GetOptions{})
		return err
	}))
}

func TestVolumeGrowsWithItsClaim(t *testing.T) {
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	namespace := newNamespace(t, client)
	class := createClass(t, client, "csi.example.com", storagev1.VolumeBindingImmediate, nil)
	patch := []byte(`{"allowVolumeExpansion":true}`)
	if _, err := client.StorageV1().StorageClasses().Patch(t.Context(), class, "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	claims := client.CoreV1().PersistentVolumeClaims(namespace)
	if _, err := claims.Create(t.Context(), claim("data", class), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	volume := boundVolume(t, client, namespace, "data")
	patch = []byte(`{"spec":{"resources":{"requests":{"storage":"5Gi"}}}}`)
	// Admission uses a cache of storage classes, which may not have the change yet.
	clustertest.Eventually(t, "the claim may request more", func(ctx context.Context) (bool, error) {
		_, err := claims.Patch(ctx, "data", "application/merge-patch+json", patch, metav1.PatchOptions{})
		if apierrors.IsForbidden(err) {
			return false, nil
		}
		return err == nil, err
	})
	clustertest.Eventually(t, "claim and volume have grown", func(ctx context.Context) (bool, error) {
		got, err := claims.Get(ctx, "data", metav1.GetOptions{})
		if err != nil || got.Status.Capacity.Storage().String() != "5Gi" {
			return false, err
		}
		grown, err := client.CoreV1().PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
		return err == nil && grown.Spec.Capacity.Storage().String() == "5Gi", err
	})
}

func TestStaticBinding(t *testing.T) {
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	namespace := newNamespace(t, client)
	class := createClass(t, client, "kubernetes.io/no-provisioner", storagev1.VolumeBindingImmediate, nil)
	claims := client.CoreV1().PersistentVolumeClaims(namespace)
	if _, err := claims.Create(t.Context(), claim("data", class), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "nothing provisions for the claim", func(ctx context.Context) (bool, error) {
		return hasEvent(ctx, client, namespace, "data", "ProvisioningFailed")
	})

	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "static"},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName:       class,
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}},
		},
	}
	if _, err := client.CoreV1().PersistentVolumes().Create(t.Context(), volume, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	if bound := boundVolume(t, client, namespace, "data"); bound.Name != volume.Name {
		t.Errorf("bound to %s", bound.Name)
	}
}

func zones(names ...string) []corev1.TopologySelectorTerm {
	return []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zoneLabel, Values: names}}}}
}

func createClass(t *testing.T, client kubernetes.Interface, provisioner string, mode storagev1.VolumeBindingMode, topologies []corev1.TopologySelectorTerm) string {
	t.Helper()
	created, err := client.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta:        metav1.ObjectMeta{GenerateName: "test-"},
		Provisioner:       provisioner,
		VolumeBindingMode: &mode,
		AllowedTopologies: topologies,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created.Name
}

func createNode(t *testing.T, client kubernetes.Interface, node *corev1.Node) {
	t.Helper()
	if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func claim(name, class string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
}

// boundVolume waits until the claim is bound and returns its volume.
func boundVolume(t *testing.T, client kubernetes.Interface, namespace, name string) *corev1.PersistentVolume {
	t.Helper()
	var volumeName string
	clustertest.Eventually(t, "the claim is bound", func(ctx context.Context) (bool, error) {
		found, err := client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		volumeName = found.Spec.VolumeName
		return found.Status.Phase == corev1.ClaimBound, nil
	})
	volume, err := client.CoreV1().PersistentVolumes().Get(t.Context(), volumeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return volume
}

func hasEvent(ctx context.Context, client kubernetes.Interface, namespace, name, reason string) (bool, error) {
	selector := fields.Set{"involvedObject.name": name, "reason": reason}.AsSelector().String()
	list, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		return false, err
	}
	return len(list.Items) > 0, nil
}
