// Package newnode makes a node that is like an existing one, as a node pool would: of the same size,
// with the same labels and taints, with the pods that DaemonSets run on every node, with the zones
// that an agent reports, and otherwise empty.
//
// It may import Kubernetes' API types and scheduling framework.
package newnode

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// Like returns a node like this one, with another name. Labels that name the node name the new
// one. It is ready and not cordoned, and shares no memory with like.
func Like(like *v1.Node, name string) *v1.Node {
	from := like.DeepCopy()
	out := &v1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: from.Labels, Annotations: from.Annotations},
		Spec:       v1.NodeSpec{Taints: Taints(from)},
		Status: v1.NodeStatus{
			Capacity: from.Status.Capacity, Allocatable: from.Status.Allocatable, NodeInfo: from.Status.NodeInfo,
			Features: from.Status.Features, DeclaredFeatures: from.Status.DeclaredFeatures,
			Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
		},
	}
	for key, value := range out.Labels {
		if value == like.Name {
			out.Labels[key] = name
		}
	}
	delete(out.Annotations, v1.LastAppliedConfigAnnotation)
	return out
}

// ofState lists the taints that a node's controller gives it for its condition, or for a
// cordon. The controller restores them as long as the reason lasts, and a new node has none.
var ofState = []string{
	v1.TaintNodeUnschedulable, v1.TaintNodeNotReady, v1.TaintNodeUnreachable, v1.TaintNodeMemoryPressure,
	v1.TaintNodeDiskPressure, v1.TaintNodePIDPressure, v1.TaintNodeNetworkUnavailable,
}

// OfState reports whether a taint stands for a condition of the node, or for its cordon. The node's
// controller restores such a taint as long as the reason lasts.
func OfState(t v1.Taint) bool { return slices.Contains(ofState, t.Key) }

// Taints returns the taints that a new node like this one has too: those that do not stand for its
// state.
func Taints(node *v1.Node) []v1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), OfState)
}

var trailingNumber = regexp.MustCompile(`^(.*?)(\d+)$`)

// Name returns a name for a node like the one named like: with the next number that is not
// taken, if the name ends in one.
func Name(like string, taken func(name string) bool) string {
	prefix, number, digits := like+"-", int64(1), 0
	if parts := trailingNumber.FindStringSubmatch(like); parts != nil {
		if n, err := strconv.ParseInt(parts[2], 10, 32); err == nil {
			prefix, number, digits = parts[1], n, len(parts[2])
		}
	}
	for {
		number++
		if name := fmt.Sprintf("%s%0*d", prefix, digits, number); !taken(name) {
			return name
		}
	}
}

// Daemons returns copies of the pods that DaemonSets run on a node, bound to a new node like
// it.
func Daemons(like fwk.NodeInfo, name string) []*v1.Pod {
	var out []*v1.Pod
	for _, on := range like.GetPods() {
		if p := on.GetPod(); OfDaemonSet(p) {
			p = p.DeepCopy()
			p.Name = p.Name + "-on-" + name
			p.UID = types.UID(p.Namespace + "/" + p.Name)
			p.Spec.NodeName = name
			out = append(out, p)
		}
	}
	return out
}

// topologyKind is the kind of the objects in which agents report the zones of their nodes.
var topologyKind = schema.GroupVersionKind{Group: "topology.node.k8s.io", Version: "v1alpha2", Kind: "NodeResourceTopology"}

// Topology returns what the agent of a new node reports if the node like it has an agent: the same zones, in which nothing is
// taken. It returns nil if that node has none. get returns an object of the state.
func Topology(get func(gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error), like, name string) runtime.Object {
	object, err := get(topologyKind, "", like)
	if err != nil {
		return nil // the state has none, or no plugin reads them
	}
	reported, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	out := reported.DeepCopy()
	out.SetName(name)
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

// OfDaemonSet reports whether a DaemonSet made the pod, for one node.
func OfDaemonSet(pod *v1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && owner.Kind == "DaemonSet"
}
