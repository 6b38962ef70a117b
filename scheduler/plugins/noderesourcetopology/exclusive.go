package noderesourcetopology

import (
	"iter"

	v1 "k8s.io/api/core/v1"
	v1qos "k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
)

// lasting yields the containers that stay as long as the pod: sidecars, and the others.
func lasting(pod *v1.Pod) iter.Seq[*v1.Container] {
	return func(yield func(*v1.Container) bool) {
		for i := range pod.Spec.InitContainers {
			c := &pod.Spec.InitContainers[i]
			if c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways && !yield(c) {
				return
			}
		}
		for i := range pod.Spec.Containers {
			if !yield(&pod.Spec.Containers[i]) {
				return
			}
		}
	}
}

// exclusiveRequests returns what a container holds alone: devices that the zones list or, in a
// Guaranteed pod, whole CPUs, memory and huge pages. l may be nil.
func exclusiveRequests(pod *v1.Pod, c *v1.Container, l *layout) []want {
	guaranteed := v1qos.GetPodQOS(pod) == v1.PodQOSGuaranteed
	var out []want
	for _, w := range wantsOf(amountsOf(c.Resources.Requests)) {
		switch {
		case w.name == v1.ResourceCPU && w.amount%1000 != 0:
		case isShared(w.name):
			if guaranteed {
				out = append(out, w)
			}
		case isExtended(w.name) && l != nil && l.lists(w.name):
			out = append(out, w)
		}
	}
	return out
}

// isExclusive reports whether a pod holds anything alone.
func isExclusive(pod *v1.Pod, l *layout) bool {
	for c := range lasting(pod) {
		if len(exclusiveRequests(pod, c, l)) > 0 {
			return true
		}
	}
	return false
}
