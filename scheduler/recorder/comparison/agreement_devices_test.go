package comparison

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
)

func TestDevicesAgreeWithThePlugin(t *testing.T) { devicesAgreement().test(t) }

// Cases that are rare in random clusters.
func TestRareDevicesAgreeWithThePlugin(t *testing.T) {
	device := func(name string, change func(*resourceapi.Device)) resourceapi.Device {
		d := resourceapi.Device{Name: name, Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{"size": {StringValue: ptr.To("small")}}}
		change(&d)
		return d
	}
	exactly := func(class string, memory int64) func(*resourceapi.ResourceClaim) {
		r := &resourceapi.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: 1}
		if memory > 0 {
			r.Capacity = &resourceapi.CapacityRequirements{Requests: map[resourceapi.QualifiedName]resource.Quantity{"memory": *resource.NewQuantity(memory, resource.DecimalSI)}}
		}
		return func(claim *resourceapi.ResourceClaim) {
			claim.Spec.Devices.Requests = []resourceapi.DeviceRequest{{Name: "r", Exactly: r}}
		}
	}
	shared := device("shared", func(d *resourceapi.Device) {
		d.AllowMultipleAllocations = ptr.To(true)
		d.Capacity = map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{"memory": {Value: resource.MustParse("4")}}
	})
	for name, tc := range map[string]struct {
		devices []resourceapi.Device
		fill    func(c *cluster)
		fits    bool
	}{
		"a selector fails on a device that an earlier request got": {
			[]resourceapi.Device{device("plain", func(*resourceapi.Device) {}), device("linked", func(d *resourceapi.Device) {
				d.Attributes = map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{"size": {StringValue: ptr.To("large")}, "links": {StringValues: []string{"fast"}}}
			})},
			func(c *cluster) {
				c.resourceClaim("claim0", exactly("small", 0))
				c.resourceClaim("claim1", exactly("fast", 0))
			}, true,
		},
		"too much of a shared device is in use": {
			[]resourceapi.Device{shared}, func(c *cluster) {
				c.use("n0", shared, "used", 3)
				c.resourceClaim("claim0", exactly("small", 2))
			}, false,
		},
		"enough of a shared device is left": {
			[]resourceapi.Device{shared}, func(c *cluster) {
				c.use("n0", shared, "used", 2)
				c.resourceClaim("claim0", exactly("small", 2))
			}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{
				gates: featuregatetesting.FeatureOverrides{features.DRAConsumableCapacity: true, features.DRAListTypeAttributes: true},
				nodes: []*v1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n0"}}}, pod: pod("p", ""), args: &config.DynamicResourcesArgs{}, dra: manager,
			}
			c.deviceClasses(map[string]string{"small": small, "fast": fast})
			c.objects = append(c.objects, &resourceapi.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "n0"}, Spec: resourceapi.ResourceSliceSpec{
				Driver: "d.example.com", Pool: resourceapi.ResourcePool{Name: "n0", Generation: 1, ResourceSliceCount: 1}, NodeName: ptr.To("n0"), Devices: tc.devices,
			}})
			tc.fill(c)
			if answers := devicesAgreement().run(t, c, 0); len(answers) != 1 || answers[0].status.IsSuccess() != tc.fits {
				t.Errorf("the plugin says %+v", answers)
			}
		})
	}
}

func devicesAgreement() agreement {
	return agreement{
		plugin: names.DynamicResources, clusters: 1500, generate: deviceCluster, verify: verifyDevices,
		mayFail: true, // if a request for all devices meets an incomplete pool
		// A request may get devices by another alternative.
		short: func(found *result.Comparison) bool {
			return len(found.Terms) > 0 || slices.ContainsFunc(found.Devices, func(d result.DeviceComparison) bool {
				return !strings.Contains(d.Request, "/") && !d.Enough()
			})
		},
		passed: func(s *subject, a answer) error {
			wanted := 0
			for _, o := range s.cluster.objects {
				if claim, ok := o.(*resourceapi.ResourceClaim); ok && claim.Status.Allocation == nil {
					wanted += len(claim.Spec.Devices.Requests)
				}
			}
			for _, container := range s.cluster.pod.Spec.Containers {
				for name := range container.Resources.Requests {
					if a.node.GetAllocatable().GetScalarResources()[name] == 0 {
						wanted++
					}
				}
			}
			if len(a.passed.Devices) != wanted {
				return fmt.Errorf("of %d requests it names %d", wanted, len(a.passed.Devices))
			}
			return nil
		},
	}
}

// manager makes the manager that the scheduler has.
func manager(ctx context.Context, t *testing.T, factory informers.SharedInformerFactory) fwk.SharedDRAManager {
	t.Helper()
	claims := assumecache.NewAssumeCache(klog.Background(), factory.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	slices, err := tracker.StartTracker(ctx, tracker.Options{SliceInformer: factory.Resource().V1().ResourceSlices(), KubeClient: idle})
	if err != nil {
		t.Fatal(err)
	}
	made := dynamicresources.NewDRAManager(ctx, claims, slices, factory)
	// As the scheduler's event handlers do.
	if _, err := factory.Resource().V1().DeviceClasses().Informer().AddEventHandler(made.DeviceClassResolver().(cache.ResourceEventHandler)); err != nil {
		t.Fatal(err)
	}
	return made
}

// deviceCluster has small and large devices on most nodes, some of them in use, in
// outdated slices, tainted or to be shared, and others for several nodes.
func deviceCluster(r random) *cluster {
	c := &cluster{nodes: labelledNodes(r, 5), pod: pod("p", ""), args: &config.DynamicResourcesArgs{}, dra: manager, gates: gates(r, features.DRAConsumableCapacity, features.DRAListTypeAttributes, features.DRAPartitionableDevices, features.DRADeviceTaints)}
	selectors := map[string]string{"any": "true", "small": small, "large": `device.attributes["d.example.com"].size == "large"`}
	if c.gates[features.DRAConsumableCapacity] {
		selectors["shareable"] = `device.allowMultipleAllocations == true`
	} else {
		c.gates[features.DRAFractionalCapacityRange] = false
	}
	if !c.gates[features.DRADeviceTaints] {
		c.gates[features.DRADeviceTaintRules] = false
	}
	if c.gates[features.DRAListTypeAttributes] {
		selectors["fast"] = fast
	}
	c.deviceClasses(selectors)
	if r.in(3) {
		c.pod = requesting("d.example.com/"+one(r, "small", "large"), 1+r.Int64N(2))
		for _, n := range c.nodes {
			if r.in(3) {
				n.Status.Allocatable = v1.ResourceList{"d.example.com/small": resource.MustParse("5")}
			}
		}
	}
	sharing := r.in(6)
	for _, n := range c.nodes {
		if r.in(6) {
			continue
		}
		c.slice(r, n.Name, sharing, 1, func(s *resourceapi.ResourceSliceSpec) { s.NodeName = &n.Name })
		if r.in(6) {
			c.slice(r, n.Name, sharing, 0, func(s *resourceapi.ResourceSliceSpec) { s.NodeName = &n.Name })
		}
	}
	if r.in(3) {
		c.slice(r, "zonal", sharing, 1, func(s *resourceapi.ResourceSliceSpec) {
			s.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpIn, Values: []string{"z0"}}}}}}
		})
	}
	if r.in(3) {
		c.slice(r, "network", sharing, 1, func(s *resourceapi.ResourceSliceSpec) {
			s.PerDeviceNodeSelection = ptr.To(true)
			for i := range s.Devices {
				if s.Devices[i].NodeName = ptr.To(one(r, "n0", "n1")); r.in(3) {
					s.Devices[i].NodeName, s.Devices[i].AllNodes = nil, ptr.To(true)
				}
			}
		})
	}
	for i := range r.IntN(3) {
		c.resourceClaim(fmt.Sprint("claim", i), func(claim *resourceapi.ResourceClaim) {
			for j := range 1 + r.IntN(2) {
				claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, request(r, fmt.Sprint("r", j), slices.Sorted(maps.Keys(selectors)), sharing && c.gates[features.DRAConsumableCapacity]))
			}
			if r.in(6) {
				claim.Spec.Devices.Constraints = []resourceapi.DeviceConstraint{{MatchAttribute: ptr.To(resourceapi.FullyQualifiedName("d.example.com/size"))}}
			}
		})
	}
	if r.in(4) {
		c.resourceClaim("held", func(claim *resourceapi.ResourceClaim) {
			claim.Status.Allocation = &resourceapi.AllocationResult{NodeSelector: reachable(r)}
		})
	}
	return c
}

// Selectors of devices. The second one fails on a device without links.
const (
	small = `device.attributes["d.example.com"].size == "small"`
	fast  = `device.attributes["d.example.com"].links.includes("fast")`
)

func (c *cluster) deviceClasses(selectors map[string]string) {
	for class, selector := range selectors {
		c.objects = append(c.objects, &resourceapi.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Spec: resourceapi.DeviceClassSpec{
			Selectors:            []resourceapi.DeviceSelector{{CEL: &resourceapi.CELDeviceSelector{Expression: selector}}},
			ExtendedResourceName: ptr.To("d.example.com/" + class),
		}})
	}
}

// slice publishes random devices, and has others use some of them.
func (c *cluster) slice(r random, pool string, sharing bool, generation int64, where func(*resourceapi.ResourceSliceSpec)) {
	s := &resourceapi.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(pool, "-", generation)}, Spec: resourceapi.ResourceSliceSpec{
		Driver: "d.example.com", Pool: resourceapi.ResourcePool{Name: pool, Generation: generation, ResourceSliceCount: 1},
	}}
	if r.in(10) {
		s.Spec.Pool.ResourceSliceCount = 2
	}
	partitioned := r.in(8)
	for i := range r.IntN(6) {
		d := resourceapi.Device{Name: fmt.Sprint("dev", i), Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{"size": {StringValue: ptr.To(one(r, "small", "large"))}}}
		if r.in(8) {
			d.Taints = []resourceapi.DeviceTaint{{Key: "broken", Effect: resourceapi.DeviceTaintEffectNoSchedule}}
		}
		if c.gates[features.DRAListTypeAttributes] && r.in(2) {
			d.Attributes["links"] = resourceapi.DeviceAttribute{StringValues: one(r, []string{"slow"}, []string{"slow", "fast"})}
		}
		if partitioned {
			d.ConsumesCounters = []resourceapi.DeviceCounterConsumption{{CounterSet: "card", Counters: map[string]resourceapi.Counter{"slices": {Value: *resource.NewQuantity(1+r.Int64N(2), resource.DecimalSI)}}}}
		} else if sharing && r.in(2) {
			d.AllowMultipleAllocations = ptr.To(true)
			if c.gates[features.DRAConsumableCapacity] {
				d.Capacity = map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{"memory": {Value: resource.MustParse("4")}}
			}
		}
		s.Spec.Devices = append(s.Spec.Devices, d)
		if r.in(3) {
			c.use(pool, d, fmt.Sprint("used-", pool, "-", generation, "-", i), 1+r.Int64N(4))
		}
	}
	where(&s.Spec)
	if partitioned {
		// The devices are parts of one card, and compete for its slices.
		counters := s.DeepCopy()
		counters.Name += "-counters"
		counters.Spec.Devices = nil
		counters.Spec.SharedCounters = []resourceapi.CounterSet{{Name: "card", Counters: map[string]resourceapi.Counter{"slices": {Value: resource.MustParse("4")}}}}
		s.Spec.Pool.ResourceSliceCount++
		counters.Spec.Pool.ResourceSliceCount = s.Spec.Pool.ResourceSliceCount
		c.objects = append(c.objects, counters)
	}
	c.objects = append(c.objects, s)
}

// use allocates a device, or that much of its memory, to a claim of another pod.
func (c *cluster) use(pool string, d resourceapi.Device, name string, memory int64) {
	held := resourceapi.DeviceRequestAllocationResult{Request: "r", Driver: "d.example.com", Pool: pool, Device: d.Name}
	if ptr.Deref(d.AllowMultipleAllocations, false) {
		held.ShareID = ptr.To(types.UID("11111111-2222-3333-4444-555555555555"))
		if d.Capacity != nil {
			held.ConsumedCapacity = map[resourceapi.QualifiedName]resource.Quantity{"memory": *resource.NewQuantity(memory, resource.DecimalSI)}
		}
	}
	c.objects = append(c.objects, &resourceapi.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Status:     resourceapi.ResourceClaimStatus{Allocation: &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{Results: []resourceapi.DeviceRequestAllocationResult{held}}}},
	})
}

// resourceClaim adds a claim and the pod's use of it.
func (c *cluster) resourceClaim(name string, change func(*resourceapi.ResourceClaim)) {
	claim := &resourceapi.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	change(claim)
	c.objects = append(c.objects, claim)
	c.pod.Spec.ResourceClaims = append(c.pod.Spec.ResourceClaims, v1.PodResourceClaim{Name: name, ResourceClaimName: ptr.To(name)})
}

// request is one for devices of a random class, or for a part of the memory of one.
func request(r random, name string, classes []string, memory bool) resourceapi.DeviceRequest {
	exactly := resourceapi.ExactDeviceRequest{DeviceClassName: one(r, classes...), AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: 1 + r.Int64N(2)}
	switch r.IntN(6) {
	case 0:
		exactly.AllocationMode, exactly.Count = resourceapi.DeviceAllocationModeAll, 0
	case 1:
		exactly.AdminAccess = ptr.To(true)
	case 2:
		sub := func(name string) resourceapi.DeviceSubRequest {
			return resourceapi.DeviceSubRequest{Name: name, DeviceClassName: one(r, "small", "large"), AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: 1 + r.Int64N(2)}
		}
		return resourceapi.DeviceRequest{Name: name, FirstAvailable: []resourceapi.DeviceSubRequest{sub("a"), sub("b")}}
	}
	if memory && r.in(2) {
		exactly.Capacity = &resourceapi.CapacityRequirements{Requests: map[resourceapi.QualifiedName]resource.Quantity{"memory": *resource.NewQuantity(1+r.Int64N(3), resource.DecimalSI)}}
	}
	return resourceapi.DeviceRequest{Name: name, Exactly: &exactly}
}

// verifyDevices asks the plugin for each request that seems to lack devices alone.
func verifyDevices(s *subject, a answer) error {
	for _, term := range a.found.Terms {
		if err := verifyTerm(term, a.node.Node()); err != nil {
			return err
		}
		if status := s.filter(claiming(term.Claim), a.node); !status.IsRejected() {
			return fmt.Errorf("with claim %s alone the plugin says %v", term.Claim, status)
		}
	}
	for _, d := range a.found.Devices {
		if visible := s.visibleDevices(a.node.Node().Name); len(d.Drivers) > 0 && d.Drivers[0].OnNode > visible {
			return fmt.Errorf("of %d devices it counts %d", visible, d.Drivers[0].OnNode)
		}
		status := s.alone(d, a)
		if status.Code() == fwk.Error {
			continue
		}
		if d.Blocked && d.Count > int64(d.Matching-d.MatchingInUse) {
			return fmt.Errorf("request %s of claim %s is called blocked, and is short of devices", d.Request, d.Claim)
		}
		if status.IsSuccess() != d.Enough() {
			return fmt.Errorf("for request %s of claim %s alone the plugin says %v", d.Request, d.Claim, status)
		}
	}
	return nil
}

// visibleDevices returns how many devices a node can have at most. Without the gate, the
// plugin ignores slices of partitionable devices, and of devices with nodes of their own.
func (s *subject) visibleDevices(node string) int {
	n := 0
	for _, o := range s.cluster.objects {
		slice, ok := o.(*resourceapi.ResourceSlice)
		if !ok || ptr.Deref(slice.Spec.NodeName, node) != node {
			continue
		}
		if s.cluster.gates[features.DRAPartitionableDevices] || slice.Spec.PerDeviceNodeSelection == nil && len(slice.Spec.SharedCounters) == 0 {
			n += len(slice.Spec.Devices)
		}
	}
	return n
}

func requesting(name string, count int64) *v1.Pod {
	p := pod("p", "")
	p.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceName(name): *resource.NewQuantity(count, resource.DecimalSI)}}}}
	return p
}

func claiming(name string) *v1.Pod {
	p := pod("p", "")
	p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: name, ResourceClaimName: ptr.To(name)}}
	return p
}

// alone filters the node for a pod that has nothing but one request, or alternative, of
// a claim.
func (s *subject) alone(d result.DeviceComparison, a answer) *fwk.Status {
	if d.Resource != "" {
		return s.filter(requesting(d.Resource, d.Count), a.node)
	}
	c := *s.cluster
	c.objects = append(c.objects[:len(c.objects):len(c.objects)], &resourceapi.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "alone", UID: "alone"},
		Spec:       resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{Requests: []resourceapi.DeviceRequest{s.requestOf(d)}}},
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return build(ctx, s.t, names.DynamicResources, &c).filter(claiming("alone"), a.node)
}

// requestOf returns the request that a comparison is about; an alternative becomes a
// request of its own.
func (s *subject) requestOf(d result.DeviceComparison) resourceapi.DeviceRequest {
	for _, o := range s.cluster.objects {
		claim, ok := o.(*resourceapi.ResourceClaim)
		if !ok || claim.Name != d.Claim {
			continue
		}
		for _, r := range claim.Spec.Devices.Requests {
			if r.Name == d.Request {
				return r
			}
			for _, sub := range r.FirstAvailable {
				if r.Name+"/"+sub.Name == d.Request {
					return resourceapi.DeviceRequest{Name: "r", Exactly: &resourceapi.ExactDeviceRequest{DeviceClassName: sub.DeviceClassName, AllocationMode: sub.AllocationMode, Count: sub.Count}}
				}
			}
		}
	}
	panic("no request " + d.Request)
}
