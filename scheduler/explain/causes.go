package explain

import (
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// Cause is why a plugin rejects nodes.
type Cause struct {
	Plugin string
	// Reasons are joined by commas; empty if the plugin gave none.
	Reasons string
	// Nodes are in the order of RejectedBy, the nearest first.
	Nodes []string
	// Values are what the plugin compared, where the cycle holds it. Their nodes may be fewer than Nodes.
	Values []Values
}

// Values is what a plugin compared on nodes on which that was the same, in the lines of Compared and Removal.
type Values struct {
	Nodes []string
	Lines []string
}

// Causes returns why each Filter plugin rejects nodes, in the order of the plugins. Removal is left out where pods
// seldom cause the rejection, by its status, unless whole is set.
func Causes(c *result.Cycle, whole bool) []Cause {
	if c.Filter == nil {
		return nil
	}
	var out []Cause
	for _, plugin := range c.Filter.Plugins {
		first := len(out)
		at := map[string]int{}
		for _, r := range RejectedBy(c, plugin) {
			said := strings.Join(r.Reasons, ", ")
			i, known := at[said]
			if !known {
				i = len(out)
				at[said] = i
				out = append(out, Cause{Plugin: plugin, Reasons: said})
			}
			out[i].Nodes = append(out[i].Nodes, r.Node)
			lines := Compared(c, r.Node, plugin)
			if whole || r.Status != Unresolvable {
				lines = append(lines, Removal(c, r.Node, plugin)...)
			}
			out[i].add(r.Node, lines)
		}
		// What holds values comes first.
		slices.SortStableFunc(out[first:], func(a, b Cause) int { return min(len(b.Values), 1) - min(len(a.Values), 1) })
	}
	return out
}

func (c *Cause) add(node string, lines []string) {
	if len(lines) == 0 {
		return
	}
	for i := range c.Values {
		if slices.Equal(c.Values[i].Lines, lines) {
			c.Values[i].Nodes = append(c.Values[i].Nodes, node)
			return
		}
	}
	c.Values = append(c.Values, Values{[]string{node}, lines})
}
