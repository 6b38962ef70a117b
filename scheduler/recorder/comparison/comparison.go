// Package comparison knows about particular plugins, which the recorder does not: which values they
// compare when they reject a node or let it through, how far a rejected node is from fitting, from
// which inputs their scores follow, and which of them allocate devices or preempt for pod groups.
//
// A comparer or a scorer has the same inputs as its plugin: the state that the plugin wrote in
// PreFilter, its arguments, and the scheduler's feature gates. A comparison holds nothing that the
// plugin did not see, and what it holds is reason enough to reject the node. Tests run every
// comparer against its plugin, and compute each score again from what the scorer returns.
//
// The recorder calls the package, chooses the nodes, and stores what it returns. It records a
// plugin that is not named here without comparisons.
//
// The package may import the scheduling framework and its plugins, those of ours that it knows,
// scheduler/internal/upstream, scheduler/recorder (for its interfaces) and scheduler/result.
package comparison

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// InTree implements recorder.Plugins for the plugins of Kubernetes.
type InTree struct{}

var _ recorder.Plugins = InTree{}

type begin func(state fwk.CycleState, pod *v1.Pod) recorder.Comparing

type comparer struct {
	begin
	limit int
}

var _ recorder.Comparer = comparer{}

func (c comparer) Begin(state fwk.CycleState, pod *v1.Pod) recorder.Comparing {
	return c.begin(state, pod)
}

func (c comparer) Limit() int { return c.limit }

// deviceLimit is for DynamicResources, whose comparer evaluates a selector for every
// device of a node.
const deviceLimit = 8

// Comparer returns the comparer of a plugin, or nil for an unknown plugin. The gates
// are those of the in-tree plugins, which read them when the scheduler is built.
func (InTree) Comparer(plugin string, args runtime.Object, h fwk.Handle) recorder.Comparer {
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	most := func(b begin) recorder.Comparer { return comparer{b, result.MaxComparisons} }
	podless := func(b begin) recorder.Comparer {
		return most(func(state fwk.CycleState, pod *v1.Pod) recorder.Comparing {
			if comparing := b(state, pod); comparing != nil {
				return regardlessOfPods{comparing}
			}
			return nil
		})
	}
	switch plugin {
	case names.NodeResourcesFit:
		return most(compareResources(args, h, gates))
	case names.TaintToleration:
		return podless(compareTaints(gates))
	case names.NodeAffinity:
		return podless(compareNodeAffinity(args))
	case names.NodePorts:
		return most(comparePorts)
	case names.PodTopologySpread:
		return most(compareSpread(h, gates))
	case names.InterPodAffinity:
		return most(comparePodAffinity(h))
	case names.VolumeZone:
		return podless(compareVolumeZones(h))
	case names.VolumeBinding:
		return most(compareVolumeBinding(h, gates))
	case noderesourcetopology.Name:
		return most(compareAlignment)
	case names.DynamicResources:
		return comparer{compareDevices(h, gates), deviceLimit}
	case names.NodeUnschedulable:
		return podless(compareUnschedulable(gates))
	case names.NodeName:
		return podless(compareNodeName)
	case names.NodeDeclaredFeatures:
		return podless(compareFeatures)
	case names.NodeVolumeLimits:
		return most(compareVolumeLimits(h, gates))
	case names.VolumeRestrictions:
		return most(compareVolumeRestrictions(h))
	}
	return nil
}

// regardlessOfPods is for a plugin that does not look at the pods of a node.
type regardlessOfPods struct{ recorder.Comparing }

func (c regardlessOfPods) Compare(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	if !c.Comparing.Compare(state, node, out) {
		return false
	}
	out.WithoutPods = result.RejectsWithoutPods
	return true
}

// AllocatesClaims reports whether the plugin writes the allocation of ResourceClaims
// in PreBind.
func (InTree) AllocatesClaims(plugin string) bool { return plugin == names.DynamicResources }

// PreemptsForGroups reports whether the plugin removes pods from the snapshot to find
// room for a pod group.
func (InTree) PreemptsForGroups(plugin string) bool { return plugin == names.DefaultPreemption }

// fewestAndSmallest is the distance of a node with this many shortages of this total size: one
// shortage fewer is nearer, whatever the size.
func fewestAndSmallest(shortages int, size float64) float64 {
	return float64(shortages) + size/(1+size)
}

func fill(out, found *result.Comparison) bool {
	if found != nil {
		*out = *found
	}
	return found != nil
}
