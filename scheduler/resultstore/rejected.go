package resultstore

import (
	"slices"
	"strconv"

	"kube-scheduler-simulator/scheduler/result"
)

// What a page of a query for rejected nodes may cost, in evaluated nodes. Reading a cycle
// costs cycleCost beside its nodes. A page reads 200 cycles of 5,000 nodes, or 4,700 of 20.
const (
	pageCost  = 1 << 20
	cycleCost = 200
)

const candidates = 200

// listRejected answers a query for a rejected node. The index selects by the rest of the query;
// whole cycles, read outside the lock, know the node.
func (s *Store) listRejected(q result.Query, limit int, before uint64) result.Page {
	page := result.Page{Items: []result.Summary{}}
	plugin := q.Plugin
	q.Plugin = "" // The index knows plugins only of pods that were not scheduled.
	for left := pageCost; ; {
		found, more, counts := s.find(q, candidates, before)
		if counts != nil {
			page.Counts, q.Counts, q.Buckets = counts, false, 0
		}
		for _, p := range found {
			if left <= 0 || len(page.Items) == limit {
				page.Continue = strconv.FormatUint(before, 10)
				return page
			}
			before = p.sequence
			c, err := s.read(p)
			if err != nil {
				s.unreadable(p.block, err)
				continue
			}
			page.Read++
			left -= cycleCost + c.Nodes.Evaluated
			if rejected(c, q.RejectedOn, plugin) {
				page.Items = append(page.Items, c.Summary)
			}
		}
		if !more {
			return page
		}
	}
}

// rejected reports whether a plugin or an extender rejected the node; an empty plugin stands
// for any.
func rejected(c *result.Cycle, node, plugin string) bool {
	is := func(name string) bool { return plugin == "" || plugin == name }
	if f := c.Filter; f != nil {
		if i := f.Nodes.Index(node); i >= 0 {
			verdict := f.Verdict(i)
			if slices.ContainsFunc(verdict.Rejections(), func(r result.PluginReasons) bool { return is(r.Plugin) }) {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.Extenders, func(call result.ExtenderCall) bool {
		return call.Rejected != nil && is(call.Plugin) && slices.Contains(call.Rejected.Nodes, node)
	})
}
