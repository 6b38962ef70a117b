package comparison

import (
	"cmp"
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/dynamic-resource-allocation/cel"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
)

// claimsOf returns the pod's existing claims as the scheduler knows them, by the
// pod's names for them.
func claimsOf(h fwk.Handle, pod *v1.Pod) map[string]*resourceapi.ResourceClaim {
	manager := h.SharedDRAManager()
	if manager == nil || len(pod.Spec.ResourceClaims) == 0 {
		return nil
	}
	out := map[string]*resourceapi.ResourceClaim{}
	for _, ref := range pod.Spec.ResourceClaims {
		name := ref.ResourceClaimName
		for i := range pod.Status.ResourceClaimStatuses {
			if s := &pod.Status.ResourceClaimStatuses[i]; s.Name == ref.Name && name == nil {
				name = s.ResourceClaimName // created from a template
			}
		}
		if name == nil {
			continue
		}
		if claim, err := manager.ResourceClaims().Get(pod.Namespace, *name); err == nil {
			out[ref.Name] = claim
		}
	}
	return out
}

// Claims returns the devices that the pod's claims hold, by the pod's names for them.
// The recorder calls it when the allocation has been written, before the pod is bound.
func (InTree) Claims(h fwk.Handle, pod *v1.Pod) []result.ClaimAllocation {
	var out []result.ClaimAllocation
	for name, claim := range claimsOf(h, pod) {
		allocation := result.ClaimAllocation{Name: name, Claim: claim.Name, Devices: []result.AllocatedDevice{}}
		if a := claim.Status.Allocation; a != nil {
			for _, d := range a.Devices.Results {
				allocation.Devices = append(allocation.Devices, result.AllocatedDevice{Request: d.Request, Driver: d.Driver, Pool: d.Pool, Device: d.Device})
			}
		}
		out = append(out, allocation)
	}
	slices.SortFunc(out, func(a, b result.ClaimAllocation) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// deviceComparer compares the requests of claims with the devices of a node. Each
// profile has one; many goroutines may use it.
type deviceComparer struct {
	// selectors are compiled CEL expressions.
	selectors *cel.Cache
}

// cachedSelectors bounds the cache of compiled expressions.
const cachedSelectors = 50

func newDeviceComparer() *deviceComparer {
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	return &deviceComparer{cel.NewCache(cachedSelectors, cel.Features{
		EnableConsumableCapacity: gates.EnableDRAConsumableCapacity,
		EnableListTypeAttributes: gates.EnableDRAListTypeAttributes,
	})}
}

// compare counts the node's devices for each request of the claims that are not
// allocated yet.
func (c *deviceComparer) compare(h fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	wanted := unallocated(h, pod)
	if len(wanted) == 0 {
		return nil
	}
	devices, err := devicesFor(h, node.Node())
	if err != nil {
		return nil
	}
	out := &result.Comparison{}
	for _, w := range wanted {
		w.Drivers = byDriver(devices)
		w.Matching, w.MatchingInUse, err = c.count(h, w, devices)
		if err != nil {
			return nil
		}
		out.Devices = append(out.Devices, w.DeviceComparison)
	}
	return out
}

// wantedDevices is a request, or one of its alternatives.
type wantedDevices struct {
	result.DeviceComparison
	selectors []resourceapi.DeviceSelector
	// admin requests get devices that are in use, too.
	admin bool
}

// unallocated returns the requests of the pod's unallocated claims, by claim and
// then in the order of the requests, in which alternatives are tried.
func unallocated(h fwk.Handle, pod *v1.Pod) []wantedDevices {
	var out []wantedDevices
	for name, claim := range claimsOf(h, pod) {
		if claim.Status.Allocation != nil {
			continue
		}
		for i := range claim.Spec.Devices.Requests {
			r := &claim.Spec.Devices.Requests[i]
			if e := r.Exactly; e != nil {
				out = append(out, wantedDevices{
					result.DeviceComparison{Claim: name, Request: r.Name, DeviceClass: e.DeviceClassName, Count: e.Count},
					e.Selectors, ptr.Deref(e.AdminAccess, false),
				})
			}
			for _, sub := range r.FirstAvailable {
				out = append(out, wantedDevices{
					result.DeviceComparison{Claim: name, Request: r.Name + "/" + sub.Name, DeviceClass: sub.DeviceClassName, Count: sub.Count},
					sub.Selectors, false,
				})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b wantedDevices) int { return cmp.Compare(a.Claim, b.Claim) })
	return out
}

// count returns how many devices match the selectors of the request and of its
// class, and how many of those are in use.
func (c *deviceComparer) count(h fwk.Handle, w wantedDevices, devices []nodeDevice) (matching, inUse int, err error) {
	class, err := h.SharedDRAManager().DeviceClasses().Get(w.DeviceClass)
	if err != nil {
		return 0, 0, err
	}
	selectors := slices.Concat(class.Spec.Selectors, w.selectors)
	for _, d := range devices {
		matches, err := c.matches(selectors, d)
		if err != nil {
			return 0, 0, err
		}
		if !matches {
			continue
		}
		matching++
		if d.inUse && !w.admin {
			inUse++
		}
	}
	return matching, inUse, nil
}

func (c *deviceComparer) matches(selectors []resourceapi.DeviceSelector, d nodeDevice) (bool, error) {
	for _, s := range selectors {
		if s.CEL == nil {
			return false, nil
		}
		compiled := c.selectors.GetOrCompile(s.CEL.Expression)
		if compiled.Error != nil {
			return false, compiled.Error
		}
		matches, _, err := compiled.DeviceMatches(context.Background(), cel.Device{
			Driver: d.driver, AllowMultipleAllocations: d.AllowMultipleAllocations, Attributes: d.Attributes, Capacity: d.Capacity,
		})
		if err != nil || !matches {
			return false, err
		}
	}
	return true, nil
}

// nodeDevice is a device that can be used on a node.
type nodeDevice struct {
	*resourceapi.Device
	driver string
	inUse  bool
}

// devicesFor returns the devices for a node.
func devicesFor(h fwk.Handle, node *v1.Node) ([]nodeDevice, error) {
	published, err := h.SharedDRAManager().ResourceSlices().ListWithDeviceTaintRules()
	if err != nil {
		return nil, err
	}
	allocated, err := h.SharedDRAManager().ResourceClaims().ListAllAllocatedDevices()
	if err != nil {
		return nil, err
	}
	type key struct{ driver, pool, device string }
	inUse := make(map[key]bool, len(allocated))
	for id := range allocated {
		inUse[key{id.Driver.String(), id.Pool.String(), id.Device.String()}] = true
	}
	var out []nodeDevice
	for _, s := range published {
		each := ptr.Deref(s.Spec.PerDeviceNodeSelection, false)
		if !each && !isFor(node, s.Spec.NodeName, s.Spec.AllNodes, s.Spec.NodeSelector) {
			continue
		}
		for i := range s.Spec.Devices {
			d := &s.Spec.Devices[i]
			if each && !isFor(node, d.NodeName, d.AllNodes, d.NodeSelector) {
				continue
			}
			out = append(out, nodeDevice{d, s.Spec.Driver, inUse[key{s.Spec.Driver, s.Spec.Pool.Name, d.Name}]})
		}
	}
	return out, nil
}

// byDriver counts devices by their driver.
func byDriver(devices []nodeDevice) []result.DriverDevices {
	var out []result.DriverDevices
	for _, d := range devices {
		i := slices.IndexFunc(out, func(of result.DriverDevices) bool { return of.Driver == d.driver })
		if i < 0 {
			i = len(out)
			out = append(out, result.DriverDevices{Driver: d.driver})
		}
		out[i].OnNode++
		if d.inUse {
			out[i].InUse++
		}
	}
	slices.SortFunc(out, func(a, b result.DriverDevices) int { return cmp.Compare(a.Driver, b.Driver) })
	return out
}

// isFor reports whether devices with this node, allNodes or selector can be used on a
// node.
func isFor(node *v1.Node, name *string, all *bool, selector *v1.NodeSelector) bool {
	switch {
	case name != nil:
		return *name == node.Name
	case all != nil && *all:
		return true
	case selector != nil:
		s, err := nodeaffinity.NewNodeSelector(selector)
		return err == nil && s.Match(node)
	}
	return false
}
