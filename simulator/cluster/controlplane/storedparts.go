package controlplane

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/core"

	"kube-scheduler-simulator/scheduler/sharedpods"
)

// storedParts lets the pods and nodes of a watch cache share what many of them have in common.
// The cache's readers must not change them.
type storedParts struct {
	labels       sharedpods.Parts[map[string]string]
	fields       sharedpods.Parts[*metav1.FieldsV1]
	containers   sharedpods.Parts[[]core.Container]
	tolerations  sharedpods.Parts[[]core.Toleration]
	requirements sharedpods.Parts[*core.ResourceRequirements]
	resources    sharedpods.Parts[core.ResourceList]
}

func (p *storedParts) share(object runtime.Object) {
	switch o := object.(type) {
	case *core.Pod:
		p.labels.Share(&o.Labels, maps.Equal)
		p.managed(o.ManagedFields)
		p.containers.Share(&o.Spec.Containers, sharedpods.DeepEqual)
		p.tolerations.Share(&o.Spec.Tolerations, sharedpods.DeepEqual)
		p.requirements.Share(&o.Status.Resources, sharedpods.DeepEqual)
		p.resources.Share(&o.Status.AllocatedResources, maps.Equal)
		for i := range o.Status.ContainerStatuses {
			status := &o.Status.ContainerStatuses[i]
			p.requirements.Share(&status.Resources, sharedpods.DeepEqual)
			p.resources.Share(&status.AllocatedResources, maps.Equal)
		}
	case *core.Node:
		p.managed(o.ManagedFields)
		p.resources.Share(&o.Status.Capacity, maps.Equal)
		p.resources.Share(&o.Status.Allocatable, maps.Equal)
	}
}

func (p *storedParts) managed(entries []metav1.ManagedFieldsEntry) {
	for i := range entries {
		p.fields.Share(&entries[i].FieldsV1, func(a, b *metav1.FieldsV1) bool { return a == b || a != nil && b != nil && a.Equal(*b) })
	}
}
