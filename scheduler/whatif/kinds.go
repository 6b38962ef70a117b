package whatif

import (
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	nodeKind          = v1.SchemeGroupVersion.WithKind("Node")
	podKind           = v1.SchemeGroupVersion.WithKind("Pod")
	claimKind         = resourcev1.SchemeGroupVersion.WithKind("ResourceClaim")
	claimTemplateKind = resourcev1.SchemeGroupVersion.WithKind("ResourceClaimTemplate")
	sliceKind         = resourcev1.SchemeGroupVersion.WithKind("ResourceSlice")
	podGroupKind      = schedulingv1beta1.SchemeGroupVersion.WithKind("PodGroup")
	priorityClassKind = schedulingv1.SchemeGroupVersion.WithKind("PriorityClass")
)

// reads reports whether the scheduler reads objects of a kind, or the engine does, in order to make new pods.
func (r *Replica) reads(gvk schema.GroupVersionKind) bool {
	return gvk == claimTemplateKind || gvk == priorityClassKind || r.world.Read(gvk)
}

// accessorOf returns the metadata of an object of a kind that the world knows: all of them have it.
func accessorOf(o runtime.Object) metav1.Object {
	accessor, err := meta.Accessor(o)
	if err != nil {
		return &metav1.ObjectMeta{}
	}
	return accessor
}
