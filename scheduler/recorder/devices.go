package recorder

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// claimsOf returns the pod's claims that exist, by the pod's names for them, as the
// scheduler knows them.
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
				name = s.ResourceClaimName // made by a template
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

// noteClaims notes what the pod's claims hold. It is called when DynamicResources
// has written that, before the pod is bound.
func (c *cycle) noteClaims(h fwk.Handle, pod *v1.Pod) {
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
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claims = out
}

// compareDevices counts the devices of the node beside what the claims want that
// are not allocated yet.
func compareDevices(h fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	out := &result.Comparison{}
	for name, claim := range claimsOf(h, pod) {
		if claim.Status.Allocation != nil {
			continue
		}
		for i := range claim.Spec.Devices.Requests {
			r := &claim.Spec.Devices.Requests[i]
			d := result.DeviceComparison{Claim: name, Request: r.Name}
			if r.Exactly != nil {
				d.DeviceClass, d.Count = r.Exactly.DeviceClassName, r.Exactly.Count
			} else if len(r.FirstAvailable) > 0 {
				d.DeviceClass, d.Count = r.FirstAvailable[0].DeviceClassName, r.FirstAvailable[0].Count
			}
			out.Devices = append(out.Devices, d)
		}
	}
	if len(out.Devices) == 0 {
		return nil
	}
	slices.SortFunc(out.Devices, func(a, b result.DeviceComparison) int {
		return cmp.Or(cmp.Compare(a.Claim, b.Claim), cmp.Compare(a.Request, b.Request))
	})
	drivers, err := devicesOn(h, node.Node())
	if err != nil {
		return nil
	}
	for i := range out.Devices {
		out.Devices[i].Drivers = drivers
	}
	return out
}

// devicesOn counts the devices for a node, by driver.
func devicesOn(h fwk.Handle, node *v1.Node) ([]result.DriverDevices, error) {
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
	var out []result.DriverDevices
	for _, s := range published {
		if !isFor(s, node) {
			continue
		}
		i := slices.IndexFunc(out, func(d result.DriverDevices) bool { return d.Driver == s.Spec.Driver })
		if i < 0 {
			i = len(out)
			out = append(out, result.DriverDevices{Driver: s.Spec.Driver})
		}
		for _, d := range s.Spec.Devices {
			out[i].OnNode++
			if inUse[key{s.Spec.Driver, s.Spec.Pool.Name, d.Name}] {
				out[i].InUse++
			}
		}
	}
	slices.SortFunc(out, func(a, b result.DriverDevices) int { return cmp.Compare(a.Driver, b.Driver) })
	return out, nil
}

// isFor reports whether a slice's devices can be used on a node.
func isFor(s *resourceapi.ResourceSlice, node *v1.Node) bool {
	switch {
	case s.Spec.NodeName != nil:
		return *s.Spec.NodeName == node.Name
	case s.Spec.AllNodes != nil && *s.Spec.AllNodes:
		return true
	case s.Spec.NodeSelector != nil:
		selector, err := nodeaffinity.NewNodeSelector(s.Spec.NodeSelector)
		return err == nil && selector.Match(node)
	}
	return false
}
