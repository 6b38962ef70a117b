package simulation

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// localFilters are the Filter plugins whose answer depends on nothing but the pod's spec and the node: its object and its pods. NodeResourcesFit also asks
// for DeviceClasses, unless there are none.
var localFilters = sets.New(names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts, names.NodeResourcesFit, names.NodeDeclaredFeatures)

// reuse remembers what Filter said about nodes. Most pods of a workload have the spec of an earlier pod, and only few nodes change between
// two pods, so most of the answers are known. It is used when nobody wants to know what each plugin said: the verdict is the same, but the plugins are
// not called.
type reuse struct {
	framework.Framework
	// plugins are the Filter plugins of the profile.
	plugins []string
	// devices reports whether the cluster has DeviceClasses.
	devices func() bool
	// nominates reports whether pods may be nominated to nodes, which Filter then adds to them.
	nominates func() bool
	verdicts  map[string]map[string]verdict
	// present holds the verdicts for the spec of the pod that is being scheduled. It is nil if they cannot be reused.
	present map[string]verdict
}

// verdict is what Filter said about a node of this generation. Kubernetes gives a node another generation, unique in the process, with every change.
type verdict struct {
	generation int64
	status     *fwk.Status
}

// mostSpecs bounds the specs of which verdicts are kept. Each takes some 50 bytes per node.
const mostSpecs = 512

func newReuse(f framework.Framework, devices, nominates func() bool) *reuse {
	r := &reuse{Framework: f, devices: devices, nominates: nominates, verdicts: map[string]map[string]verdict{}}
	for _, plugin := range f.ListPlugins().Filter.Enabled {
		r.plugins = append(r.plugins, plugin.Name)
	}
	return r
}

// RunPreFilterPlugins is called before the search for nodes.
func (r *reuse) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	res, status, plugins := r.Framework.RunPreFilterPlugins(ctx, state, pod)
	r.present = nil
	if status.IsSuccess() && !state.IsPodGroupSchedulingCycle() && !r.devices() && !r.nominates() && r.local(state) {
		r.present = r.of(pod)
	}
	return res, status, plugins
}

// local reports whether all Filter plugins that run are local.
func (r *reuse) local(state fwk.CycleState) bool {
	skipped := state.GetSkipFilterPlugins()
	for _, plugin := range r.plugins {
		if !localFilters.Has(plugin) && !skipped.Has(plugin) {
			return false
		}
	}
	return true
}

// of returns the verdicts for the spec of a pod.
func (r *reuse) of(pod *v1.Pod) map[string]verdict {
	spec, err := pod.Spec.Marshal() // sorts maps
	if err != nil {
		return nil
	}
	if known, ok := r.verdicts[string(spec)]; ok {
		return known
	}
	if len(r.verdicts) == mostSpecs {
		clear(r.verdicts)
	}
	fresh := map[string]verdict{}
	r.verdicts[string(spec)] = fresh
	return fresh
}

// RunFilterPluginsWithNominatedPods is called for one node at a time.
func (r *reuse) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if r.present == nil {
		return r.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	}
	name, generation := node.Node().Name, node.GetGeneration()
	if known, ok := r.present[name]; ok && known.generation == generation {
		return known.status
	}
	status := r.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	r.present[name] = verdict{generation, status}
	return status
}
