package provisioning

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	autoscaling "k8s.io/autoscaler/cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Reasons of conditions. The first group are cluster-autoscaler's.
const (
	reasonAccepted    = "Accepted"
	reasonFound       = "CapacityIsFound"
	reasonNotFound    = "CapacityIsNotFound"
	reasonProvisioned = "CapacityIsProvisioned"
	reasonNoPods      = "FailedToCreatePods"
	reasonBookingOver = "CapacityReservationTimeExpired"
	reasonBookingUsed = "CapacityBookingConsumed"
	reasonRequestOver = "Expired"

	reasonNodesComing = "NodesAreComing"
	reasonNodesGone   = "NodesAreGone"
	reasonLeftAlone   = "LeftAlone"
)

const (
	// bookedFor is how long room is kept, and openFor how long a request is tried. Both are cluster-autoscaler's.
	bookedFor = 10 * time.Minute
	openFor   = 7 * 24 * time.Hour
	// noRetry is the parameter of a check of the capacity that is made once.
	noRetry = "noRetry"
	// detailClaims is the detail of a request that names what was bought for it.
	detailClaims = "nodeClaims"
	// annotationRequest names the request that a NodeClaim was bought for, and annotationBooked says that Karpenter was asked to keep its
	// node for that.
	annotationRequest = objects.Prefix + "provisioning-request"
	annotationBooked  = objects.Prefix + "provisioning-request-booked"
)

// answer takes the next step of one request.
func (a *answers) answer(ctx context.Context, s *state, r *autoscaling.ProvisioningRequest) error {
	if isOver(r) {
		return nil
	}
	class := r.Spec.ProvisioningClassName
	if class != autoscaling.ProvisioningClassCheckCapacity && class != autoscaling.ProvisioningClassBestEffortAtomicScaleUp {
		if !a.leftAlone[r.UID] {
			a.leftAlone[r.UID] = true
			a.say(r, reasonLeftAlone, fmt.Sprintf("the class %s is left to others; answered are %s and %s", class, autoscaling.ProvisioningClassCheckCapacity, autoscaling.ProvisioningClassBestEffortAtomicScaleUp))
		}
		return nil
	}
	if has(r, autoscaling.Provisioned) {
		return a.keep(ctx, s, r)
	}
	if !has(r, autoscaling.Accepted) {
		return a.set(ctx, r, autoscaling.Accepted, metav1.ConditionTrue, reasonAccepted, "the simulator asks the scheduler and Karpenter")
	}
	if a.Clock.Since(r.CreationTimestamp.Time) > openFor {
		return a.fail(ctx, s, r, reasonRequestOver, fmt.Sprintf("there was no room for it in %s", openFor))
	}
	if bought := s.claims[nameOf(r)]; len(bought) > 0 || r.Status.ProvisioningClassDetails[detailClaims] != "" {
		return a.await(ctx, s, r, bought)
	}
	if a.Clock.Since(a.asked[r.UID]) < askEvery {
		return nil
	}
	a.asked[r.UID] = a.Clock.Now()
	return a.ask(ctx, s, r)
}

// keep ends the booking of a request's room when its time is over, its pods have nodes, or the nodes are lost.
func (a *answers) keep(ctx context.Context, s *state, r *autoscaling.ProvisioningRequest) error {
	if s.placed[nameOf(r)] >= count(r) {
		return a.set(ctx, r, autoscaling.BookingExpired, metav1.ConditionTrue, reasonBookingUsed, "all of its pods have nodes")
	}
	provisioned := meta.FindStatusCondition(r.Status.Conditions, autoscaling.Provisioned)
	if a.Clock.Since(provisioned.LastTransitionTime.Time) > bookedFor {
		return a.set(ctx, r, autoscaling.BookingExpired, metav1.ConditionTrue, reasonBookingOver, fmt.Sprintf("the room was kept for %s", bookedFor))
	}
	if lost := lostOf(r, s.claims[nameOf(r)]); len(lost) > 0 {
		return a.set(ctx, r, autoscaling.CapacityRevoked, metav1.ConditionTrue, reasonNodesGone, fmt.Sprintf("the nodes of %s, which were bought for it, are gone", strings.Join(lost, ", ")))
	}
	return nil
}

func count(r *autoscaling.ProvisioningRequest) (n int) {
	for _, set := range r.Spec.PodSets {
		n += int(set.Count)
	}
	return n
}

// lostOf returns the names of NodeClaims that were bought for a request and are gone, or about to be.
func lostOf(r *autoscaling.ProvisioningRequest, there []*karpenter.NodeClaim) (lost []string) {
	names := string(r.Status.ProvisioningClassDetails[detailClaims])
	if names == "" {
		return nil
	}
	for _, name := range strings.Split(names, ",") {
		if !slices.ContainsFunc(there, func(c *karpenter.NodeClaim) bool { return c.Name == name && c.DeletionTimestamp == nil }) {
			lost = append(lost, name)
		}
	}
	return lost
}

// ask asks whether there is room, and buys what is missing.
func (a *answers) ask(ctx context.Context, s *state, r *autoscaling.ProvisioningRequest) error {
	pods, err := a.podsOf(ctx, r, 0)
	if apierrors.IsNotFound(err) {
		return a.fail(ctx, s, r, reasonNoPods, err.Error())
	}
	if err != nil {
		return err
	}
	// What is kept for others is theirs.
	var all []*v1.Pod
	for _, other := range s.requests {
		if !isBooked(other) {
			continue
		}
		booked, err := a.podsOf(ctx, other, s.placed[nameOf(other)])
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		all = append(all, booked...)
	}
	room, err := a.Ask(ctx, append(all, pods...))
	if err != nil {
		return err
	}
	fits, then, now, never := true, true, "", ""
	for _, p := range pods {
		of := room.Pods[p.Namespace+"/"+p.Name]
		if !of.Fits && fits {
			fits, now = false, of.Sentence
		}
		if !of.Fits && !of.Then && then {
			then, never = false, of.Sentence
		}
	}
	if fits {
		return a.set(ctx, r, autoscaling.Provisioned, metav1.ConditionTrue, reasonFound, fmt.Sprintf("there is room for its %d pods", len(pods)))
	}
	if r.Spec.ProvisioningClassName == autoscaling.ProvisioningClassCheckCapacity {
		if r.Spec.Parameters[noRetry] == "true" {
			return a.fail(ctx, s, r, reasonNotFound, now)
		}
		return a.set(ctx, r, autoscaling.Provisioned, metav1.ConditionFalse, reasonNotFound, now+" The question is asked again.")
	}
	if !then || len(room.NewNodes) == 0 {
		return a.fail(ctx, s, r, reasonNotFound, cmp.Or(never, now))
	}
	var claims []*karpenter.NodeClaim
	for _, n := range room.NewNodes {
		claims = append(claims, claimFor(r, n.Claim))
	}
	if err := a.Buy(ctx, claims); err != nil {
		return err
	}
	var names []string
	for _, c := range claims {
		names = append(names, c.Name)
	}
	return a.set(ctx, r, autoscaling.Provisioned, metav1.ConditionFalse, reasonNodesComing, fmt.Sprintf("Karpenter buys %s", strings.Join(names, ", ")), names...)
}

// claimFor returns a NodeClaim that is bought for a request. Karpenter would let go of a node without pods.
func claimFor(r *autoscaling.ProvisioningRequest, claim *karpenter.NodeClaim) *karpenter.NodeClaim {
	claim = claim.DeepCopy()
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, annotationRequest, nameOf(r))
	if _, set := claim.Annotations[karpenter.DoNotDisruptAnnotationKey]; !set {
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, karpenter.DoNotDisruptAnnotationKey, "true")
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, annotationBooked, "true")
	}
	return claim
}

// await waits until the nodes that were bought are registered.
func (a *answers) await(ctx context.Context, s *state, r *autoscaling.ProvisioningRequest, bought []*karpenter.NodeClaim) error {
	var names []string
	registered := 0
	for _, c := range bought {
		names = append(names, c.Name)
		if c.StatusConditions().IsTrue(karpenter.ConditionTypeRegistered) {
			registered++
		}
	}
	if r.Status.ProvisioningClassDetails[detailClaims] == "" {
		return a.set(ctx, r, autoscaling.Provisioned, metav1.ConditionFalse, reasonNodesComing, fmt.Sprintf("Karpenter buys %s", strings.Join(names, ", ")), names...)
	}
	if lost := lostOf(r, bought); len(lost) > 0 {
		return a.fail(ctx, s, r, reasonNotFound, fmt.Sprintf("the cloud gave no node for %s", strings.Join(lost, ", ")))
	}
	if registered < len(bought) {
		return nil
	}
	return a.set(ctx, r, autoscaling.Provisioned, metav1.ConditionTrue, reasonProvisioned, fmt.Sprintf("the nodes %s are registered", strings.Join(names, ", ")))
}

// fail ends a request, and lets what was bought for it go.
func (a *answers) fail(ctx context.Context, s *state, r *autoscaling.ProvisioningRequest, reason, message string) error {
	if err := a.set(ctx, r, autoscaling.Failed, metav1.ConditionTrue, reason, message); err != nil {
		return err
	}
	for _, c := range s.claims[nameOf(r)] {
		if err := a.Client.Delete(ctx, c); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// release lets Karpenter take nodes whose booking is over.
func (a *answers) release(ctx context.Context, s *state) error {
	booked := map[string]bool{}
	for _, r := range s.requests {
		// Until the first answer, the nodes are those that it waits for.
		booked[nameOf(r)] = !isOver(r)
	}
	for of, claims := range s.claims {
		for _, c := range claims {
			if booked[of] || c.Annotations[annotationBooked] == "" {
				continue
			}
			if err := a.unprotect(ctx, c); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("ending the booking of NodeClaim %s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// unprotect removes from a NodeClaim, and then from its node, what keeps Karpenter from taking the node away.
func (a *answers) unprotect(ctx context.Context, c *karpenter.NodeClaim) error {
	// The node first: without the NodeClaim's annotation it would not be found again.
	if name := c.Status.NodeName; name != "" {
		node := &v1.Node{}
		err := a.Client.Get(ctx, client.ObjectKey{Name: name}, node)
		if err == nil {
			err = a.dropBooking(ctx, node)
		}
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return a.dropBooking(ctx, c)
}

func (a *answers) dropBooking(ctx context.Context, o client.Object) error {
	before := o.DeepCopyObject().(client.Object)
	annotations := o.GetAnnotations()
	delete(annotations, annotationBooked)
	delete(annotations, karpenter.DoNotDisruptAnnotationKey)
	o.SetAnnotations(annotations)
	return a.Client.Patch(ctx, o, client.MergeFrom(before))
}
