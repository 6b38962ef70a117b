package annotation

import (
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// facts writes the facts that plugins attached to the cycle: {"Plugin":{"key":"value"}}
// about the pod, {"node":{"Plugin":{"key":"value"}}} about nodes. A cycle without facts
// has neither annotation. Each annotation is written whole or not at all.
func (r *renderer) facts(c *result.Cycle) {
	sorted := slices.Clone(c.Facts)
	slices.SortStableFunc(sorted, func(a, b result.Fact) int { return strings.Compare(a.Node, b.Node) })
	n := 0
	for n < len(sorted) && sorted[n].Node == "" {
		n++
	}
	if n > 0 {
		r.add(facts, byPlugin(sorted[:n]))
	}
	if n < len(sorted) {
		r.add(nodeFacts, grouped(sorted[n:], func(f result.Fact) string { return f.Node }, byPlugin))
	}
}

func byPlugin(list []result.Fact) string {
	return grouped(list, func(f result.Fact) string { return f.Plugin }, func(list []result.Fact) string {
		var w objectWriter
		for _, f := range list {
			w.add(f.Key, mustJSON(f.Value))
		}
		return w.String()
	})
}

// grouped renders an object with a member for each run of facts of the same name.
func grouped(list []result.Fact, name func(result.Fact) string, render func([]result.Fact) string) string {
	var w objectWriter
	for len(list) > 0 {
		n := 1
		for n < len(list) && name(list[n]) == name(list[0]) {
			n++
		}
		w.add(name(list[0]), []byte(render(list[:n])))
		list = list[n:]
	}
	return w.String()
}
