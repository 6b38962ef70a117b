package comparison

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// scoreVolumes is VolumeBinding's. The plugin scores only if storage capacity scoring is
// enabled.
func scoreVolumes(args runtime.Object, gates feature.Features) facts {
	own, _ := args.(*config.VolumeBindingArgs)
	if own == nil || !gates.EnableStorageCapacityScoring {
		return nothingKnown
	}
	shape := shapeOf(own.Shape)
	return func(state fwk.CycleState, _ *v1.Pod, scored recorder.Scored) *result.PluginScoreFacts {
		out := &result.VolumeScore{Shape: shape, Classes: []result.ScoredClass{}}
		for at, node := range scored.Nodes {
			if volumes := upstream.PodVolumesOn(state, node.Node().Name); volumes != nil {
				countStorage(out, volumes, at, len(scored.Nodes))
			}
		}
		return &result.PluginScoreFacts{Volumes: out}
	}
}

// countStorage adds what the claims would use on a node. Volumes that can be provisioned
// count only if no claim can be bound to an existing volume.
func countStorage(to *result.VolumeScore, volumes *volumebinding.PodVolumes, at, nodes int) {
	if len(volumes.StaticBindings) > 0 {
		for _, b := range volumes.StaticBindings {
			c, storage := storageClass(to, b.StorageClassName(), nodes), b.StorageResource()
			c.Requested[at] += storage.Requested
			c.Capacity[at] += storage.Capacity
		}
		return
	}
	for _, p := range volumes.DynamicProvisions {
		if p.NodeCapacity == nil {
			continue
		}
		c, requested := storageClass(to, *p.PVC.Spec.StorageClassName, nodes), p.PVC.Spec.Resources.Requests[v1.ResourceStorage]
		c.Requested[at] += requested.Value()
		c.Capacity[at] = p.NodeCapacity.Capacity.Value()
	}
}

func storageClass(of *result.VolumeScore, name string, nodes int) *result.ScoredClass {
	at := slices.IndexFunc(of.Classes, func(c result.ScoredClass) bool { return c.StorageClass == name })
	if at < 0 {
		at = len(of.Classes)
		of.Classes = append(of.Classes, result.ScoredClass{StorageClass: name, Requested: make([]int64, nodes), Capacity: make([]int64, nodes)})
	}
	return &of.Classes[at]
}

// scoreDevices is DynamicResources'.
func scoreDevices(gates feature.Features) facts {
	if !gates.EnableDynamicResourceAllocation || !gates.EnableDRAPrioritizedList {
		return nothingKnown
	}
	return func(state fwk.CycleState, _ *v1.Pod, scored recorder.Scored) *result.PluginScoreFacts {
		out := &result.DeviceScore{Requests: []result.ScoredRequest{}}
		claims := upstream.DeviceClaims(state)
		for _, claim := range claims {
			for i := range claim.Spec.Devices.Requests {
				if request := &claim.Spec.Devices.Requests[i]; request.Exactly == nil {
					out.Requests = append(out.Requests, alternativesOf(claim, request, len(scored.Nodes)))
				}
			}
		}
		if len(out.Requests) > 0 { // few pods have one, and reading the allocations takes long
			for at, node := range scored.Nodes {
				if allocations, ok := upstream.DeviceAllocations(state, node.Node().Name); ok {
					chooseAlternatives(out, claims, allocations, at)
				}
			}
		}
		return &result.PluginScoreFacts{Devices: out}
	}
}

func alternativesOf(claim *resourceapi.ResourceClaim, request *resourceapi.DeviceRequest, nodes int) result.ScoredRequest {
	out := result.ScoredRequest{Claim: claim.Name, Request: request.Name, Chosen: make([]int64, nodes)}
	for _, alternative := range request.FirstAvailable {
		out.Alternatives = append(out.Alternatives, alternative.Name)
	}
	for at := range out.Chosen {
		out.Chosen[at] = -1
	}
	return out
}

// allocations are those of the claims that have none yet, in order.
func chooseAlternatives(to *result.DeviceScore, claims []*resourceapi.ResourceClaim, allocations []resourceapi.AllocationResult, at int) {
	request := 0
	for _, claim := range claims {
		allocation := claim.Status.Allocation
		if allocation == nil {
			if len(allocations) == 0 {
				return
			}
			allocation, allocations = &allocations[0], allocations[1:]
		}
		for _, r := range claim.Spec.Devices.Requests {
			if r.Exactly != nil {
				continue
			}
			for i, alternative := range r.FirstAvailable {
				reference := resourceclaim.CreateSubRequestRef(r.Name, alternative.Name)
				if slices.ContainsFunc(allocation.Devices.Results, func(d resourceapi.DeviceRequestAllocationResult) bool { return d.Request == reference }) {
					to.Requests[request].Chosen[at] = int64(i)
				}
			}
			request++
		}
	}
}
