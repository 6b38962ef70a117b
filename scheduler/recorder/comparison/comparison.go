// Package comparison knows about particular plugins, which the recorder does not:
// which values the plugins of Kubernetes compare when they reject a node, and which
// plugins allocate devices or preempt for pod groups. Each comparer reads the same
// objects as its plugin, right after the plugin's answer, and returns the compared
// values.
//
// It decides nothing and keeps no state of a cycle; the recorder calls it, bounds
// it, and stores what it returns. A plugin that is not named here is still
// recorded, but without comparisons.
//
// The package may import the scheduling framework and its plugins,
// scheduler/internal/upstream, scheduler/recorder (for its interfaces) and
// scheduler/result.
package comparison

import (
	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"

	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// InTree implements recorder.Plugins for the plugins of Kubernetes.
type InTree struct{}

var _ recorder.Plugins = InTree{}

// compare returns the values that a plugin compared, or nil when it cannot
// determine them.
type compare func(h fwk.Handle, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison

// comparer is a compare with its limit of calls per cycle.
type comparer struct {
	compare
	limit int
}

var _ recorder.Comparer = comparer{}

func (c comparer) Compare(h fwk.Handle, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	return c.compare(h, state, pod, node)
}

func (c comparer) Limit() int { return c.limit }

// costlyLimit is for comparers that read much more than the node: the comparer of
// inter-pod affinity visits the pods of many nodes, and the comparer of devices
// counts every published device.
const costlyLimit = 8

// Comparer returns the comparer of a plugin, or nil for an unknown plugin. It reads
// the feature gates, when the scheduler is built.
func (InTree) Comparer(plugin string) recorder.Comparer {
	switch plugin {
	case names.NodeResourcesFit:
		return comparer{newResourceComparer(), result.MaxComparisons}
	case names.TaintToleration:
		return comparer{compareTaints, result.MaxComparisons}
	case names.NodeAffinity:
		return comparer{compareNodeAffinity, result.MaxComparisons}
	case names.NodePorts:
		return comparer{comparePorts, result.MaxComparisons}
	case names.PodTopologySpread:
		return comparer{new(spreadComparer).compare, result.MaxComparisons}
	case names.VolumeBinding, names.VolumeZone:
		return comparer{compareVolumes, result.MaxComparisons}
	case names.InterPodAffinity:
		return comparer{comparePodAffinity, costlyLimit}
	case names.DynamicResources:
		return comparer{newDeviceComparer().compare, costlyLimit}
	}
	return nil
}

// AllocatesClaims reports whether the plugin writes the allocation of ResourceClaims
// in PreBind.
func (InTree) AllocatesClaims(plugin string) bool { return plugin == names.DynamicResources }

// PreemptsForGroups reports whether the plugin removes pods from the snapshot to find
// room for a pod group.
func (InTree) PreemptsForGroups(plugin string) bool { return plugin == names.DefaultPreemption }

// newResourceComparer returns the comparer of NodeResourcesFit.
func newResourceComparer() compare {
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	options := noderesources.ResourceRequestsOptions{EnablePodLevelResources: gates.EnablePodLevelResources}
	return func(h fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
		short := noderesources.Fits(pod, node, h.SharedDRAManager(), options)
		if len(short) == 0 {
			return nil
		}
		out := &result.Comparison{}
		for _, s := range short {
			out.Resources = append(out.Resources, result.ResourceComparison{
				Name: string(s.ResourceName), Requested: s.Requested, InUse: s.Used, Allocatable: s.Capacity,
			})
		}
		return out
	}
}
