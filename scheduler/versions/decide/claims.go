package decide

import (
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
)

var claimKind = resourcev1.SchemeGroupVersion.WithKind("ResourceClaim")

// allocate writes the claims of a placed pod, as DynamicResources does in PreBind: with what Reserve has allocated, and with the pod as their
// user.
func (d *decider) allocate(pod *v1.Pod) error {
	claims := d.claims()
	if claims == nil {
		return nil
	}
	for i := range pod.Spec.ResourceClaims {
		name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i])
		if err != nil || name == nil {
			continue // the plugin has seen no such claim
		}
		claim, ok := d.world.Get(claimKind, pod.Namespace, *name).(*resourcev1.ResourceClaim)
		if !ok {
			continue
		}
		claim = claim.DeepCopy()
		if pending := pendingOf(claims, claim.UID); claim.Status.Allocation == nil && pending != nil {
			claim.Status.Allocation = pending
		}
		user := resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID}
		if !slices.Contains(claim.Status.ReservedFor, user) {
			claim.Status.ReservedFor = append(claim.Status.ReservedFor, user)
		}
		claim.ResourceVersion = next(claim.ResourceVersion)
		if err := d.set(claim); err != nil {
			return err
		}
		forgetPending(claims, claim.UID)
	}
	return nil
}

// newer reports whether a has a newer resource version than b.
func newer(a, b metav1.Object) bool {
	x, errX := strconv.ParseUint(a.GetResourceVersion(), 10, 64)
	y, errY := strconv.ParseUint(b.GetResourceVersion(), 10, 64)
	return errX != nil || errY != nil || x > y
}

// next returns the resource version after one, as this state counts them.
func next(version string) string {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return "1"
	}
	return strconv.FormatUint(n+1, 10)
}
