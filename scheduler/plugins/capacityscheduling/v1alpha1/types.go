// Package v1alpha1 has the API type of scheduling.x-k8s.io/v1alpha1 that the plugin
// CapacityScheduling reads. It may import apimachinery and Kubernetes' API types only.
package v1alpha1

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var ElasticQuotas = schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "elasticquotas"}

// ElasticQuota is the quota of a namespace. There should be one per namespace.
type ElasticQuota struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ElasticQuotaSpec   `json:"spec,omitempty"`
	Status ElasticQuotaStatus `json:"status,omitempty"`
}

// ElasticQuotaSpec is what the namespace is entitled to.
type ElasticQuotaSpec struct {
	// Min is guaranteed. A resource that is not in it has 0.
	Min v1.ResourceList `json:"min,omitempty"`
	// Max is the limit, borrowed resources included. Without it, nothing is limited.
	// With it, cpu, memory and ephemeral-storage are limited to 0 unless it names them,
	// and other resources are unlimited unless it names them.
	Max v1.ResourceList `json:"max,omitempty"`
}

// ElasticQuotaStatus is written by the controller. The plugin does not read it.
type ElasticQuotaStatus struct {
	// Used are the requests of the namespace's running pods.
	Used v1.ResourceList `json:"used,omitempty"`
}

var _ runtime.Object = (*ElasticQuota)(nil)

// DeepCopyObject returns a copy.
func (q *ElasticQuota) DeepCopyObject() runtime.Object {
	out := *q
	out.ObjectMeta = *q.ObjectMeta.DeepCopy()
	out.Spec = ElasticQuotaSpec{Min: q.Spec.Min.DeepCopy(), Max: q.Spec.Max.DeepCopy()}
	out.Status.Used = q.Status.Used.DeepCopy()
	return &out
}
