package comparison

import (
	"math"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// compareAlignment is NodeResourceTopologyMatch's. Nearest are the nodes with the NUMA node for
// which the pod would have to give up the least.
func compareAlignment(fwk.CycleState, *v1.Pod) recorder.Comparing { return alignment{} }

type alignment struct{}

// unknownDistance is that of a node whose topology has changed since the plugin rejected it.
var unknownDistance = math.Inf(1)

func (alignment) Distance(state fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	misfit := noderesourcetopology.MisfitOn(state, node)
	if misfit == nil {
		return unknownDistance
	}
	nearest := unknownDistance
	for _, z := range misfit.Zones {
		var lacks result.Shortage
		for _, s := range z.Short {
			lacks.Add(s.Requested, s.Requested-s.Available, s.Absent)
		}
		nearest = min(nearest, lacks.Distance())
	}
	return nearest
}

func (alignment) Compare(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	misfit := noderesourcetopology.MisfitOn(state, node)
	if misfit == nil {
		return false
	}
	found := &result.AlignmentComparison{Role: string(misfit.Role), Container: misfit.Container, Zones: []result.ZoneComparison{}}
	for i, z := range misfit.Zones {
		if i == result.MaxZones {
			found.ZonesDropped = len(misfit.Zones) - i
			break
		}
		zone := result.ZoneComparison{Zone: z.Zone}
		for _, s := range z.Short {
			zone.Short = append(zone.Short, result.ZoneShortage{Resource: string(s.Resource), Requested: s.Requested, Available: s.Available, Absent: s.Absent})
		}
		found.Zones = append(found.Zones, zone)
	}
	out.Alignment = found
	return true
}

func (alignment) Passed(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	parts := noderesourcetopology.AlignedOn(state, node)
	if len(parts) == 0 {
		return true
	}
	for _, p := range parts {
		out.Aligned = append(out.Aligned, result.AlignedPart{Role: string(p.Role), Container: p.Container, Zone: p.Zone})
	}
	return true
}
