package recorder

import (
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// Plugins answers the recorder's questions about particular plugins, by name. Package
// comparison implements it for the plugins of Kubernetes.
type Plugins interface {
	// Comparer returns the comparer of a Filter plugin, or nil for an unknown plugin.
	// It is called once per plugin and profile, before the scheduler runs.
	Comparer(plugin string) Comparer
	// AllocatesClaims reports whether the plugin writes the allocation of the pod's
	// ResourceClaims in PreBind.
	AllocatesClaims(plugin string) bool
	// Claims returns the devices that the pod's claims hold. It is called in the pod's
	// binding cycle, after PreBind of a plugin for which AllocatesClaims is true.
	Claims(h fwk.Handle, pod *v1.Pod) []result.ClaimAllocation
	// PreemptsForGroups reports whether the plugin removes pods from its handle's
	// snapshot to find room for a pod group.
	PreemptsForGroups(plugin string) bool
}

// Comparer determines the values that one plugin compared.
type Comparer interface {
	// Compare is called by Filter's workers, many at once, right after the plugin has
	// rejected the node. It reads what the plugin read and changes nothing. It returns
	// nil when it cannot determine the values; the recorder sets Node and Plugin of
	// the result.
	Compare(h fwk.Handle, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison
	// Limit bounds the calls in a cycle.
	Limit() int
}

// noPlugins is a Plugins that knows no plugin.
type noPlugins struct{}

var _ Plugins = noPlugins{}

func (noPlugins) Comparer(string) Comparer                            { return nil }
func (noPlugins) AllocatesClaims(string) bool                         { return false }
func (noPlugins) Claims(fwk.Handle, *v1.Pod) []result.ClaimAllocation { return nil }
func (noPlugins) PreemptsForGroups(string) bool                       { return false }

// comparisons collects a cycle's comparisons, those of the nodes that were rejected
// first.
type comparisons struct {
	mu   sync.Mutex
	list []result.Comparison
}

// compare notes the values that p compared on node, if there is room.
func (p *filtering) compare(c *cycle, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) {
	if p.comparer == nil || p.compared.Add(1) > p.maxCompared {
		return
	}
	found := p.comparer.Compare(p.to.handle, state, pod, node)
	if found == nil {
		return
	}
	found.Node, found.Plugin = node.Node().Name, p.to.Name()
	c.comparisons.mu.Lock()
	defer c.comparisons.mu.Unlock()
	c.comparisons.list = append(c.comparisons.list, *found)
}

// sorted returns the comparisons by node.
func (c *comparisons) sorted() []result.Comparison {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Clone(c.list)
	slices.SortFunc(out, func(a, b result.Comparison) int {
		return strings.Compare(a.Node+"\x00"+a.Plugin, b.Node+"\x00"+b.Plugin)
	})
	return out
}
