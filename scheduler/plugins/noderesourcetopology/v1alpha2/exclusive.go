package v1alpha2

import (
	"iter"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	v1qos "k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
)

// Lasting yields the containers that stay as long as the pod: sidecars, and then the others.
func Lasting(pod *v1.Pod) iter.Seq[*v1.Container] {
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

// IsShared reports whether a resource is one that pods share unless they are Guaranteed: CPU,
// memory and huge pages.
func IsShared(name v1.ResourceName) bool {
	return name == v1.ResourceCPU || name == v1.ResourceMemory || v1helper.IsHugePageResourceName(name)
}

// IsDevice reports whether a resource is not one of Kubernetes' own.
func IsDevice(name v1.ResourceName) bool { return !v1helper.IsNativeResource(name) }

// Exclusive yields what a container of a pod holds alone on the node of t: devices that its
// zones list or, if the pod is Guaranteed, whole CPUs, memory and huge pages. t may be nil.
func (t *NodeResourceTopology) Exclusive(pod *v1.Pod, c *v1.Container) iter.Seq2[v1.ResourceName, resource.Quantity] {
	guaranteed := v1qos.GetPodQOS(pod) == v1.PodQOSGuaranteed
	return func(yield func(v1.ResourceName, resource.Quantity) bool) {
		for name, quantity := range c.Resources.Requests {
			holds := false
			switch {
			case quantity.Sign() <= 0:
			case name == v1.ResourceCPU:
				holds = guaranteed && quantity.MilliValue()%1000 == 0
			case IsShared(name):
				holds = guaranteed
			case IsDevice(name):
				holds = t != nil && t.Lists(name)
			}
			if holds && !yield(name, quantity) {
				return
			}
		}
	}
}

// ExclusiveContainers returns the containers of a pod that hold anything alone on the node of
// t. Init containers that end do not count. t may be nil.
func (t *NodeResourceTopology) ExclusiveContainers(pod *v1.Pod) (out []ContainerID) {
	for c := range Lasting(pod) {
		for range t.Exclusive(pod, c) {
			out = append(out, ContainerID{pod.Namespace, pod.Name, c.Name})
			break
		}
	}
	return out
}
