package roundtrip

import (
	"context"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const ownDefault = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: standard, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: provisioner.simulator
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
`

// TestOwnDefaultClassGivesWay: an import of another cluster's classes replaces the simulator's
// default class, and an export leaves it out.
func TestOwnDefaultClassGivesWay(t *testing.T) {
	classes := shared.client.StorageV1().StorageClasses()
	shared.kubectl.Must(t, "delete", "storageclass", "standard", "theirs", "--ignore-not-found")
	importText(t, shared, ownDefault, transfer.ImportOptions{})
	t.Cleanup(func() { shared.kubectl.Must(t, "delete", "storageclass", "standard", "theirs", "--ignore-not-found") })
	if exported := exportedClasses(t); exported["standard"] {
		t.Errorf("an export has it: %v", exported)
	}

	// A bound claim without a class stays without one.
	importText(t, shared, `
{apiVersion: v1, kind: PersistentVolume, metadata: {name: classless}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}, claimRef: {namespace: classless, name: data}}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: classless}, spec: {volumeName: classless, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}
`, transfer.ImportOptions{})
	clustertest.Eventually(t, "the claim is bound", func(ctx context.Context) (bool, error) {
		claim, err := shared.client.CoreV1().PersistentVolumeClaims("classless").Get(ctx, "data", metav1.GetOptions{})
		return err == nil && claim.Status.Phase == corev1.ClaimBound && *claim.Spec.StorageClassName == "", err
	})

	// The input has another default. Of two defaults the newer one would win.
	importText(t, shared, `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: theirs, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: csi.example.com}`, transfer.ImportOptions{})
	ours, err := classes.Get(t.Context(), "standard", metav1.GetOptions{})
	if err != nil || ours.Annotations["storageclass.kubernetes.io/is-default-class"] != "false" {
		t.Errorf("beside another default: %v, %v", ours.Annotations, err)
	}
	if exported := exportedClasses(t); !exported["standard"] || !exported["theirs"] {
		t.Errorf("an export has %v", exported)
	}

	// The input has a class of the same name. An update cannot change the provisioner.
	importText(t, shared, `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: standard}, provisioner: rancher.io/local-path, volumeBindingMode: Immediate}`, transfer.ImportOptions{})
	theirs, err := classes.Get(t.Context(), "standard", metav1.GetOptions{})
	if err != nil || theirs.Provisioner != "rancher.io/local-path" || len(theirs.Annotations) > 0 {
		t.Errorf("in the place of its own: %s, %v, %v", theirs.Provisioner, theirs.Annotations, err)
	}
}

// exportedClasses returns the StorageClasses in an export.
func exportedClasses(t *testing.T) map[string]bool {
	t.Helper()
	var list struct {
		Items []struct {
			Kind     string            `json:"kind"`
			Metadata metav1.ObjectMeta `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(export(t, shared, transfer.ExportOptions{})), &list); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, item := range list.Items {
		if item.Kind == "StorageClass" {
			found[item.Metadata.Name] = true
		}
	}
	return found
}
