package recorder

import (
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// Plugins is what the recorder asks about particular plugins, by their names. Package
// comparison answers for those of Kubernetes.
type Plugins interface {
	// Comparer returns the comparer of a Filter plugin, nil when it is not known what
	// the plugin compares. It is called once for each profile, before the scheduler
	// runs.
	Comparer(plugin string) Comparer
	// AllocatesClaims reports whether the plugin writes the allocation of the pod's
	// ResourceClaims in PreBind.
	AllocatesClaims(plugin string) bool
	// Claims returns what the pod's claims hold. It is called after PreBind of a plugin
	// that AllocatesClaims, from the pod's binding cycle.
	Claims(h fwk.Handle, pod *v1.Pod) []result.ClaimAllocation
	// PreemptsForGroups reports whether the plugin takes pods out of its handle's
	// snapshot to find room for a pod group.
	PreemptsForGroups(plugin string) bool
}

// Comparer finds out what one plugin compared.
type Comparer interface {
	// Compare is called by Filter's workers, many at once, right after the plugin has
	// rejected the node. It reads what the plugin read and changes nothing. It returns
	// nil when it cannot tell; the recorder sets Node and Plugin of the answer.
	Compare(h fwk.Handle, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison
	// Limit bounds the calls in a cycle.
	Limit() int
}

// noPlugins knows no plugin.
type noPlugins struct{}

var _ Plugins = noPlugins{}

func (noPlugins) Comparer(string) Comparer                            { return nil }
func (noPlugins) AllocatesClaims(string) bool                         { return false }
func (noPlugins) Claims(fwk.Handle, *v1.Pod) []result.ClaimAllocation { return nil }
func (noPlugins) PreemptsForGroups(string) bool                       { return false }

// comparisons gathers a cycle's comparisons: those of the nodes that were
// rejected first.
type comparisons struct {
	mu   sync.Mutex
	list []result.Comparison
}

// compare notes what p compared on node, if there is room.
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
