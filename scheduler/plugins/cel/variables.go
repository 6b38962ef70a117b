package cel

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	v1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"
)

// The variables of an expression.
const (
	varPod             = "pod"
	varNode            = "node"
	varPodRequest      = "podRequest"
	varNodeRequested   = "nodeRequested"
	varNodeAllocatable = "nodeAllocatable"
	varPodsOnNode      = "podsOnNode"
)

// Resources are amounts as numbers, because expressions cannot calculate with
// quantities.
type Resources struct {
	// CPU is in cores.
	CPU float64 `json:"cpu"`
	// Memory and EphemeralStorage are in bytes.
	Memory           float64 `json:"memory"`
	EphemeralStorage float64 `json:"ephemeralStorage"`
	// Pods is the number of pods: 1 for a pod.
	Pods float64 `json:"pods"`
	// Extended holds the other resources, by name.
	Extended map[v1.ResourceName]float64 `json:"extended"`
}

// activation resolves the variables for one node, each on first use.
type activation struct {
	schema *schema
	pod    *v1.Pod
	node   fwk.NodeInfo
}

var _ interpreter.Activation = (*activation)(nil)

func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case varPod:
		return a.pod, true
	case varNode:
		return a.node.Node(), true
	case varPodRequest:
		return resourcesOfPod(a.pod), true
	case varNodeRequested:
		requested := resources(a.node.GetRequested())
		requested.Pods = float64(len(a.node.GetPods()))
		return requested, true
	case varNodeAllocatable:
		return resources(a.node.GetAllocatable()), true
	case varPodsOnNode:
		pods := a.node.GetPods()
		values := make([]ref.Val, len(pods))
		for i, p := range pods {
			values[i] = a.schema.NativeToValue(p.GetPod())
		}
		return types.NewRefValList(a.schema, values), true
	}
	return nil, false
}

// Parent is for nested activations; this one is the outermost.
func (a *activation) Parent() interpreter.Activation { return nil }

func resources(r fwk.Resource) *Resources {
	out := &Resources{
		CPU:              float64(r.GetMilliCPU()) / 1000,
		Memory:           float64(r.GetMemory()),
		EphemeralStorage: float64(r.GetEphemeralStorage()),
		Pods:             float64(r.GetAllowedPodNumber()),
	}
	for name, amount := range r.GetScalarResources() {
		out.extend(name, float64(amount))
	}
	return out
}

func resourcesOfPod(pod *v1.Pod) *Resources {
	out := &Resources{Pods: 1}
	for name, amount := range resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}) {
		switch name {
		case v1.ResourceCPU:
			out.CPU = float64(amount.MilliValue()) / 1000
		case v1.ResourceMemory:
			out.Memory = float64(amount.Value())
		case v1.ResourceEphemeralStorage:
			out.EphemeralStorage = float64(amount.Value())
		default:
			out.extend(name, float64(amount.Value()))
		}
	}
	return out
}

func (r *Resources) extend(name v1.ResourceName, amount float64) {
	if r.Extended == nil {
		r.Extended = map[v1.ResourceName]float64{}
	}
	r.Extended[name] = amount
}
