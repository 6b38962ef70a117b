package replay

import "k8s.io/apimachinery/pkg/runtime/schema"

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

// RecordedKinds are the kinds that schedulers read, in the order in which their objects are
// created. Secrets and ConfigMaps are not among them and are never read. ReplicaSets and
// similar kinds are recorded because default topology spreading uses their selectors; a
// recording holds only the selector. Resource claim templates precede the pods that refer to
// them, and pods come last.
func RecordedKinds() []Kind {
	return []Kind{
		namespaceKind,
		{"scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", false},
		{"storage.k8s.io/v1", "StorageClass", "storageclasses", false},
		{"storage.k8s.io/v1", "CSIDriver", "csidrivers", false},
		{"node.k8s.io/v1", "RuntimeClass", "runtimeclasses", false},
		{"resource.k8s.io/v1", "DeviceClass", "deviceclasses", false},
		{"v1", "Service", "services", true},
		{"v1", "ReplicationController", "replicationcontrollers", true},
		{"apps/v1", "ReplicaSet", "replicasets", true},
		{"apps/v1", "StatefulSet", "statefulsets", true},
		{"v1", "PersistentVolume", "persistentvolumes", false},
		{"v1", "PersistentVolumeClaim", "persistentvolumeclaims", true},
		nodeKind,
		{"storage.k8s.io/v1", "CSINode", "csinodes", false},
		{"storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities", true},
		{"resource.k8s.io/v1", "ResourceSlice", "resourceslices", false},
		{"resource.k8s.io/v1", "ResourceClaim", "resourceclaims", true},
		{"resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates", true},
		{"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true},
		podKind,
	}
}

var (
	namespaceKind = Kind{APIVersion: "v1", Kind: "Namespace", Resource: "namespaces"}
	nodeKind      = Kind{APIVersion: "v1", Kind: "Node", Resource: "nodes"}
	podKind       = Kind{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
)
