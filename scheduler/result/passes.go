package result

// MaxPasses bounds the nodes of a cycle's Passes.
const MaxPasses = 12

// Passes hold what Filter's plugins compared on some of the nodes that they let through. The
// recorder reads it from the snapshot and the plugins' states right after the search.
type Passes struct {
	// Nodes are at most MaxPasses of the evaluated nodes: the selected one, those with the best
	// totals, other feasible nodes, and then rejected ones, the nearest to fitting first. The
	// plugins before the one that rejected a node let it through.
	Nodes []string `json:"nodes"`
	// Plugins are those of Kubernetes whose values are known, in the order in which they ran. If
	// such a plugin let one of Nodes through and has no values for it, it had nothing to compare:
	// for TaintToleration, the node has no taints.
	Plugins []string `json:"plugins"`
	// Resources are NodeResourcesFit's.
	Resources []PassedResource `json:"resources,omitempty"`
	// Comparisons are those of the other plugins.
	Comparisons []Comparison `json:"comparisons,omitempty"`
}

// PassedResource is a resource that NodeResourcesFit compared. CPU is in thousandths of
// a core, other resources in their own unit (bytes, devices, pods).
type PassedResource struct {
	Name      string `json:"name"`
	Requested int64  `json:"requested"`
	// InUse and Allocatable are those of each of Passes.Nodes. Both are 0 where the plugin did not
	// compare the resource.
	InUse       []int64 `json:"inUse"`
	Allocatable []int64 `json:"allocatable"`
}

// size leaves out the names of nodes and plugins, which are shared.
func (p *Passes) size() int {
	if p == nil {
		return 0
	}
	size := sizeOf(*p) + sizeOfList(p.Nodes) + sizeOfList(p.Plugins) + sizeOfList(p.Resources) + sizeOfComparisons(p.Comparisons)
	for i := range p.Resources {
		r := &p.Resources[i]
		size += len(r.Name) + sizeOfList(r.InUse) + sizeOfList(r.Allocatable)
	}
	return size
}
