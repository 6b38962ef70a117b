// Package newnode makes a node that is like an existing one, as a node pool would: of the same size,
// with the same labels and taints, with everything that drivers, agents and DaemonSets bring to it, and
// otherwise empty.
//
// It may import Kubernetes' API types, scheduler/explain, and scheduler/standin for what virtual nodes do.
package newnode

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kube-scheduler-simulator/scheduler/standin"
)

// Node is a new node and all that comes with it.
type Node struct {
	Node *v1.Node
	// Reported are the objects in which drivers and agents describe the node: its ResourceSlices, the CSIStorageCapacities of its own
	// storage, and its NodeResourceTopology.
	Reported []runtime.Object
	// CSINode has its drivers and their attach limits; nil if the state has none for the node like it.
	CSINode *storagev1.CSINode
	// Daemons are the pods of DaemonSets on the node, after the ResourceClaims that are allocated to them.
	Daemons []runtime.Object
}

// Objects returns everything, in the order of ToCreate.
func (n *Node) Objects() []runtime.Object {
	return slices.Concat(n.Reported, n.registered(), n.Daemons)
}

// ToCreate returns what a client creates for the node to come into a cluster, in order. DaemonSets make their pods themselves, and virtual nodes
// publish what their annotations say.
func (n *Node) ToCreate() []runtime.Object {
	out := slices.DeleteFunc(slices.Clone(n.Reported), func(o runtime.Object) bool {
		labeled, ok := o.(metav1.Object)
		return ok && labeled.GetLabels()[standin.LabelVirtualDriver] != ""
	})
	return append(out, n.registered()...)
}

// registered returns the node and then its CSINode, as a kubelet creates them. The scheduler tries a pod again that lacked a place for a
// volume when a CSINode comes, and not when its node does.
func (n *Node) registered() []runtime.Object {
	if n.CSINode == nil {
		return []runtime.Object{n.Node}
	}
	return []runtime.Object{n.Node, n.CSINode}
}

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
	delete(out.Annotations, standin.AnnotationFailure)
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
