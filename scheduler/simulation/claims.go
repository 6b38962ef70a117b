package simulation

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
)

func claimsOf(pod *v1.Pod) []string {
	var out []string
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		switch {
		case volume.PersistentVolumeClaim != nil:
			out = append(out, volume.PersistentVolumeClaim.ClaimName)
		case volume.Ephemeral != nil:
			out = append(out, ephemeral.VolumeClaimName(pod, volume))
		}
	}
	return out
}

// lookAtClaims looks at the claims of a pod that is gone or has ended.
func (c *control) lookAtClaims(pod *v1.Pod) {
	for _, name := range claimsOf(pod) {
		c.look(ref{claimKind, cache.NewObjectName(pod.Namespace, name).String()})
	}
	for i := range pod.Spec.ResourceClaims {
		if name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i]); err == nil && name != nil {
			c.look(ref{resourceClaimKind, cache.NewObjectName(pod.Namespace, *name).String()})
		}
	}
	if extended := pod.Status.ExtendedResourceClaimStatus; extended != nil {
		c.look(ref{resourceClaimKind, cache.NewObjectName(pod.Namespace, extended.ResourceClaimName).String()})
	}
}

// reconcileResourceClaim ends reservations for pods that are gone or have ended, and with the last
// one the allocation, as the resource claim controller does.
func (c *control) reconcileResourceClaim(o object) error {
	claim, exists := o.(*resourcev1.ResourceClaim)
	if !exists || len(claim.Status.ReservedFor) == 0 {
		return nil
	}
	kept := slices.DeleteFunc(slices.Clone(claim.Status.ReservedFor), func(user resourcev1.ResourceClaimConsumerReference) bool {
		if user.Resource != "pods" || user.APIGroup != "" {
			return false
		}
		pod, exists := find[*v1.Pod](c.cluster, podKind, claim.Namespace, user.Name)
		return !exists || pod.UID != user.UID || ended(pod)
	})
	if len(kept) == len(claim.Status.ReservedFor) {
		return nil
	}
	after := *claim
	after.Status.ReservedFor = kept
	if len(kept) == 0 {
		after.Status.ReservedFor, after.Status.Allocation, after.Status.Devices = nil, nil, nil
	}
	if err := c.put(resourceClaimKind, &after); err != nil {
		return err
	}
	// A claim made for a pod that has ended goes with the pod.
	for _, owner := range claim.OwnerReferences {
		pod, exists := find[*v1.Pod](c.cluster, podKind, claim.Namespace, owner.Name)
		if owner.Kind == "Pod" && exists && pod.UID == owner.UID && ended(pod) {
			c.cluster.remove(refOf(resourceClaimKind, claim))
			break
		}
	}
	return nil
}
