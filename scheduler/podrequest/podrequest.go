// Package podrequest says how the amount of a resource that a pod requests, or holds on its node,
// follows from its containers: which of them run at the same time when the pod needs the most,
// whether the request of the pod itself counts instead, and what a resize that is not complete
// makes of it.
//
// The amounts themselves are those of Kubernetes (k8s.io/component-helpers/resource and the
// scheduler's CalculateResource). This package finds the containers behind them; its tests hold
// each sum to Kubernetes' own. It may import scheduler/result only.
package podrequest

import (
	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/features"
	schedutil "k8s.io/kubernetes/pkg/scheduler/util"

	"kube-scheduler-simulator/scheduler/result"
)

// Of returns how a pod's request for a resource follows from its spec, as NodeResourcesFit
// counts it in Filter.
func Of(pod *v1.Pod, name v1.ResourceName) result.PodRequest { return derive(pod, name, 0, inSpec) }

// Scored returns the same as the scores of NodeResourcesFit count it: a container that requests
// no CPU or no memory counts a small amount, unless the pod itself requests some.
func Scored(pod *v1.Pod, name v1.ResourceName) result.PodRequest {
	return derive(pod, name, Default(name), inSpec)
}

// Default returns what a container counts in the scores of NodeResourcesFit if it does not
// request the resource; 0 for all but CPU and memory.
func Default(name v1.ResourceName) int64 {
	switch name {
	case v1.ResourceCPU:
		return schedutil.DefaultMilliCPURequest
	case v1.ResourceMemory:
		return schedutil.DefaultMemoryRequest
	}
	return 0
}

// Plain reports whether every request of the pod is that of its only container.
func Plain(pod *v1.Pod) bool {
	s := &pod.Spec
	return len(s.Containers) == 1 && len(s.InitContainers) == 0 && s.Overhead == nil && s.Resources == nil
}

// Amount returns the amount of a list in the units of result.ResourceComparison.
func Amount(list v1.ResourceList, name v1.ResourceName) int64 {
	quantity := list[name]
	if name == v1.ResourceCPU {
		return quantity.MilliValue()
	}
	return quantity.Value()
}

// requested returns a container's requests, which its status may hold.
type requested func(c *v1.Container, status *v1.ContainerStatus) v1.ResourceList

func inSpec(c *v1.Container, _ *v1.ContainerStatus) v1.ResourceList { return c.Resources.Requests }

// derive follows aggregateContainerResourcesByFn and PodRequests of component-helpers.
func derive(pod *v1.Pod, name v1.ResourceName, missing int64, of requested) result.PodRequest {
	out := result.PodRequest{Resource: string(name), Overhead: Amount(pod.Spec.Overhead, name)}
	if level, ok := podLevel(pod, name); ok {
		out.PodLevel, out.Amount = &level, level+out.Overhead
		return out
	}
	part := func(c *v1.Container, role string) result.RequestPart {
		requests := of(c, statusOf(&pod.Status, c.Name))
		p := result.RequestPart{Container: c.Name, Role: role, Amount: Amount(requests, name)}
		if _, asked := requests[name]; !asked && missing > 0 {
			p.Amount, p.Default = missing, true
		}
		return p
	}
	var sidecars, peak []result.RequestPart
	var most int64
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if restarts(c) {
			sidecars = append(sidecars, part(c, result.RoleSidecar))
			continue
		}
		together := append([]result.RequestPart{part(c, result.RoleInit)}, sidecars...)
		if amount := sum(together); amount > most {
			most, peak, out.Init = amount, together, c.Name
		}
	}
	running := make([]result.RequestPart, 0, len(pod.Spec.Containers)+len(sidecars))
	for i := range pod.Spec.Containers {
		running = append(running, part(&pod.Spec.Containers[i], result.RoleContainer))
	}
	running = append(running, sidecars...)
	if amount := sum(running); amount >= most {
		most, peak, out.Init = amount, running, ""
	}
	for _, p := range peak {
		if p.Amount > 0 {
			out.Parts = append(out.Parts, p)
		}
	}
	out.Amount = most + out.Overhead
	return out
}

// podLevel returns the request of the pod itself, which counts instead of its containers'.
func podLevel(pod *v1.Pod, name v1.ResourceName) (int64, bool) {
	r := pod.Spec.Resources
	if r == nil || !utilfeature.DefaultFeatureGate.Enabled(features.PodLevelResources) || !resourcehelper.IsPodLevelRequestsSet(pod) ||
		!resourcehelper.IsSupportedPodLevelResource(name) {
		return 0, false
	}
	_, ok := r.Requests[name]
	return Amount(r.Requests, name), ok
}

func restarts(c *v1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
}

func sum(parts []result.RequestPart) (total int64) {
	for _, p := range parts {
		total += p.Amount
	}
	return total
}

// Asked returns what the pod's spec asks for, whatever was granted.
func Asked(pod *v1.Pod, name v1.ResourceName) int64 { return derive(pod, name, 0, inSpec).Amount }

// ResizeOf returns the resize of a pod that is not complete, or nil. held is what the scheduler
// counts for the pod.
func ResizeOf(pod *v1.Pod, name v1.ResourceName, held int64) *result.Resize {
	if !reported(&pod.Status) || settled(pod, name) {
		return nil
	}
	asked := Asked(pod, name)
	granted := held
	if held == asked {
		granted = grantedTo(pod, name)
	}
	if granted == asked {
		return nil
	}
	out := &result.Resize{Asked: asked, Granted: granted, State: result.ResizeInProgress}
	switch {
	case resourcehelper.IsPodResizeInfeasible(pod):
		out.State = result.ResizeInfeasible
	case resourcehelper.IsPodResizeDeferred(pod):
		out.State = result.ResizeDeferred
	}
	return out
}

// settled reports whether the status of each container says what its spec says, which is quick to
// tell and true of most pods.
func settled(pod *v1.Pod, name v1.ResourceName) bool {
	if pod.Status.AllocatedResources != nil || pod.Status.Resources != nil {
		return false
	}
	for _, list := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			asked := Amount(list[i].Resources.Requests, name)
			s := statusOf(&pod.Status, list[i].Name)
			if s == nil {
				continue
			}
			if s.AllocatedResources != nil && Amount(s.AllocatedResources, name) != asked {
				return false
			}
			if s.Resources != nil && s.Resources.Requests != nil && Amount(s.Resources.Requests, name) != asked {
				return false
			}
		}
	}
	return true
}

// grantedTo returns the larger of what the kubelet has admitted and what it has configured. Where
// the status does not say, the spec counts.
func grantedTo(pod *v1.Pod, name v1.ResourceName) int64 {
	status := &pod.Status
	if level, ok := podLevel(pod, name); ok {
		if status.AllocatedResources == nil && (status.Resources == nil || status.Resources.Requests == nil) {
			return level + Amount(pod.Spec.Overhead, name)
		}
		granted := Amount(status.AllocatedResources, name)
		if status.Resources != nil {
			granted = max(granted, Amount(status.Resources.Requests, name))
		}
		return granted + Amount(pod.Spec.Overhead, name)
	}
	allocated := derive(pod, name, 0, func(c *v1.Container, s *v1.ContainerStatus) v1.ResourceList {
		if s != nil && s.AllocatedResources != nil {
			return s.AllocatedResources
		}
		return c.Resources.Requests
	})
	actuated := derive(pod, name, 0, func(c *v1.Container, s *v1.ContainerStatus) v1.ResourceList {
		switch {
		case s != nil && s.Resources != nil && s.Resources.Requests != nil:
			return s.Resources.Requests
		case s != nil && s.AllocatedResources != nil:
			return s.AllocatedResources
		}
		return c.Resources.Requests
	})
	return max(allocated.Amount, actuated.Amount)
}

func statusOf(s *v1.PodStatus, container string) *v1.ContainerStatus {
	for _, list := range [][]v1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == container {
				return &list[i]
			}
		}
	}
	return nil
}

// reported reports whether the status says what was granted.
func reported(s *v1.PodStatus) bool {
	if s.AllocatedResources != nil || s.Resources != nil {
		return true
	}
	for _, list := range [][]v1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses} {
		for i := range list {
			if list[i].AllocatedResources != nil || list[i].Resources != nil {
				return true
			}
		}
	}
	return false
}
