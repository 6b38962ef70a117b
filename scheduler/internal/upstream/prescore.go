package upstream

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
)

// This file reads what plugins wrote in PreScore, and what they wrote in Filter for
// Score.

func preScoreOf(state fwk.CycleState, plugin string) reflect.Value {
	return written(state, fwk.StateKey("PreScore"+plugin))
}

func written(state fwk.CycleState, key fwk.StateKey) reflect.Value {
	data, err := state.Read(key)
	if err != nil {
		return reflect.Value{}
	}
	return reflect.ValueOf(data)
}

// ScoredRequests returns the pod's requests for the resources in a plugin's arguments, in their
// order, as NodeResourcesFit or NodeResourcesBalancedAllocation added them up. devices is true if
// the plugin also counts devices that DynamicResources provides.
func ScoredRequests(state fwk.CycleState, plugin string) (requests []int64, devices, ok bool) {
	data := preScoreOf(state, plugin)
	requests, ok = valueOf[[]int64](field(data, "podRequests"))
	counted := field(data, "draPreScoreState")
	return requests, counted.IsValid() && !counted.IsNil(), ok
}

// SpreadScoring is what PodTopologySpread knows in Score. The lists and maps belong to
// the plugin: do not change them.
type SpreadScoring struct {
	Constraints []SpreadConstraint
	// Counts are the matching pods by domain, one map for each constraint. For a constraint over
	// hostnames, the plugin counts node by node instead.
	Counts []map[string]*int64
	// Ignored are the names of scored nodes that lack a label.
	Ignored sets.Set[string]
}

// SpreadScoringOf returns what the plugin wrote in PreScore. Of the constraints, only
// TopologyKey, MaxSkew and Selector are set.
func SpreadScoringOf(state fwk.CycleState) (SpreadScoring, bool) {
	data := preScoreOf(state, names.PodTopologySpread)
	var out SpreadScoring
	var counted, ignored bool
	out.Counts, counted = valueOf[[]map[string]*int64](field(data, "TopologyValueToPodCounts"))
	out.Ignored, ignored = valueOf[sets.Set[string]](field(data, "IgnoredNodes"))
	constraints := field(data, "Constraints")
	if !counted || !ignored || !constraints.IsValid() || constraints.Len() != len(out.Counts) {
		return SpreadScoring{}, false
	}
	for i := range constraints.Len() {
		from := constraints.Index(i)
		var c SpreadConstraint
		c.TopologyKey, _ = valueOf[string](field(from, "TopologyKey"))
		c.MaxSkew, _ = valueOf[int32](field(from, "MaxSkew"))
		c.Selector, _ = valueOf[labels.Selector](field(from, "Selector"))
		out.Constraints = append(out.Constraints, c)
	}
	return out, true
}

// PodAffinityScoring is what InterPodAffinity knows in Score. It belongs to the plugin:
// do not change it.
type PodAffinityScoring struct {
	// Sums are the weights by topology key and value.
	Sums map[string]map[string]int64
	// Pod has the preferred terms of the pod. The terms list the namespaces that they select, so
	// matching needs no labels of a namespace.
	Pod fwk.PodInfo
	// NamespaceLabels are those of the pod's namespace.
	NamespaceLabels labels.Set
}

// PodAffinityScoringOf returns what the plugin wrote in PreScore.
func PodAffinityScoringOf(state fwk.CycleState) (PodAffinityScoring, bool) {
	data := preScoreOf(state, names.InterPodAffinity)
	var out PodAffinityScoring
	var known [3]bool
	out.Sums, known[0] = underlyingOf[map[string]map[string]int64](field(data, "topologyScore"))
	out.Pod, known[1] = valueOf[fwk.PodInfo](field(data, "podInfo"))
	out.NamespaceLabels, known[2] = valueOf[labels.Set](field(data, "namespaceLabels"))
	return out, known == [3]bool{true, true, true}
}

// PodVolumesOn returns what VolumeBinding found in Filter for the pod on a node, or nil.
// It belongs to the plugin: do not change it.
func PodVolumesOn(state fwk.CycleState, node string) *volumebinding.PodVolumes {
	// The plugin's key has no prefix.
	found, _ := valueOf[map[string]*volumebinding.PodVolumes](field(written(state, names.VolumeBinding), "podVolumesByNode"))
	return found[node]
}

// VolumeOf returns a claim that is not bound and the volume to which VolumeBinding would
// bind it. They belong to the plugin: do not change them.
func VolumeOf(b *volumebinding.BindingInfo) (claim *v1.PersistentVolumeClaim, volume *v1.PersistentVolume) {
	claim, _ = valueOf[*v1.PersistentVolumeClaim](field(reflect.ValueOf(b), "pvc"))
	volume, _ = valueOf[*v1.PersistentVolume](field(reflect.ValueOf(b), "pv"))
	return claim, volume
}

// DeviceClaims returns the pod's claims as DynamicResources read them. If the pod
// requests extended resources that the plugin provides, the last claim stands for them
// and has no requests, which differ from node to node. They belong to the plugin: do not
// change them.
func DeviceClaims(state fwk.CycleState) []*resourceapi.ResourceClaim {
	claims, _ := valueOf[[]*resourceapi.ResourceClaim](field(field(written(state, names.DynamicResources), "claims"), "claims"))
	return claims
}

// DeviceAllocations returns the allocations that DynamicResources found in Filter for the
// unallocated claims, in their order. It reports false when it found none for the node.
func DeviceAllocations(state fwk.CycleState, node string) (allocations []resourceapi.AllocationResult, ok bool) {
	return valueOf[[]resourceapi.AllocationResult](field(nodeAllocation(state, node), "allocationResults"))
}

// ExtendedResources returns the pod's requests for scalar resources as DynamicResources
// read them, if it provides one of them; otherwise nil. They belong to the plugin: do not
// change them.
func ExtendedResources(state fwk.CycleState) map[v1.ResourceName]int64 {
	requests, _ := valueOf[map[v1.ResourceName]int64](field(field(written(state, names.DynamicResources), "draExtendedResource"), "podScalarResources"))
	return requests
}

// ExtendedResourceClaim returns the claim with the requests that stand for extended
// resources on a node that DynamicResources let through, or nil. It belongs to the plugin:
// do not change it.
func ExtendedResourceClaim(state fwk.CycleState, node string) *resourceapi.ResourceClaim {
	claim, _ := valueOf[*resourceapi.ResourceClaim](field(nodeAllocation(state, node), "extendedResourceClaim"))
	return claim
}

func nodeAllocation(state fwk.CycleState, node string) reflect.Value {
	all := field(written(state, names.DynamicResources), "nodeAllocations")
	if !all.IsValid() || all.Kind() != reflect.Map || all.Type().Key().Kind() != reflect.String || !all.CanAddr() {
		return reflect.Value{}
	}
	// Take the address: a value of an unexported field may not be copied.
	found := reflect.NewAt(all.Type(), all.Addr().UnsafePointer()).Elem().MapIndex(reflect.ValueOf(node))
	if !found.IsValid() {
		return reflect.Value{}
	}
	addressable := reflect.New(found.Type()).Elem()
	addressable.Set(found)
	return addressable
}

// underlyingOf is valueOf for a field of an unexported type whose underlying type is the map T.
func underlyingOf[T any](v reflect.Value) (T, bool) {
	var zero T
	want := reflect.TypeFor[T]()
	if !v.IsValid() || v.Kind() != reflect.Map || !v.CanAddr() || v.Type().Key() != want.Key() || v.Type().Elem() != want.Elem() {
		return zero, false
	}
	return *(*T)(v.Addr().UnsafePointer()), true
}
