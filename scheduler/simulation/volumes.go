package simulation

import (
	"cmp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/standin"
)

// admitClaim is the admission plugin DefaultStorageClass: it gives a claim without a class the
// newest default one.
func (c *control) admitClaim(claim *v1.PersistentVolumeClaim) {
	claim.Status.Phase = cmp.Or(claim.Status.Phase, v1.ClaimPending)
	if storagehelpers.PersistentVolumeClaimHasClass(claim) {
		return
	}
	var newest *storagev1.StorageClass
	for _, class := range all[*storagev1.StorageClass](c.cluster, classKind) {
		isDefault := class.Annotations[standin.IsDefaultClass] == "true"
		if isDefault && (newest == nil || newest.CreationTimestamp.Before(&class.CreationTimestamp)) {
			newest = class
		}
	}
	if newest != nil {
		claim.Spec.StorageClassName = &newest.Name
	}
}

// bindVolumes is the persistent volume controller and the provisioner. o is nil if the claim or
// volume is gone.
func (c *control) bindVolumes(r ref, o object) error {
	switch o := o.(type) {
	case *v1.PersistentVolumeClaim:
		return c.bindClaim(o)
	case *v1.PersistentVolume:
		return c.bindVolume(o)
	}
	if r.gvk == claimKind {
		for _, volume := range all[*v1.PersistentVolume](c.cluster, volumeKind) {
			if claim := volume.Spec.ClaimRef; claim != nil && claim.Namespace+"/"+claim.Name == r.key {
				c.look(refOf(volumeKind, volume))
			}
		}
	}
	return nil
}

// bindVolume looks at the claim of a volume, or at those that may take it.
func (c *control) bindVolume(volume *v1.PersistentVolume) error {
	of := volume.Spec.ClaimRef
	if of == nil {
		if volume.Status.Phase != v1.VolumeAvailable {
			return c.setPhase(volume, v1.VolumeAvailable)
		}
		for _, claim := range all[*v1.PersistentVolumeClaim](c.cluster, claimKind) {
			if claim.Spec.VolumeName == "" {
				c.look(refOf(claimKind, claim))
			}
		}
		return nil
	}
	claim, exists := find[*v1.PersistentVolumeClaim](c.cluster, claimKind, of.Namespace, of.Name)
	switch {
	case of.UID != "" && (!exists || claim.UID != of.UID):
		return c.release(volume)
	case exists && (claim.Spec.VolumeName == "" || claim.Status.Phase != v1.ClaimBound):
		return c.bindClaim(claim)
	case volume.Status.Phase == "" || volume.Status.Phase == v1.VolumePending:
		return c.setPhase(volume, v1.VolumeAvailable)
	}
	return nil
}

// release applies the policy of a volume whose claim is gone.
func (c *control) release(volume *v1.PersistentVolume) error {
	dynamic := volume.Annotations[storagehelpers.AnnDynamicallyProvisioned] != ""
	if volume.Spec.PersistentVolumeReclaimPolicy == v1.PersistentVolumeReclaimDelete && dynamic {
		c.cluster.remove(refOf(volumeKind, volume))
		return nil
	}
	if volume.Status.Phase == v1.VolumeReleased {
		return nil
	}
	return c.setPhase(volume, v1.VolumeReleased)
}

func (c *control) setPhase(before *v1.PersistentVolume, phase v1.PersistentVolumePhase) error {
	volume := before.DeepCopy()
	volume.Status.Phase = phase
	return c.put(volumeKind, volume)
}

// bindClaim takes the next step of a claim: it finds a volume, asks for one, or completes the
// binding.
func (c *control) bindClaim(claim *v1.PersistentVolumeClaim) error {
	if claim.DeletionTimestamp != nil {
		if !c.inUse(claim) {
			c.cluster.remove(refOf(claimKind, claim))
		}
		return nil
	}
	if claim.Spec.VolumeName != "" {
		volume, exists := find[*v1.PersistentVolume](c.cluster, volumeKind, "", claim.Spec.VolumeName)
		switch {
		case !exists && claim.Status.Phase == v1.ClaimBound:
			after := claim.DeepCopy()
			after.Status.Phase = v1.ClaimLost
			return c.put(claimKind, after)
		case !exists, volume.Spec.ClaimRef != nil && !isClaimOf(volume, claim):
			return nil
		}
		return c.bind(claim, volume)
	}
	if volume := c.volumeFor(claim); volume != nil {
		return c.bind(claim, volume)
	}
	return c.provision(claim)
}

func isClaimOf(volume *v1.PersistentVolume, claim *v1.PersistentVolumeClaim) bool {
	of := volume.Spec.ClaimRef
	return of != nil && of.Namespace == claim.Namespace && of.Name == claim.Name && (of.UID == "" || of.UID == claim.UID)
}

// volumeFor returns the volume that a claim gets: one that is reserved for it or, unless its class
// waits for the scheduler, the smallest one that matches.
func (c *control) volumeFor(claim *v1.PersistentVolumeClaim) *v1.PersistentVolume {
	volumes := all[*v1.PersistentVolume](c.cluster, volumeKind)
	if i := slices.IndexFunc(volumes, func(v *v1.PersistentVolume) bool { return isClaimOf(v, claim) }); i >= 0 {
		return volumes[i]
	}
	if c.waits(claim) {
		return nil
	}
	volume, err := storagehelpers.FindMatchingVolume(claim, volumes, nil, map[string]*v1.PersistentVolume{}, false, true)
	if err != nil {
		return nil
	}
	return volume
}

// waits reports whether a claim's class waits for its first consumer, for which the scheduler has
// not chosen a node.
func (c *control) waits(claim *v1.PersistentVolumeClaim) bool {
	class, exists := find[*storagev1.StorageClass](c.cluster, classKind, "", storagehelpers.GetPersistentVolumeClaimClass(claim))
	return exists && ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingWaitForFirstConsumer &&
		claim.Annotations[storagehelpers.AnnSelectedNode] == ""
}

func (c *control) bind(claim *v1.PersistentVolumeClaim, volume *v1.PersistentVolume) error {
	if volume.Spec.ClaimRef == nil || volume.Spec.ClaimRef.UID == "" || volume.Status.Phase != v1.VolumeBound {
		after := volume.DeepCopy()
		if volume.Spec.ClaimRef == nil {
			metav1.SetMetaDataAnnotation(&after.ObjectMeta, storagehelpers.AnnBoundByController, "yes")
		}
		after.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
		after.Status.Phase = v1.VolumeBound
		if err := c.put(volumeKind, after); err != nil {
			return err
		}
		volume = after
	}
	if claim.Spec.VolumeName == volume.Name && claim.Status.Phase == v1.ClaimBound && metav1.HasAnnotation(claim.ObjectMeta, storagehelpers.AnnBindCompleted) {
		return nil
	}
	after := claim.DeepCopy()
	if after.Spec.VolumeName == "" {
		after.Spec.VolumeName = volume.Name
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, storagehelpers.AnnBoundByController, "yes")
	}
	metav1.SetMetaDataAnnotation(&after.ObjectMeta, storagehelpers.AnnBindCompleted, "yes")
	after.Status.Phase, after.Status.AccessModes, after.Status.Capacity = v1.ClaimBound, volume.Spec.AccessModes, volume.Spec.Capacity
	return c.put(claimKind, after)
}

// provision makes a claim's volume if its class says how and does not wait for the scheduler to
// choose a node.
func (c *control) provision(claim *v1.PersistentVolumeClaim) error {
	class, exists := find[*storagev1.StorageClass](c.cluster, classKind, "", storagehelpers.GetPersistentVolumeClaimClass(claim))
	if !exists || c.waits(claim) || strings.HasPrefix(class.Provisioner, standin.InTreePrefix) {
		return nil
	}
	if standin.RequestedProvisioner(claim) == "" {
		after := claim.DeepCopy()
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, storagehelpers.AnnBetaStorageProvisioner, class.Provisioner)
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, storagehelpers.AnnStorageProvisioner, class.Provisioner)
		return c.put(claimKind, after) // leads here again
	}
	if !standin.WantsVolume(claim) {
		return nil
	}
	var node *v1.Node
	if ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingWaitForFirstConsumer {
		if node, exists = find[*v1.Node](c.cluster, nodeKind, "", claim.Annotations[storagehelpers.AnnSelectedNode]); !exists {
			return nil
		}
	}
	_, err := c.create(standin.NewVolume(claim, class, node))
	return err
}

// inUse reports whether a pod that has not ended uses a claim. The deletion of such a claim waits.
func (c *control) inUse(claim *v1.PersistentVolumeClaim) bool {
	for _, o := range c.objects[podKind] {
		pod := o.(*v1.Pod)
		if pod.Namespace == claim.Namespace && pod.Spec.NodeName != "" && !ended(pod) && slices.Contains(claimsOf(pod), claim.Name) {
			return true
		}
	}
	return false
}
