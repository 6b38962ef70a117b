package upgrade

import (
	"fmt"
	"maps"
	"slices"

	"kube-scheduler-simulator/scheduler/versions/wire"
)

// causeOf finds why two full decisions of a class differ.
func causeOf(class Class, before, after *wire.Decision) Cause {
	cause := Cause{Class: class}
	switch class {
	case Lost:
		cause.rejection(after, before.Best)
		cause.After = cause.Before
		cause.Before = nil
	case Gained:
		cause.rejection(before, after.Best)
	case Tie, Moved:
		cause.feasibility(before, after)
	case Reason:
		cause.reasons(before, after)
	}
	return cause
}

// rejection finds who rejects the nodes on which the pod fits in the other version. It leaves the answer in Before.
func (c *Cause) rejection(rejects *wire.Decision, nodes []string) {
	if s := rejects.PreFilter; s != nil {
		c.Point, c.Plugins, c.Before, c.Proven = "preFilter", []string{s.Plugin}, s, true
		return
	}
	c.Point = "filter"
	for i := range rejects.Rejections {
		r := &rejects.Rejections[i]
		if r.Further || !slices.ContainsFunc(r.Nodes, func(node string) bool { return slices.Contains(nodes, node) }) {
			continue
		}
		c.Plugins, c.Before = []string{r.Plugin}, &r.Status
		// Another plugin may reject the same node after it.
		for j := range rejects.Rejections {
			other := &rejects.Rejections[j]
			if other.Further && other.Plugin != r.Plugin && slices.ContainsFunc(other.Nodes, func(node string) bool { return slices.Contains(r.Nodes, node) && slices.Contains(nodes, node) }) && !slices.Contains(c.Plugins, other.Plugin) {
				c.Plugins = append(c.Plugins, other.Plugin)
			}
		}
		c.Proven = true
		return
	}
}

// feasibility names the plugins whose verdicts let other nodes be scored.
func (c *Cause) feasibility(before, after *wire.Decision) {
	c.Point = "filter"
	old, fresh := verdictsOf(before), verdictsOf(after)
	c.Plugins = differingPlugins(old, fresh)
	if len(c.Plugins) == 0 && before.PreFilter == nil && after.PreFilter == nil && !slices.Equal(before.Restricted, after.Restricted) {
		c.Point = "preFilter"
	}
}

// reasons finds the plugins that reject nodes in one version only, or with other words or codes.
func (c *Cause) reasons(before, after *wire.Decision) {
	if fmt.Sprint(valueOf(before.PreFilter)) != fmt.Sprint(valueOf(after.PreFilter)) {
		c.Point, c.Before, c.After, c.Proven = "preFilter", before.PreFilter, after.PreFilter, true
		for _, s := range []*wire.Status{before.PreFilter, after.PreFilter} {
			if s != nil && !slices.Contains(c.Plugins, s.Plugin) {
				c.Plugins = append(c.Plugins, s.Plugin)
			}
		}
		return
	}
	old, fresh := verdictsOf(before), verdictsOf(after)
	if c.Plugins = differingPlugins(old, fresh); len(c.Plugins) > 0 {
		c.Point, c.Proven = "filter", true
		if len(c.Plugins) == 1 {
			c.Before, c.After = firstOf(before, c.Plugins[0]), firstOf(after, c.Plugins[0])
		}
		return
	}
	c.Point = "postFilter"
	for _, p := range []*wire.Preemption{before.Preemption, after.Preemption} {
		if p != nil && p.Status != nil && p.Status.Plugin != "" && !slices.Contains(c.Plugins, p.Status.Plugin) {
			c.Plugins = append(c.Plugins, p.Status.Plugin)
		}
	}
}

func firstOf(d *wire.Decision, plugin string) *wire.Status {
	for i := range d.Rejections {
		if d.Rejections[i].Plugin == plugin {
			return &d.Rejections[i].Status
		}
	}
	return nil
}

// sameReasons reports whether the same plugins reject the same nodes, with the same codes and words. Their order does not matter.
func sameReasons(a, b *wire.Decision) bool {
	return fmt.Sprint(valueOf(a.PreFilter)) == fmt.Sprint(valueOf(b.PreFilter)) && slices.Equal(a.Restricted, b.Restricted) &&
		len(differingPlugins(verdictsOf(a), verdictsOf(b))) == 0
}

// verdicts are what plugins said when they rejected nodes, by plugin and node.
type verdicts map[string]map[string]string

func verdictsOf(d *wire.Decision) verdicts {
	out := verdicts{}
	for i := range d.Rejections {
		r := &d.Rejections[i]
		if out[r.Plugin] == nil {
			out[r.Plugin] = map[string]string{}
		}
		for _, node := range r.Nodes {
			out[r.Plugin][node] = fmt.Sprint(r.Code, r.Reasons)
		}
	}
	return out
}

// differingPlugins returns the plugins whose verdicts differ, by name.
func differingPlugins(a, b verdicts) []string {
	var out []string
	for plugin := range a {
		if !maps.Equal(a[plugin], b[plugin]) {
			out = append(out, plugin)
		}
	}
	for plugin := range b {
		if a[plugin] == nil {
			out = append(out, plugin)
		}
	}
	slices.Sort(out)
	return out
}

// scoredAlike reports whether both versions scored the same nodes.
func scoredAlike(a, b *wire.Table) bool {
	if a == nil || b == nil || len(a.Columns) == 0 || len(b.Columns) == 0 || a.Columns[0].Len() != b.Columns[0].Len() {
		return false
	}
	x, y := a.Columns[0], b.Columns[0]
	for i := range x.Len() {
		if (x.At(i) == wire.Unscorable) != (y.At(i) == wire.Unscorable) {
			return false
		}
	}
	return true
}

// byScores returns the class and the cause of two decisions that scored the same nodes and have other best ones.
func byScores(before, after *wire.Table) (Class, Cause) {
	old, fresh := columnsOf(before), columnsOf(after)
	best, newBest := old.best(), fresh.best()
	class := Moved
	if slices.ContainsFunc(best, func(i int) bool { return slices.Contains(newBest, i) }) {
		class = Tie
	}
	if slices.Equal(best, newBest) {
		class = Same
	}
	cause := Cause{Class: class, Point: "score"}
	differ := old.differing(fresh)
	for _, plugin := range differ {
		if slices.Equal(fresh.with(old, plugin).best(), best) {
			cause.Plugins, cause.Proven = []string{plugin}, true
			return class, cause
		}
	}
	cause.Plugins = differ
	cause.Proven = len(differ) > 0 && slices.Equal(fresh.with(old, differ...).best(), best)
	return class, cause
}

// columns are what plugins add to the totals, by plugin. A plugin that is not there adds nothing.
type columns map[string]wire.Column

func columnsOf(t *wire.Table) columns {
	out := columns{}
	for j, p := range t.Plugins {
		out[p.Name] = t.Columns[j]
	}
	return out
}

// best returns the nodes with the best total, by their number.
func (c columns) best() (best []int) {
	var total int64
	for i := range c.nodes() {
		sum, scored := int64(0), false
		for _, column := range c {
			if v := column.At(i); v != wire.Unscorable {
				sum, scored = sum+v, true
			}
		}
		switch {
		case !scored:
		case len(best) == 0 || sum > total:
			best, total = append(best[:0], i), sum
		case sum == total:
			best = append(best, i)
		}
	}
	return best
}

func (c columns) nodes() int {
	for _, column := range c {
		return column.Len()
	}
	return 0
}

// with returns the columns, those of some plugins as another version has them.
func (c columns) with(other columns, plugins ...string) columns {
	out := maps.Clone(c)
	for _, plugin := range plugins {
		if column, ok := other[plugin]; ok {
			out[plugin] = column
		} else {
			delete(out, plugin)
		}
	}
	return out
}

// differing returns the plugins that rank nodes otherwise, by name: what is more by the same for all nodes makes no difference.
func (c columns) differing(other columns) []string {
	var out []string
	for plugin := range union(c, other) {
		a, b := c[plugin], other[plugin]
		value := func(column wire.Column, i int) int64 {
			if column == nil {
				return 0
			}
			return column.At(i)
		}
		first, delta := true, int64(0)
		for i := range max(a.Len(), b.Len()) {
			x, y := value(a, i), value(b, i)
			if x == wire.Unscorable || y == wire.Unscorable {
				continue
			}
			if !first && x-y != delta {
				out = append(out, plugin)
				break
			}
			first, delta = false, x-y
		}
	}
	slices.Sort(out)
	return out
}
