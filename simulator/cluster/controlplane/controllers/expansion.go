package controllers

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// wantsExpansion reports whether the claim requests a larger volume. Admission allows that only
// if the storage class does.
func wantsExpansion(claim *corev1.PersistentVolumeClaim) bool {
	return claim.DeletionTimestamp == nil &&
		claim.Status.Phase == corev1.ClaimBound &&
		claim.Spec.VolumeName != "" &&
		claim.Spec.Resources.Requests.Storage().Cmp(*claim.Status.Capacity.Storage()) > 0
}

// expandClaim does the work of a storage vendor's resizer for the volume, and then that of a
// kubelet for the file system, which does not exist here.
func (p *provisioner) expandClaim(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	claim, err := p.claims.Lister().PersistentVolumeClaims(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || !wantsExpansion(claim) {
		return err
	}
	volume, err := p.volumes.Lister().Get(claim.Spec.VolumeName)
	if apierrors.IsNotFound(err) {
		return errNotYet
	}
	if err != nil || !isExternal(volume) {
		return err
	}
	wanted := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	size := corev1.ResourceList{corev1.ResourceStorage: wanted}
	if volume.Spec.Capacity.Storage().Cmp(wanted) < 0 {
		patch, err := sizePatch(volume.UID, "spec", map[string]any{"capacity": size})
		if err != nil {
			return err
		}
		_, err = p.client.CoreV1().PersistentVolumes().Patch(ctx, volume.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("expand volume %s: %w", volume.Name, err)
		}
	}
	patch, err := sizePatch(claim.UID, "status", map[string]any{"capacity": size, "conditions": nil})
	if err != nil {
		return err
	}
	_, err = p.client.CoreV1().PersistentVolumeClaims(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("expand claim: %w", err)
	}
	return nil
}

// sizePatch returns a merge patch that applies only to the object with that UID.
func sizePatch(uid types.UID, root string, fields map[string]any) ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{"uid": uid}, root: fields})
}
