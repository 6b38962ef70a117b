package newnode

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// OfDaemonSet reports whether a DaemonSet made the pod, for one node.
func OfDaemonSet(pod *v1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && owner.Kind == "DaemonSet"
}

// daemons returns copies of the pods that DaemonSets made for the node, bound to a new node like it, each after its claims. Of two pods
// of one DaemonSet, one follows the other, and the new node gets a pod like the one that follows.
func (s *Sample) daemons(name string) []runtime.Object {
	var made []*v1.Pod
	for _, p := range list[*v1.Pod](s.survey, podKind) {
		if OfDaemonSet(p) && cmp.Or(p.Spec.NodeName, madeFor(p)) == s.like.Name {
			made = append(made, p)
		}
	}
	slices.SortFunc(made, func(a, b *v1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	var out []runtime.Object
	for _, p := range made {
		if slices.ContainsFunc(made, func(o *v1.Pod) bool { return o != p && follows(o, p) }) {
			continue
		}
		p = p.DeepCopy()
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = nil, nil
		p.Name = p.Name + "-on-" + name
		p.UID = types.UID(p.Namespace + "/" + p.Name)
		p.Spec.NodeName = name
		for i := range p.Status.ResourceClaimStatuses {
			status := &p.Status.ResourceClaimStatuses[i]
			if status.ResourceClaimName == nil {
				continue
			}
			if claim := s.daemonClaim(p, *status.ResourceClaimName, name); claim != nil {
				status.ResourceClaimName = &claim.Name
				out = append(out, claim)
			}
		}
		out = append(out, p)
	}
	return out
}

// follows reports whether a DaemonSet made one pod of a node in place of another one, which leaves or is to leave, as in a rolling update
// with a surge. Of two that nothing tells apart, it is the last by name.
func follows(next, before *v1.Pod) bool {
	if next.Namespace != before.Namespace || metav1.GetControllerOfNoCopy(next).UID != metav1.GetControllerOfNoCopy(before).UID {
		return false
	}
	if leaves := before.DeletionTimestamp != nil; leaves != (next.DeletionTimestamp != nil) {
		return leaves
	}
	return cmp.Or(next.CreationTimestamp.Compare(before.CreationTimestamp.Time), cmp.Compare(next.Name, before.Name)) > 0
}

// madeFor returns the node for which a DaemonSet made a pod that has no node yet; empty if the pod does not say.
func madeFor(p *v1.Pod) string {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, r := range term.MatchFields {
			if r.Key == metav1.ObjectNameField && r.Operator == v1.NodeSelectorOpIn && len(r.Values) == 1 {
				return r.Values[0]
			}
		}
	}
	return ""
}

// daemonClaim returns a copy of the claim that was made for a daemon. It holds the same devices of the new node; nil if it holds none.
func (s *Sample) daemonClaim(pod *v1.Pod, from, name string) *resourcev1.ResourceClaim {
	claim, exists := get[*resourcev1.ResourceClaim](s.survey, claimKind, pod.Namespace, from)
	if !exists || claim.Status.Allocation == nil {
		return nil
	}
	claim = claim.DeepCopy()
	claim.Name = claim.Name + "-on-" + name
	claim.UID = types.UID(claim.Namespace + "/" + claim.Name)
	claim.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(pod, podKind)}
	claim.Status.Allocation.NodeSelector = nil
	for i := range claim.Status.Allocation.Devices.Results {
		result := &claim.Status.Allocation.Devices.Results[i]
		for _, p := range s.survey.pools()[s.like.Name] {
			if p.brought() && p.driver == result.Driver && p.name == result.Pool {
				result.Pool = rename(p.name, s.like.Name, name)
			}
		}
	}
	claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod.Name, UID: pod.UID}}
	return claim
}

// topology returns what the agent of a new node reports if the node like it has an agent: the same zones, in which nothing is
// taken. It returns nil if that node has none.
func (s *Sample) topology(name string) runtime.Object {
	reported, exists := get[*unstructured.Unstructured](s.survey, topologyKind, "", s.like.Name)
	if !exists {
		return nil
	}
	out := &unstructured.Unstructured{Object: reported.DeepCopy().Object}
	from := out.DeepCopy()
	delete(out.Object, "metadata")
	out.SetName(name)
	out.SetLabels(from.GetLabels())
	zones, _, _ := unstructured.NestedSlice(out.Object, "zones")
	for _, zone := range zones {
		fields, _ := zone.(map[string]any)
		resources, _, _ := unstructured.NestedSlice(fields, "resources")
		for _, r := range resources {
			if amounts, ok := r.(map[string]any); ok {
				amounts["available"] = amounts["allocatable"]
			}
		}
		if len(resources) > 0 {
			fields["resources"] = resources
		}
	}
	out.Object["zones"] = zones
	return out
}
