package comparison

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/util"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// claimsOf returns the existing claims by the pod's names for them.
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

// Claims returns the devices that the pod's claims hold, by the pod's names for them. The recorder
// calls it between the writing of the allocation and the binding.
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

// compareDevices is DynamicResources'. Nearest are the nodes that lack the fewest devices of any
// class. Only devices that name their node count. Nodes without such devices come last.
func compareDevices(h fwk.Handle, gates feature.Features) begin {
	c := &deviceComparer{
		handle: h,
		gates:  gates,
		selectors: cel.NewCache(cachedSelectors, cel.Features{
			EnableConsumableCapacity: gates.EnableDRAConsumableCapacity,
			EnableListTypeAttributes: gates.EnableDRAListTypeAttributes,
		}),
	}
	return func(state fwk.CycleState, pod *v1.Pod) recorder.Comparing {
		published, err := c.published()
		if err != nil {
			return nil
		}
		return &deviceComparing{deviceComparer: c, published: published, claims: claimsOf(h, pod), resources: c.resourcesOf(state)}
	}
}

// deviceComparer belongs to a profile. Many goroutines may use it.
type deviceComparer struct {
	handle    fwk.Handle
	gates     feature.Features
	selectors *cel.Cache
}

const cachedSelectors = 50

type deviceComparing struct {
	*deviceComparer
	published publishedDevices
	claims    map[string]*resourceapi.ResourceClaim
	// resources are the extended resources that the plugin provides on nodes that lack them, by
	// name.
	resources []providedResource
}

// providedResource is the pod's request for an extended resource that has a device
// class.
type providedResource struct {
	name  v1.ResourceName
	class string
	count int64
}

func (c *deviceComparer) resourcesOf(state fwk.CycleState) []providedResource {
	if !c.gates.EnableDRAExtendedResource {
		return nil
	}
	var out []providedResource
	for name, quantity := range upstream.ExtendedResources(state) {
		if class := c.handle.SharedDRAManager().DeviceClassResolver().GetDeviceClass(name); class != nil && quantity > 0 && util.IsDRAExtendedResourceName(name) {
			out = append(out, providedResource{name, class.Name, quantity})
		}
	}
	slices.SortFunc(out, func(a, b providedResource) int { return cmp.Compare(a.name, b.name) })
	return out
}

func (c *deviceComparing) Distance(_ fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	missing := -c.published.free[node.Node().Name]
	for _, claim := range c.claims {
		if claim.Status.Allocation == nil {
			missing += devicesWanted(claim)
		}
	}
	for _, r := range c.resources {
		if !has(node, r.name) {
			missing += int(r.count)
		}
	}
	out := float64(max(missing, 0))
	if len(c.published.byNode[node.Node().Name]) == 0 {
		out += result.FarAway
	}
	return out
}

// has reports whether a node has an extended resource itself.
func has(node fwk.NodeInfo, name v1.ResourceName) bool {
	return node.GetAllocatable().GetScalarResources()[name] != 0
}

// devicesWanted returns the least number of devices that a claim wants.
func devicesWanted(claim *resourceapi.ResourceClaim) int {
	wanted := 0
	for _, r := range claim.Spec.Devices.Requests {
		if r.Exactly != nil {
			wanted += max(int(r.Exactly.Count), 1)
			continue
		}
		fewest := 0
		for i, sub := range r.FirstAvailable {
			if n := max(int(sub.Count), 1); i == 0 || n < fewest {
				fewest = n
			}
		}
		wanted += fewest
	}
	return wanted
}

// Compare counts the node's devices for each request of unallocated claims. If each request could
// be met alone and an allocated claim cannot be used on the node, it fills in that claim's
// requirements instead.
func (c *deviceComparing) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	devices := c.published.forNode(node.Node())
	drivers := byDriver(devices)
	for _, w := range c.unallocated(node) {
		if err := c.count(&w, devices); err != nil {
			return false
		}
		alone, err := c.published.allocator.Allocate(context.Background(), node.Node(), []*resourceapi.ResourceClaim{w.alone()})
		if len(alone) > 0 && !w.Enough() {
			continue // The counts do not tell, because several claims may share a device.
		}
		// A request for all devices fails if a pool is incomplete. Others fail on a device that an
		// earlier request may hold.
		blocked := err == nil && len(alone) == 0 || err != nil && w.Count == 0
		w.Drivers, w.Blocked = drivers, blocked && w.Enough()
		out.Devices = append(out.Devices, w.DeviceComparison)
	}
	short := slices.ContainsFunc(out.Devices, func(d result.DeviceComparison) bool { return !d.Enough() })
	if terms := c.elsewhere(node.Node()); len(terms) > 0 && !short {
		*out = result.Comparison{Terms: terms}
		return true
	}
	return len(out.Devices) > 0
}

func (c *deviceComparing) elsewhere(n *v1.Node) []result.TermComparison {
	var out []result.TermComparison
	for _, name := range slices.Sorted(maps.Keys(c.claims)) {
		if a := c.claims[name].Status.Allocation; a != nil {
			terms := parseSelector(a.NodeSelector, "claim").unmet(n)
			for i := range terms {
				terms[i].Claim = c.claims[name].Name
			}
			out = append(out, terms...)
		}
	}
	return out
}

// wantedDevices is a request, or one of its alternatives.
type wantedDevices struct {
	result.DeviceComparison
	request resourceapi.ExactDeviceRequest
}

func (w *wantedDevices) alone() *resourceapi.ResourceClaim {
	return &resourceapi.ResourceClaim{Spec: resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{
		Requests: []resourceapi.DeviceRequest{{Name: "alone", Exactly: &w.request}},
	}}}
}

// unallocated returns the requests of unallocated claims, by claim, then in the order of requests
// and alternatives, and then the extended resources that the node lacks.
func (c *deviceComparing) unallocated(node fwk.NodeInfo) []wantedDevices {
	var out []wantedDevices
	add := func(claim, name string, r resourceapi.ExactDeviceRequest) {
		out = append(out, wantedDevices{result.DeviceComparison{Claim: claim, Request: name, DeviceClass: r.DeviceClassName, Count: r.Count}, r})
	}
	for _, name := range slices.Sorted(maps.Keys(c.claims)) {
		claim := c.claims[name]
		if claim.Status.Allocation != nil {
			continue
		}
		for i := range claim.Spec.Devices.Requests {
			r := &claim.Spec.Devices.Requests[i]
			if r.Exactly != nil {
				add(name, r.Name, *r.Exactly)
			}
			for _, sub := range r.FirstAvailable {
				add(name, r.Name+"/"+sub.Name, resourceapi.ExactDeviceRequest{
					DeviceClassName: sub.DeviceClassName, Selectors: sub.Selectors, AllocationMode: sub.AllocationMode, Count: sub.Count,
					Tolerations: sub.Tolerations, Capacity: sub.Capacity,
				})
			}
		}
	}
	for _, r := range c.resources {
		if !has(node, r.name) {
			out = append(out, wantedDevices{
				result.DeviceComparison{Resource: string(r.name), DeviceClass: r.class, Count: r.count},
				resourceapi.ExactDeviceRequest{DeviceClassName: r.class, AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: r.count},
			})
		}
	}
	return out
}

// Passed counts the node's devices as Compare does, and adds those that the plugin found
// for each request. It leaves out alternatives that the plugin did not choose.
func (c *deviceComparing) Passed(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	for _, name := range slices.Sorted(maps.Keys(c.claims)) {
		if a := c.claims[name].Status.Allocation; a != nil {
			terms := parseSelector(a.NodeSelector, "claim").met(node.Node())
			out.Terms = append(out.Terms, of(result.ClaimComparison{Claim: c.claims[name].Name}, terms)...)
		}
	}
	wanted := c.unallocated(node)
	if len(wanted) == 0 {
		return true
	}
	found := c.allocated(state, node.Node().Name)
	devices := c.published.forNode(node.Node())
	for _, w := range wanted {
		w.Allocated = found(w.DeviceComparison)
		if len(w.Allocated) == 0 {
			if strings.Contains(w.Request, "/") || w.Count == 0 {
				continue
			}
			return false
		}
		if err := c.count(&w, devices); err != nil {
			return false
		}
		w.Drivers = byDriver(devices)
		out.Devices = append(out.Devices, w.DeviceComparison)
	}
	return true
}

func (c *deviceComparing) allocated(state fwk.CycleState, node string) func(of result.DeviceComparison) []result.AllocatedDevice {
	allocations, _ := upstream.DeviceAllocations(state, node)
	claims := slices.DeleteFunc(slices.Clone(upstream.DeviceClaims(state)), func(claim *resourceapi.ResourceClaim) bool { return claim.Status.Allocation != nil })
	extended := upstream.ExtendedResourceClaim(state, node)
	return func(of result.DeviceComparison) (out []result.AllocatedDevice) {
		for i := range min(len(claims), len(allocations)) {
			for _, d := range allocations[i].Devices.Results {
				mine := of.Resource == "" && claims[i] == c.claims[of.Claim] && d.Request == of.Request
				if of.Resource != "" && i == len(claims)-1 {
					mine = classOf(extended, d.Request) == of.DeviceClass
				}
				if mine {
					out = append(out, result.AllocatedDevice{Request: d.Request, Driver: d.Driver, Pool: d.Pool, Device: d.Device})
				}
			}
		}
		return out
	}
}

func classOf(claim *resourceapi.ResourceClaim, request string) string {
	if claim != nil {
		for i := range claim.Spec.Devices.Requests {
			if r := &claim.Spec.Devices.Requests[i]; r.Name == request && r.Exactly != nil {
				return r.Exactly.DeviceClassName
			}
		}
	}
	return ""
}

// count counts the devices that match the selectors of the request and its class, and how many are
// in use. A request for administrative access also gets devices in use.
func (c *deviceComparer) count(w *wantedDevices, devices []nodeDevice) error {
	class, err := c.handle.SharedDRAManager().DeviceClasses().Get(w.DeviceClass)
	if err != nil {
		return err
	}
	selectors := slices.Concat(class.Spec.Selectors, w.request.Selectors)
	for _, d := range devices {
		// If a selector fails on a device, the plugin has not asked about the device: it would have
		// failed too.
		if matches, err := c.matches(selectors, d); err != nil || !matches {
			continue
		}
		w.Matching++
		if d.inUse && !ptr.Deref(w.request.AdminAccess, false) {
			w.MatchingInUse++
		}
	}
	return nil
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

type nodeDevice struct {
	*resourceapi.Device
	driver string
	inUse  bool
}

type publishedDevices struct {
	byNode map[string][]*resourceapi.ResourceSlice
	others []*resourceapi.ResourceSlice
	inUse  sets.Set[structured.DeviceID]
	// free counts the devices in byNode that are not in use.
	free map[string]int
	// allocator is like the plugin's.
	allocator structured.Allocator
}

func (c *deviceComparer) published() (out publishedDevices, err error) {
	manager := c.handle.SharedDRAManager()
	all, err := manager.ResourceSlices().ListWithDeviceTaintRules()
	if err != nil {
		return out, err
	}
	allocated := &structured.AllocatedState{AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](), AggregatedCapacity: structured.NewConsumedCapacityCollection()}
	if c.gates.EnableDRAConsumableCapacity {
		allocated, err = manager.ResourceClaims().GatherAllocatedState()
	} else {
		allocated.AllocatedDevices, err = manager.ResourceClaims().ListAllAllocatedDevices()
	}
	if err != nil {
		return out, err
	}
	out.inUse = allocated.AllocatedDevices
	out.allocator, err = structured.NewAllocator(context.Background(), dynamicresources.AllocatorFeatures(c.gates), *allocated, manager.DeviceClasses(), all, c.selectors)
	if err != nil {
		return out, err
	}
	out.byNode, out.free = map[string][]*resourceapi.ResourceSlice{}, map[string]int{}
	for _, s := range all {
		if partitions := s.Spec.PerDeviceNodeSelection != nil || len(s.Spec.SharedCounters) > 0; partitions && !c.gates.EnableDRAPartitionableDevices {
			continue // The allocator ignores it.
		}
		node := ptr.Deref(s.Spec.NodeName, "")
		if node == "" {
			out.others = append(out.others, s)
			continue
		}
		out.byNode[node] = append(out.byNode[node], s)
		for i := range s.Spec.Devices {
			if !out.inUse.Has(structured.MakeDeviceID(s.Spec.Driver, s.Spec.Pool.Name, s.Spec.Devices[i].Name)) {
				out.free[node]++
			}
		}
	}
	return out, nil
}

// forNode leaves out outdated slices.
func (p *publishedDevices) forNode(node *v1.Node) []nodeDevice {
	type pool struct{ driver, name string }
	newest := map[pool]int64{}
	var relevant []*resourceapi.ResourceSlice
	for _, s := range slices.Concat(p.byNode[node.Name], p.others) {
		of := pool{s.Spec.Driver, s.Spec.Pool.Name}
		if !isRelevant(node, s) {
			continue
		}
		relevant = append(relevant, s)
		newest[of] = max(newest[of], s.Spec.Pool.Generation)
	}
	var out []nodeDevice
	for _, s := range relevant {
		if s.Spec.Pool.Generation < newest[pool{s.Spec.Driver, s.Spec.Pool.Name}] {
			continue
		}
		each := ptr.Deref(s.Spec.PerDeviceNodeSelection, false)
		for i := range s.Spec.Devices {
			d := &s.Spec.Devices[i]
			if !each || isFor(node, d.NodeName, d.AllNodes, d.NodeSelector) {
				out = append(out, nodeDevice{d, s.Spec.Driver, p.inUse.Has(structured.MakeDeviceID(s.Spec.Driver, s.Spec.Pool.Name, d.Name))})
			}
		}
	}
	return out
}

func isRelevant(node *v1.Node, s *resourceapi.ResourceSlice) bool {
	if !ptr.Deref(s.Spec.PerDeviceNodeSelection, false) {
		return isFor(node, s.Spec.NodeName, s.Spec.AllNodes, s.Spec.NodeSelector)
	}
	return slices.ContainsFunc(s.Spec.Devices, func(d resourceapi.Device) bool { return isFor(node, d.NodeName, d.AllNodes, d.NodeSelector) })
}

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
