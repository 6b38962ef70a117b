package storedform

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/podgroup"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"

	// They register the kinds, with their defaults and conversions.
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

// kind is how kube-apiserver creates and changes the objects of a kind.
type kind struct {
	// resource has the version in which the scheduler reads the kind.
	resource schema.GroupVersionResource
	strategy strategy
}

// strategy is what the registry of a kind exports.
type strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

func in(group, version, resource string, strategy strategy) kind {
	return kind{schema.GroupVersionResource{Group: group, Version: version, Resource: resource}, strategy}
}

// kinds are the kinds that a scheduler or admission reads.
var kinds = map[schema.GroupKind]kind{
	{Kind: "Namespace"}:                                       in("", "v1", "namespaces", namespace.Strategy),
	{Kind: "LimitRange"}:                                      in("", "v1", "limitranges", limitrange.Strategy),
	{Kind: "Node"}:                                            in("", "v1", "nodes", node.Strategy),
	{Kind: "Pod"}:                                             in("", "v1", "pods", pod.Strategy),
	{Kind: "Service"}:                                         in("", "v1", "services", service.Strategy),
	{Kind: "PersistentVolume"}:                                in("", "v1", "persistentvolumes", persistentvolume.Strategy),
	{Kind: "PersistentVolumeClaim"}:                           in("", "v1", "persistentvolumeclaims", persistentvolumeclaim.Strategy),
	{Kind: "ReplicationController"}:                           in("", "v1", "replicationcontrollers", replicationcontroller.Strategy),
	{Group: "apps", Kind: "ReplicaSet"}:                       in("apps", "v1", "replicasets", replicaset.Strategy),
	{Group: "apps", Kind: "StatefulSet"}:                      in("apps", "v1", "statefulsets", statefulset.Strategy),
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:              in("node.k8s.io", "v1", "runtimeclasses", runtimeclass.Strategy),
	{Group: "policy", Kind: "PodDisruptionBudget"}:            in("policy", "v1", "poddisruptionbudgets", poddisruptionbudget.Strategy),
	{Group: "resource.k8s.io", Kind: "DeviceClass"}:           in("resource.k8s.io", "v1", "deviceclasses", deviceclass.Strategy),
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:         in("resource.k8s.io", "v1", "resourceclaims", resourceclaim.NewStrategy(nil, nil)),
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}: in("resource.k8s.io", "v1", "resourceclaimtemplates", resourceclaimtemplate.NewStrategy(nil)),
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}:         in("resource.k8s.io", "v1", "resourceslices", resourceslice.Strategy),
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:       in("scheduling.k8s.io", "v1", "priorityclasses", priorityclass.Strategy),
	{Group: "scheduling.k8s.io", Kind: "PodGroup"}:            in("scheduling.k8s.io", "v1beta1", "podgroups", podgroup.NewStrategy()),
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:              in("storage.k8s.io", "v1", "csidrivers", csidriver.Strategy),
	{Group: "storage.k8s.io", Kind: "CSINode"}:                in("storage.k8s.io", "v1", "csinodes", csinode.Strategy),
	{Group: "storage.k8s.io", Kind: "CSIStorageCapacity"}:     in("storage.k8s.io", "v1", "csistoragecapacities", csistoragecapacity.Strategy),
	{Group: "storage.k8s.io", Kind: "StorageClass"}:           in("storage.k8s.io", "v1", "storageclasses", storageclass.Strategy),
}
