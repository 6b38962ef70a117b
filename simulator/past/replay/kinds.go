package replay

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Kind is a kind of object that recordings hold.
type Kind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Resource is the plural name in the API.
	Resource   string `json:"resource"`
	Namespaced bool   `json:"namespaced"`
}

// GVK returns the kind with its group and version.
func (k Kind) GVK() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
}

// GVR returns the resource with its group and version.
func (k Kind) GVR() schema.GroupVersionResource {
	return k.GVK().GroupVersion().WithResource(k.Resource)
}

// RecordedKinds are the kinds that schedulers look at, in the order in which the
// player creates their objects. Secrets and ConfigMaps are not among them, and are
// never read. ReplicaSets and their like are, because default topology spreading
// takes its selector from them; a recording holds that selector only.
func RecordedKinds() []Kind {
	var recorded []Kind
	for _, k := range objects.Kinds(objects.Recorded) {
		recorded = append(recorded, Kind{
			APIVersion: schema.GroupVersion{Group: k.Group, Version: k.Version}.String(), Kind: k.Kind, Resource: k.Resource, Namespaced: k.Namespaced,
		})
	}
	// No controller adopts the pods of a replay, so pods come after everything else,
	// workloads and templates of resource claims included.
	slices.SortStableFunc(recorded, func(a, b Kind) int {
		switch {
		case a == podKind && b != podKind:
			return 1
		case b == podKind && a != podKind:
			return -1
		}
		return 0
	})
	return recorded
}

var (
	namespaceKind = Kind{APIVersion: "v1", Kind: "Namespace", Resource: "namespaces"}
	nodeKind      = Kind{APIVersion: "v1", Kind: "Node", Resource: "nodes"}
	podKind       = Kind{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
)
