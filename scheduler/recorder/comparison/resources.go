package comparison

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// compareResources is NodeResourcesFit's. Nearest are the nodes on which the pod would have to
// give up the least.
func compareResources(args runtime.Object, h fwk.Handle, gates feature.Features) begin {
	fit, _ := args.(*config.NodeResourcesFitArgs)
	if fit == nil {
		fit = &config.NodeResourcesFitArgs{}
	}
	ignored, ignoredGroups := sets.New(fit.IgnoredResources...), sets.New(fit.IgnoredResourceGroups...)
	return func(state fwk.CycleState, pod *v1.Pod) recorder.Comparing {
		requests, ok := upstream.RequestedResources(state)
		if !ok {
			return nil
		}
		c := &resources{
			cpu: requests.MilliCPU, memory: requests.Memory, storage: requests.EphemeralStorage,
			resizes: gates.EnableInPlacePodVerticalScalingSchedulerPreemption, pod: pod, waits: waitsForPermit(h),
		}
		for name, quantity := range requests.ScalarResources {
			group, _, _ := strings.Cut(string(name), "/")
			if quantity <= 0 || v1helper.IsExtendedResourceName(name) && (ignored.Has(string(name)) || ignoredGroups.Has(group)) {
				continue
			}
			c.scalar = append(c.scalar, scalarRequest{name, quantity, gates.EnableDRAExtendedResource && isDeviceClass(h, name)})
		}
		slices.SortFunc(c.scalar, func(a, b scalarRequest) int { return cmp.Compare(a.name, b.name) })
		return c
	}
}

func waitsForPermit(h fwk.Handle) func(*v1.Pod) bool {
	return func(pod *v1.Pod) bool { return h.GetWaitingPod(pod.UID) != nil }
}

// isDeviceClass reports whether DynamicResources allocates devices for a resource on nodes that
// lack it.
func isDeviceClass(h fwk.Handle, name v1.ResourceName) bool {
	manager := h.SharedDRAManager()
	return manager != nil && manager.DeviceClassResolver().GetDeviceClass(name) != nil
}

type resources struct {
	cpu, memory, storage int64
	// scalar are the other requests that the plugin compares, by name.
	scalar []scalarRequest
	// resizes is true if the scheduler tries pods that wait for a resize on their node.
	resizes bool
	pod     *v1.Pod
	waits   func(*v1.Pod) bool
}

type scalarRequest struct {
	name     v1.ResourceName
	quantity int64
	// devices is true if DynamicResources can provide the resource.
	devices bool
}

func (c *resources) Distance(_ fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	var lacks result.Shortage
	for r := range c.on(node) {
		if isShort(r) {
			lacks.Add(r.Requested, r.Requested+r.InUse-r.Allocatable, r.Allocatable <= 0)
		}
	}
	return lacks.Distance()
}

func (c *resources) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	without := result.PassesWithoutPods
	for r := range c.on(node) {
		if isShort(r) {
			out.Resources = append(out.Resources, r)
			if r.Requested > r.Allocatable {
				without = result.RejectsWithoutPods
			}
		}
	}
	if c.pod.Spec.NodeName == "" { // Otherwise it runs there itself.
		out.WithoutPods = without
	}
	return len(out.Resources) > 0
}

func isShort(r result.ResourceComparison) bool { return r.Requested+r.InUse > r.Allocatable }

func (c *resources) Passed(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	for r := range c.on(node) {
		out.Resources = append(out.Resources, r)
	}
	return true
}

func (c *resources) on(node fwk.NodeInfo) iter.Seq[result.ResourceComparison] {
	return func(yield func(result.ResourceComparison) bool) {
		can, used, own := node.GetAllocatable(), node.GetRequested(), c.own(node)
		check := func(name v1.ResourceName, requested, own, used, can int64) bool {
			// What the pod itself holds on the node is in use already.
			inUse := used - min(own, requested)
			return requested <= 0 || yield(result.ResourceComparison{Name: string(name), Requested: requested, InUse: inUse, Allocatable: can})
		}
		if !check(v1.ResourcePods, 1, 0, int64(len(node.GetPods())), int64(can.GetAllowedPodNumber())) ||
			!check(v1.ResourceCPU, c.cpu, own.GetMilliCPU(), used.GetMilliCPU(), can.GetMilliCPU()) ||
			!check(v1.ResourceMemory, c.memory, own.GetMemory(), used.GetMemory(), can.GetMemory()) ||
			!check(v1.ResourceEphemeralStorage, c.storage, own.GetEphemeralStorage(), used.GetEphemeralStorage(), can.GetEphemeralStorage()) {
			return
		}
		for _, r := range c.scalar {
			allocatable, held := can.GetScalarResources()[r.name], own.GetScalarResources()[r.name]
			if r.devices && allocatable <= 0 || held >= r.quantity {
				continue
			}
			if !check(r.name, r.quantity, held, used.GetScalarResources()[r.name], allocatable) {
				return
			}
		}
	}
}

// own returns what the pod itself holds on the node: something only if it waits there for a resize.
func (c *resources) own(node fwk.NodeInfo) fwk.Resource {
	if c.resizes && c.pod.Spec.NodeName == node.Node().Name {
		for _, on := range node.GetPods() {
			if on.GetPod().UID == c.pod.UID {
				return on.CalculateResource().Resource
			}
		}
	}
	return nothing
}

var nothing = &framework.Resource{}
