package upstream

import (
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
)

// VolumeTopology is a zone or region label of a pod's volume, as VolumeZone reads it.
type VolumeTopology struct {
	Volume, Key string
	// Values are the zones or regions that have the volume, sorted.
	Values []string
}

// VolumeTopologies returns the labels that VolumeZone found in PreFilter, in its
// order.
func VolumeTopologies(state fwk.CycleState) []VolumeTopology {
	found := field(stateOf(state, names.VolumeZone), "podPVTopologies")
	if !found.IsValid() {
		return nil
	}
	out := make([]VolumeTopology, found.Len())
	for i := range out {
		out[i].Volume, _ = valueOf[string](field(found.Index(i), "pvName"))
		out[i].Key, _ = valueOf[string](field(found.Index(i), "key"))
		values, _ := valueOf[sets.Set[string]](field(found.Index(i), "values"))
		out[i].Values = values.UnsortedList()
		slices.Sort(out[i].Values)
	}
	return out
}

// VolumeClaims are a pod's claims, as VolumeBinding read them in PreFilter. They belong
// to the plugin: do not change them.
type VolumeClaims struct {
	// Bound are bound to a volume. Unbound are bound when the pod has a node.
	Bound, Unbound []*v1.PersistentVolumeClaim
	// Volumes are those to which the claims in Unbound might be bound, by storage
	// class.
	Volumes map[string][]*v1.PersistentVolume
}

// VolumeClaimsOf may return the zero value.
func VolumeClaimsOf(state fwk.CycleState) VolumeClaims {
	// The plugin's key has no prefix.
	data, err := state.Read(names.VolumeBinding)
	if err != nil {
		return VolumeClaims{}
	}
	claims, _ := valueOf[*volumebinding.PodVolumeClaims](field(reflect.ValueOf(data), "podVolumeClaims"))
	if claims == nil {
		return VolumeClaims{}
	}
	var out VolumeClaims
	out.Bound, _ = valueOf[[]*v1.PersistentVolumeClaim](field(reflect.ValueOf(claims), "boundClaims"))
	out.Unbound, _ = valueOf[[]*v1.PersistentVolumeClaim](field(reflect.ValueOf(claims), "unboundClaimsDelayBinding"))
	out.Volumes, _ = valueOf[map[string][]*v1.PersistentVolume](field(reflect.ValueOf(claims), "unboundVolumesDelayBinding"))
	return out
}

// AssumedVolumes returns the volumes and claims that VolumeBinding has changed in memory, after
// AssumePodVolumes. They belong to the plugin: do not change them.
func AssumedVolumes(volumes *volumebinding.PodVolumes) []runtime.Object {
	if volumes == nil {
		return nil
	}
	var out []runtime.Object
	for _, binding := range volumes.StaticBindings {
		if volume, _ := valueOf[*v1.PersistentVolume](field(reflect.ValueOf(binding), "pv")); volume != nil {
			out = append(out, volume)
		}
	}
	for _, provision := range volumes.DynamicProvisions {
		out = append(out, provision.PVC)
	}
	return out
}

// ExclusiveClaims returns the pod's claims that only one pod may use, as
// VolumeRestrictions read them in PreFilter. They belong to the plugin: do not change
// them.
func ExclusiveClaims(state fwk.CycleState) sets.Set[string] {
	claims, _ := valueOf[sets.Set[string]](field(stateOf(state, names.VolumeRestrictions), "readWriteOncePodPVCs"))
	return claims
}

// AttachmentsByNode is the index of VolumeAttachments by node that NodeVolumeLimits adds
// to their informer.
const AttachmentsByNode = "va.spec.nodename"
