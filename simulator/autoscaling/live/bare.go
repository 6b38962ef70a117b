package live

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// BarePods are pods without a controller: nothing creates them again after Karpenter has evicted them.
type BarePods struct {
	Pods int `json:"pods"`
	// Examples are up to three of them, as namespace/name, in order.
	Examples []string `json:"examples"`
	// NodePools are those whose nodes Karpenter takes away while pods are on them, in order. Without one, nothing is evicted.
	NodePools []string `json:"nodePools"`
}

// maxExamples is how many bare pods are named.
const maxExamples = 3

// Bare counts the bare pods that Karpenter may evict to save money.
func Bare(pods []*v1.Pod, pools []*karpenter.NodePool) BarePods {
	found := BarePods{Examples: []string{}, NodePools: []string{}}
	for _, pool := range pools {
		if pool.Spec.Disruption.ConsolidationPolicy != karpenter.ConsolidationPolicyWhenEmpty {
			found.NodePools = append(found.NodePools, pool.Name)
		}
	}
	slices.Sort(found.NodePools)
	for _, pod := range pods {
		if metav1.GetControllerOf(pod) != nil || pod.Annotations[karpenter.DoNotDisruptAnnotationKey] == "true" || podutil.IsPodTerminal(pod) {
			continue
		}
		found.Pods++
		found.Examples = append(found.Examples, pod.Namespace+"/"+pod.Name)
	}
	slices.Sort(found.Examples)
	found.Examples = found.Examples[:min(len(found.Examples), maxExamples)]
	return found
}
