package recorder

import (
	"slices"

	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// notePasses keeps what plugins compared on some of the nodes that they let through. It runs on the
// scheduling goroutine at the end of SchedulePod, while the snapshot is still that of the search.
func (c *cycle) notePasses() {
	if !c.searched {
		return
	}
	nodes := c.explained()
	p := &result.Passes{Comparisons: c.recorder.passedScratch[:0]}
	for at, plugin := range c.profile.filterPlugins {
		if !c.skipFilter.Has(plugin) {
			c.comparePassed(p, plugin, at, nodes)
		}
	}
	c.recorder.passedScratch = p.Comparisons
	p.Comparisons = taken(p.Comparisons)
	if p.Plugins == nil {
		return
	}
	p.Nodes = make([]string, len(nodes))
	for i, node := range nodes {
		p.Nodes[i] = c.nodes.names[node]
	}
	c.passes = p
}

// explained returns the indexes of the nodes that Passes are about. The next call overwrites the
// list.
func (c *cycle) explained() []int32 {
	list := c.recorder.passScratch[:0]
	add := func(node int32) (more bool) {
		if len(list) < result.MaxPasses && !slices.Contains(list, node) {
			list = append(list, node)
		}
		return len(list) < result.MaxPasses
	}
	if s := c.scores; s != nil && s.facts != nil {
		for _, name := range s.facts.Nodes {
			add(c.nodes.index[name])
		}
	}
	if selected, ok := c.nodes.index[c.selected]; ok {
		add(selected)
	}
	c.each(considered, add)
	if c.selected == "" && !c.offered.any {
		c.each(passed, add) // none were discarded, see separate
	}
	// Rejected nodes with comparisons are the nearest to fitting.
	for i := range c.comparisons {
		add(c.nodes.index[c.comparisons[i].Node])
	}
	c.each(rejected, add)
	c.recorder.passScratch = list
	return list
}

func (c *cycle) each(wanted verdict, add func(node int32) bool) {
	for i, v := range c.verdicts.of {
		if v == wanted && !add(int32(i)) {
			return
		}
	}
}

// comparePassed adds what a plugin, the at-th of the profile, compared on the nodes that it let
// through. It adds nothing if a value is unknown.
func (c *cycle) comparePassed(p *result.Passes, plugin string, at int, nodes []int32) {
	known := slices.IndexFunc(c.profile.nearest, func(n *nearest) bool { return n.plugin == plugin })
	if known < 0 {
		return
	}
	var comparing Comparing
	resources, comparisons := len(p.Resources), len(p.Comparisons)
	for i, node := range nodes {
		if !c.passedBy(node, at) {
			continue
		}
		if comparing == nil {
			if comparing = c.profile.nearest[known].comparer.Begin(c.state, c.object); comparing == nil {
				return
			}
		}
		p.Comparisons = append(p.Comparisons, result.Comparison{Resources: c.recorder.resourceScratch[:0]})
		found := &p.Comparisons[len(p.Comparisons)-1]
		if !comparing.Passed(c.state, c.compared(comparing, node), found) {
			clear(p.Comparisons[comparisons:])
			p.Resources, p.Comparisons = p.Resources[:resources], p.Comparisons[:comparisons]
			return
		}
		for _, r := range found.Resources {
			addResource(p, r, i, len(nodes))
		}
		c.recorder.resourceScratch, found.Resources = found.Resources, nil
		if found.Empty() {
			*found = result.Comparison{}
			p.Comparisons = p.Comparisons[:len(p.Comparisons)-1]
			continue
		}
		found.Node, found.Plugin = c.nodes.names[node], plugin
	}
	if comparing != nil {
		p.Plugins = append(p.Plugins, plugin)
	}
}

// compared returns a node as a plugin saw it that let it through. Filter saw a node with nominated
// pods twice. Counters get the node with them, because more is then in use.
func (c *cycle) compared(comparing Comparing, node int32) fwk.NodeInfo {
	if _, counts := comparing.(Counter); counts {
		if with := c.nominated.with(c.nodes.names[node]); with != nil {
			return with
		}
	}
	return c.nodes.list[node]
}

func (c *cycle) passedBy(node int32, at int) bool {
	if c.verdicts.of[node] != rejected {
		return true
	}
	by := slices.Index(c.profile.filterPlugins, c.verdicts.rejections[node].Plugin())
	return at < by
}

func addResource(p *result.Passes, r result.ResourceComparison, at, n int) {
	column := slices.IndexFunc(p.Resources, func(known result.PassedResource) bool { return known.Name == r.Name })
	if column < 0 {
		column = len(p.Resources)
		values := make([]int64, 2*n)
		p.Resources = append(p.Resources, result.PassedResource{Name: r.Name, Requested: r.Requested, InUse: values[:n:n], Allocatable: values[n:]})
	}
	p.Resources[column].InUse[at], p.Resources[column].Allocatable[at] = r.InUse, r.Allocatable
}
