// Package sharedpods lets informers of one program share the large parts of a pod that each of them decodes for itself.
// In a large cluster, the pods are most of what an informer keeps.
//
// It may import Kubernetes' API types only.
package sharedpods

import (
	"maps"
	"sync"
	"weak"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pool knows the latest decoded version of each pod, without keeping it in memory. Its methods may be called from any
// goroutine. A nil Pool shares nothing.
type Pool struct {
	mu    sync.Mutex
	pods  map[types.UID]weak.Pointer[v1.Pod]
	parts podParts
	// sweepAt is the number of entries at which those of pods that are gone are removed.
	sweepAt int
}

// Share makes pod use the labels, the spec and the status of an equal pod that another informer has decoded: one with
// the same UID, resource version and phase, of the same API server. Otherwise it offers those of pod, after it has
// replaced the parts that other pods have, too. Annotations and the rest of the metadata stay pod's own. Call it from an
// informer's transform, because readers of informers never change their objects.
//
// The phase matters because the scheduler watches only pods that have not ended. When a pod ends, the API server
// reports to that watch that the pod was deleted, and gives the state before with the resource version after
// (convertToWatchEvent in k8s.io/apiserver/pkg/storage/cacher). A watch with another selector may not share.
func (p *Pool) Share(pod *v1.Pod) {
	if p == nil || pod.UID == "" || pod.ResourceVersion == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.pods[pod.UID].Value()
	if known == pod {
		return
	}
	if known != nil && known.ResourceVersion == pod.ResourceVersion && known.Status.Phase == pod.Status.Phase {
		pod.Labels, pod.Spec, pod.Status = known.Labels, known.Spec, known.Status
		return
	}
	if p.pods == nil {
		p.pods = map[types.UID]weak.Pointer[v1.Pod]{}
	}
	p.parts.share(pod)
	p.pods[pod.UID] = weak.Make(pod)
	p.sweep()
}

// leastSweep bounds how often an almost empty pool is swept.
const leastSweep = 1024

// sweep removes the entries of pods that are gone each time that the pool has doubled.
func (p *Pool) sweep() {
	if len(p.pods) < max(p.sweepAt, leastSweep) {
		return
	}
	for uid, pod := range p.pods {
		if pod.Value() == nil {
			delete(p.pods, uid)
		}
	}
	p.sweepAt = 2 * len(p.pods)
}

// podParts are the large parts that pods of one template have in common.
type podParts struct {
	labels       Parts[map[string]string]
	containers   Parts[[]v1.Container]
	tolerations  Parts[[]v1.Toleration]
	requirements Parts[*v1.ResourceRequirements]
	allocated    Parts[v1.ResourceList]
}

func (p *podParts) share(pod *v1.Pod) {
	p.labels.Share(&pod.Labels, maps.Equal)
	p.containers.Share(&pod.Spec.Containers, DeepEqual)
	p.tolerations.Share(&pod.Spec.Tolerations, DeepEqual)
	p.requirements.Share(&pod.Status.Resources, DeepEqual)
	p.allocated.Share(&pod.Status.AllocatedResources, maps.Equal)
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		p.requirements.Share(&status.Resources, DeepEqual)
		p.allocated.Share(&status.AllocatedResources, maps.Equal)
	}
}
