package provider

import (
	"maps"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kwok "sigs.k8s.io/karpenter/kwok/apis"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// class is the class of nodes that the provider supports.
var class = schema.GroupKind{Group: kwok.Group, Kind: "KWOKNodeClass"}

// DefaultClass is the name of the class of nodes of a NodePool that names none.
const DefaultClass = "default"

// UseClass makes a NodePool name the provider's class of nodes, because any cloud's is as good here. Its nodes keep the label of the class
// that it named.
func UseClass(np *karpenter.NodePool) {
	of := np.Spec.Template.Spec.NodeClassRef
	if of != nil && of.GroupKind() != class {
		labels := map[string]string{karpenter.NodeClassLabelKey(of.GroupKind()): of.Name}
		maps.Copy(labels, np.Spec.Template.Labels)
		np.Spec.Template.Labels = labels
	}
	np.Spec.Template.Spec.NodeClassRef = classRef(of)
}

// UseClassOfClaim does the same for a NodeClaim.
func UseClassOfClaim(claim *karpenter.NodeClaim) {
	claim.Spec.NodeClassRef = classRef(claim.Spec.NodeClassRef)
}

func classRef(of *karpenter.NodeClassReference) *karpenter.NodeClassReference {
	name := DefaultClass
	if of != nil {
		name = of.Name
	}
	return &karpenter.NodeClassReference{Group: class.Group, Kind: class.Kind, Name: name}
}

// LabelClass gives a node of a NodePool the label by which Karpenter knows the provider's nodes.
func LabelClass(node *v1.Node) {
	key := karpenter.NodeClassLabelKey(class)
	if _, has := node.Labels[key]; !has && node.Labels[karpenter.NodePoolLabelKey] != "" {
		node.Labels[key] = DefaultClass
	}
}
