package comparison

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/podrequest"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// scoreFit is NodeResourcesFit's.
func scoreFit(args runtime.Object) facts {
	fit, _ := args.(*config.NodeResourcesFitArgs)
	if fit == nil || fit.ScoringStrategy == nil {
		return nothingKnown
	}
	strategy := fit.ScoringStrategy
	r := &scoredResources{plugin: names.NodeResourcesFit, strategy: string(strategy.Type), resources: strategy.Resources}
	if strategy.RequestedToCapacityRatio != nil {
		r.shape = shapeOf(strategy.RequestedToCapacityRatio.Shape)
	}
	return r.facts
}

// scoreBalance is NodeResourcesBalancedAllocation's.
func scoreBalance(args runtime.Object) facts {
	balance, _ := args.(*config.NodeResourcesBalancedAllocationArgs)
	if balance == nil {
		return nothingKnown
	}
	r := &scoredResources{
		plugin: names.NodeResourcesBalancedAllocation, strategy: result.BalancedAllocation, resources: balance.Resources, exact: true,
	}
	return r.facts
}

func nothingKnown(fwk.CycleState, *v1.Pod, recorder.Scored) *result.PluginScoreFacts { return nil }

type scoredResources struct {
	plugin, strategy string
	resources        []config.ResourceSpec
	shape            []result.ShapePoint
	// exact: the plugin counts what pods request. Otherwise it counts a small amount of
	// CPU and memory for containers that request none.
	exact bool
}

func (r *scoredResources) facts(state fwk.CycleState, pod *v1.Pod, scored recorder.Scored) *result.PluginScoreFacts {
	requests, devices, ok := upstream.ScoredRequests(state, r.plugin)
	if !ok || len(requests) != len(r.resources) {
		return nil
	}
	n := len(scored.Nodes)
	values := make([]int64, 2*n*len(r.resources))
	out := &result.ResourceScore{Strategy: r.strategy, Shape: r.shape, Resources: make([]result.ScoredResource, len(r.resources))}
	for i, spec := range r.resources {
		name := v1.ResourceName(spec.Name)
		inUse, allocatable := values[:n:n], values[n:2*n:2*n]
		values = values[2*n:]
		out.Resources[i] = result.ScoredResource{Name: spec.Name, Weight: spec.Weight, Requested: requests[i], InUse: inUse, Allocatable: allocatable}
		if requests[i] == 0 && util.IsScalarResourceName(name) {
			continue
		}
		for at, node := range scored.Nodes {
			can := amountOf(node.GetAllocatable(), name)
			if can == 0 && devices && util.IsDRAExtendedResourceName(name) {
				return nil // The plugin counts devices, which are not among the facts.
			}
			if can > 0 {
				allocatable[at], inUse[at] = can, amountOf(r.counted(node, name), name)
			}
			if !r.hasDefaults(name) || can == 0 {
				continue
			}
			if defaults := defaultsOf(node, name); defaults != nil {
				if out.Resources[i].Defaults == nil {
					out.Resources[i].Defaults = make([]*result.ScoreDefaults, n)
				}
				out.Resources[i].Defaults[at] = defaults
			}
		}
		if r.hasDefaults(name) {
			out.Resources[i].Own, out.Resources[i].OwnContainers = ownDefaults(pod, name, requests[i])
		}
	}
	return &result.PluginScoreFacts{Resources: out}
}

// ownDefaults returns what the plugin counts for the pod beyond its requests, and for how many
// containers.
func ownDefaults(pod *v1.Pod, name v1.ResourceName, counted int64) (amount int64, containers int) {
	if amount = counted - podrequest.Asked(pod, name); amount <= 0 {
		return 0, 0
	}
	for _, part := range podrequest.Scored(pod, name).Parts {
		if part.Default {
			containers++
		}
	}
	return amount, containers
}

func (r *scoredResources) hasDefaults(name v1.ResourceName) bool {
	return !r.exact && (name == v1.ResourceCPU || name == v1.ResourceMemory)
}

func (r *scoredResources) counted(node fwk.NodeInfo, name v1.ResourceName) fwk.Resource {
	if r.hasDefaults(name) {
		return node.GetNonZeroRequested()
	}
	return node.GetRequested()
}

func amountOf(of fwk.Resource, name v1.ResourceName) int64 {
	switch name {
	case v1.ResourceCPU:
		return of.GetMilliCPU()
	case v1.ResourceMemory:
		return of.GetMemory()
	case v1.ResourceEphemeralStorage:
		return of.GetEphemeralStorage()
	}
	return of.GetScalarResources()[name]
}
