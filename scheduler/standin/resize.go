package standin

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// A pod's node grants it resources, and notes them in the pod's status. A resize asks for others. A
// kubelet keeps its grants in a file; this code reads them from each container's status, which says
// the same except between the grant of a resize and its completion.

// grantedTo returns the pod's own resources and the sum of its requests, as a kubelet reports them.
func grantedTo(pod *corev1.Pod) (*corev1.ResourceRequirements, corev1.ResourceList) {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	limits := resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{})
	own := &corev1.ResourceRequirements{}
	if pod.Spec.Resources != nil {
		own = pod.Spec.Resources.DeepCopy()
	}
	own.Requests, own.Limits = requests, limits
	return own, requests.DeepCopy()
}

// asGranted returns the status of a container with its resources from the pod's status.
func asGranted(s corev1.ContainerStatus, pod *corev1.Pod) corev1.ContainerStatus {
	if before := statusOf(pod, s.Name); before != nil && before.Resources != nil {
		s.Resources, s.AllocatedResources = before.Resources.DeepCopy(), before.AllocatedResources.DeepCopy()
	}
	return s
}

func statusOf(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, all := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		if i := slices.IndexFunc(all, func(s corev1.ContainerStatus) bool { return s.Name == name }); i >= 0 {
			return &all[i]
		}
	}
	return nil
}

// resizable calls do for each container that can be resized. It stops and reports false when do
// does.
func resizable(pod *corev1.Pod, do func(*corev1.Container, *corev1.ContainerStatus) bool) bool {
	each := func(c *corev1.Container) bool {
		status := statusOf(pod, c.Name)
		return status == nil || status.Resources == nil || do(c, status)
	}
	for i := range pod.Spec.Containers {
		if !each(&pod.Spec.Containers[i]) {
			return false
		}
	}
	for i := range pod.Spec.InitContainers {
		if podutil.IsRestartableInitContainer(&pod.Spec.InitContainers[i]) && !each(&pod.Spec.InitContainers[i]) {
			return false
		}
	}
	return true
}

// Granted returns the pod with the resources that its node has granted instead of those that it
// requests, and whether they differ. It does not change pod.
func Granted(pod *corev1.Pod) (granted *corev1.Pod, differ bool) {
	resized := !resizable(pod, func(c *corev1.Container, s *corev1.ContainerStatus) bool {
		return equality.Semantic.DeepEqual(c.Resources.Requests, grantedRequests(s)) && equality.Semantic.DeepEqual(c.Resources.Limits, s.Resources.Limits)
	})
	own := ownGranted(pod)
	if !resized && equality.Semantic.DeepEqual(own, pod.Spec.Resources) {
		return pod, false
	}
	granted = pod.DeepCopy()
	granted.Spec.Resources = own
	resizable(granted, func(c *corev1.Container, s *corev1.ContainerStatus) bool {
		c.Resources.Requests, c.Resources.Limits = grantedRequests(s).DeepCopy(), s.Resources.Limits.DeepCopy()
		return true
	})
	return granted, true
}

// grantedRequests are what the node has granted, even while it carries out a resize.
func grantedRequests(s *corev1.ContainerStatus) corev1.ResourceList {
	if s.AllocatedResources != nil {
		return s.AllocatedResources
	}
	return s.Resources.Requests
}

// ownGranted returns what the node has granted of the resources that the pod itself names.
func ownGranted(pod *corev1.Pod) *corev1.ResourceRequirements {
	if pod.Spec.Resources == nil || pod.Status.Resources == nil {
		return pod.Spec.Resources
	}
	own := pod.Spec.Resources.DeepCopy()
	for name := range own.Requests {
		if amount, ok := pod.Status.AllocatedResources[name]; ok {
			own.Requests[name] = withoutOverhead(pod, name, amount)
		}
	}
	for name := range own.Limits {
		if amount, ok := pod.Status.Resources.Limits[name]; ok {
			own.Limits[name] = withoutOverhead(pod, name, amount)
		}
	}
	return own
}

// withoutOverhead subtracts the pod's overhead, which the sums in a status include.
func withoutOverhead(pod *corev1.Pod, name corev1.ResourceName, amount resource.Quantity) resource.Quantity {
	amount = amount.DeepCopy()
	if overhead, ok := pod.Spec.Overhead[name]; ok {
		amount.Sub(overhead)
	}
	return amount
}

// Condition returns a condition of a pod, or nil.
func Condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// Resizes reports whether a node must act on the resources of a running pod.
func Resizes(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
		return false
	}
	if Condition(pod, corev1.PodResizePending) != nil || Condition(pod, corev1.PodResizeInProgress) != nil {
		return true
	}
	_, differ := Granted(pod)
	return differ
}

// ResizeGranted is the status of a pod whose node grants what it requests, before the containers
// change.
func ResizeGranted(pod *corev1.Pod, now metav1.Time) *PodStatus {
	s := &PodStatus{ObservedGeneration: pod.Generation, Conditions: []corev1.PodCondition{{
		Type: corev1.PodResizeInProgress, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now, ObservedGeneration: pod.Generation,
	}}}
	s.ContainerStatuses, s.InitContainerStatuses = statusesWith(pod, func(c *corev1.Container, status *corev1.ContainerStatus) {
		status.AllocatedResources = c.Resources.Requests.DeepCopy()
	})
	_, s.AllocatedResources = grantedTo(pod)
	return s
}

// ResizeDone is the status of a pod whose containers have what its node granted. Some restart by
// their resize policy.
func ResizeDone(pod *corev1.Pod, now metav1.Time) *PodStatus {
	s := &PodStatus{}
	s.ContainerStatuses, s.InitContainerStatuses = statusesWith(pod, func(c *corev1.Container, status *corev1.ContainerStatus) {
		next := corev1.ResourceRequirements{Requests: grantedRequests(status).DeepCopy(), Limits: c.Resources.Limits.DeepCopy(), Claims: c.Resources.Claims}
		if restarts(c, status.Resources, &next) && status.State.Running != nil {
			last := terminated(*c, status.RestartCount, killedExitCode, status.State.Running.StartedAt, now).State
			*status = started(*c, status.RestartCount+1, now)
			status.LastTerminationState = last
		}
		status.Resources, status.AllocatedResources = &next, next.Requests.DeepCopy()
	})
	s.Resources, s.AllocatedResources = grantedTo(pod)
	return s
}

func restarts(c *corev1.Container, from, to *corev1.ResourceRequirements) bool {
	return slices.ContainsFunc(c.ResizePolicy, func(p corev1.ContainerResizePolicy) bool {
		changes := func(from, to corev1.ResourceList) bool {
			before, after := from[p.ResourceName], to[p.ResourceName]
			return before.Cmp(after) != 0
		}
		return p.RestartPolicy == corev1.RestartContainer && (changes(from.Requests, to.Requests) || changes(from.Limits, to.Limits))
	})
}

// statusesWith returns copies of the containers' and init containers' statuses, with edit applied
// to resizable ones.
func statusesWith(pod *corev1.Pod, edit func(*corev1.Container, *corev1.ContainerStatus)) (containers, inits []corev1.ContainerStatus) {
	next := pod.DeepCopy()
	resizable(next, func(c *corev1.Container, s *corev1.ContainerStatus) bool {
		edit(c, s)
		return true
	})
	return next.Status.ContainerStatuses, next.Status.InitContainerStatuses
}
