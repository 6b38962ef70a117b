package recorder

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// Plugins answers the recorder's questions about particular plugins, by name. Package
// comparison implements it for the plugins of Kubernetes.
type Plugins interface {
	// Comparer returns the comparer of a Filter plugin, or nil for an unknown plugin. The recorder
	// calls it once per plugin and profile, after the plugin was created with these arguments and
	// this handle and before the scheduler runs.
	Comparer(plugin string, args runtime.Object, h fwk.Handle) Comparer
	// Scorer returns the scorer of a Score plugin, or nil for an unknown plugin. It is
	// called as Comparer is.
	Scorer(plugin string, args runtime.Object, h fwk.Handle) Scorer
	// Requests derives the pod's requests from its spec. It is called on the scheduling goroutine
	// in each cycle that searches, so it must be cheap.
	Requests(pod *v1.Pod) []result.PodRequest
	// AllocatesClaims reports whether the plugin writes the allocation of the pod's
	// ResourceClaims in PreBind.
	AllocatesClaims(plugin string) bool
	// Claims returns the devices that the pod's claims hold. It is called in the pod's binding
	// cycle, after PreBind of a plugin that AllocatesClaims.
	Claims(h fwk.Handle, pod *v1.Pod) []result.ClaimAllocation
	// PreemptsForGroups reports whether the plugin removes pods from its handle's snapshot to make
	// room for a pod group.
	PreemptsForGroups(plugin string) bool
}

// Comparer determines the values that one plugin compares.
type Comparer interface {
	// Begin is called in a cycle when the plugin first rejects a node for pod, by one of
	// Filter's workers, and again on the scheduling goroutine if the plugin let nodes
	// through. It returns nil when it cannot determine the values.
	Begin(state fwk.CycleState, pod *v1.Pod) Comparing
	// Limit bounds the comparisons in a cycle.
	Limit() int
}

// Comparing determines the values that a plugin compares for one pod in one cycle. It reads what
// the plugin reads and changes nothing. In Distance and Compare, state and node are those that the
// plugin rejected: for a node with nominated pods, clones that include them.
type Comparing interface {
	// Distance says how far the node is from fitting: at least 0, comparable only for the same
	// plugin and pod. Filter's workers call it for every node that the plugin rejects, many at
	// once, so it must be cheap.
	Distance(state fwk.CycleState, node fwk.NodeInfo, rejection *fwk.Status) float64
	// Compare fills in the values that the plugin compared. It reports false when it cannot
	// determine them. It is called on the scheduling goroutine after the search, once for each kept
	// node. out is empty; the recorder sets its Node and Plugin.
	Compare(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) (known bool)
	// Passed is Compare for a node that the plugin let through, without nominated pods unless the
	// Comparing is a Counter. It fills in nothing when there was nothing to compare. It reports
	// false when it cannot determine them. It is called on the scheduling goroutine at the end of
	// SchedulePod, for at most result.MaxPasses nodes, so it must be cheap. out is empty, and its
	// Resources may have space: append to them. The recorder sets Node and Plugin.
	Passed(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) (known bool)
}

// Counter is a Comparing that adds up what the pods on a node hold. On a node that the plugin let
// through, it also counts nominated pods: Filter saw the node with them and without, and they hold
// more together.
type Counter interface {
	Comparing
	CountsNominated()
}

// Tracer is a Comparing that can break down the amounts that it compares.
type Tracer interface {
	// Trace breaks down what Compare found for node. It is called on the scheduling goroutine after
	// the search, for at most result.MaxUses nodes of a cycle that is not hypothetical.
	Trace(node fwk.NodeInfo, found *result.Comparison)
}

type noPlugins struct{}

var _ Plugins = noPlugins{}

func (noPlugins) Comparer(string, runtime.Object, fwk.Handle) Comparer { return nil }
func (noPlugins) Scorer(string, runtime.Object, fwk.Handle) Scorer     { return nil }
func (noPlugins) Requests(*v1.Pod) []result.PodRequest                 { return nil }
func (noPlugins) AllocatesClaims(string) bool                          { return false }
func (noPlugins) Claims(fwk.Handle, *v1.Pod) []result.ClaimAllocation  { return nil }
func (noPlugins) PreemptsForGroups(string) bool                        { return false }
