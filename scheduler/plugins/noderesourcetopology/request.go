package noderesourcetopology

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	v1qos "k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
)

// want is an amount of a resource, in the units of zone.available. A resource of which a part
// requests 0 counts in scores, where zones must list it; Filter ignores it.
type want struct {
	name   v1.ResourceName
	amount int64
}

// Role is what a container of a pod is.
type Role string

// The roles. Pod is for the pod as a whole.
const (
	Pod     Role = "pod"
	Init    Role = "init container"
	Sidecar Role = "sidecar container"
	App     Role = "container"
)

// part must come from one zone.
type part struct {
	role  Role
	name  string // of the container
	wants []want // by name
}

// request is what PreFilter finds out about a pod.
type request struct {
	guaranteed bool
	// unaligned: the topology manager has nothing to align for the pod.
	unaligned bool
	// parts are the init containers and then the others, each in order.
	parts []part
	whole part
	// topologies are the plugin's, for MisfitOn.
	topologies topologies
	// victims are pods that a dry run of preemption has removed.
	victims []*v1.Pod
}

var _ fwk.StateData = (*request)(nil)

// Clone copies what dry runs change.
func (r *request) Clone() fwk.StateData {
	out := *r
	out.victims = slices.Clone(r.victims)
	return &out
}

func requestOf(pod *v1.Pod) *request {
	qos := v1qos.GetPodQOS(pod)
	r := &request{guaranteed: qos == v1.PodQOSGuaranteed}
	whole, devices := map[v1.ResourceName]int64{}, false
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		for name, quantity := range c.Resources.Requests {
			whole[name] += units(name, quantity)
		}
		devices = devices || asksForDevices(c)
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		for name, quantity := range c.Resources.Requests {
			whole[name] = max(whole[name], units(name, quantity))
		}
		devices = devices || asksForDevices(c)
		role := Init
		if c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways {
			role = Sidecar
		}
		r.parts = append(r.parts, part{role: role, name: c.Name, wants: wantsOf(amountsOf(c.Resources.Requests))})
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		r.parts = append(r.parts, part{role: App, name: c.Name, wants: wantsOf(amountsOf(c.Resources.Requests))})
	}
	for name, quantity := range pod.Spec.Overhead {
		whole[name] += units(name, quantity)
	}
	r.whole = part{role: Pod, wants: wantsOf(whole)}
	r.unaligned = qos == v1.PodQOSBestEffort && !devices
	return r
}

func amountsOf(list v1.ResourceList) map[v1.ResourceName]int64 {
	out := make(map[v1.ResourceName]int64, len(list))
	for name, quantity := range list {
		out[name] = units(name, quantity)
	}
	return out
}

func wantsOf(amounts map[v1.ResourceName]int64) []want {
	out := make([]want, 0, len(amounts))
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		out = append(out, want{name, amounts[name]})
	}
	return out
}

func asksForDevices(c *v1.Container) bool {
	for name := range c.Resources.Requests {
		if v1alpha2.IsDevice(name) {
			return true
		}
	}
	return false
}

// isOfTheHost reports whether a resource that no zone lists belongs to the node as a whole.
func isOfTheHost(name v1.ResourceName) bool {
	return name == v1.ResourceEphemeralStorage || name == v1.ResourceStorage || v1alpha2.IsDevice(name)
}
