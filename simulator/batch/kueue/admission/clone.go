package admission

import "maps"

// Clone returns a State that changes independently, for questions about what would happen. Nothing waits there for more events. The
// objects are shared, because they never change.
func (s *State) Clone() *State {
	c := New(s.settings)
	c.settings.FlushAfter = 0
	maps.Copy(c.clusterQueues, s.clusterQueues)
	maps.Copy(c.cohorts, s.cohorts)
	maps.Copy(c.localQueues, s.localQueues)
	maps.Copy(c.flavors, s.flavors)
	maps.Copy(c.topologies, s.topologies)
	maps.Copy(c.checks, s.checks)
	maps.Copy(c.namespaces, s.namespaces)
	maps.Copy(c.limitRanges, s.limitRanges)
	maps.Copy(c.templates, s.templates)
	maps.Copy(c.classes, s.classes)
	maps.Copy(c.nodes, s.nodes)
	maps.Copy(c.pods, s.pods)
	maps.Copy(c.releases, s.releases)
	maps.Copy(c.consumed, s.consumed)
	c.shapes, c.cycle = s.shapes, s.cycle
	if s.quotaTree != nil {
		c.quotaTree = s.quotaTree.copy()
	}
	for key, w := range s.workloads {
		twin := *w
		c.workloads[key] = &twin
	}
	for name, q := range s.queues {
		c.queues[name] = q.clone(c)
	}
	return c
}

func (q *queue) clone(to *State) *queue {
	c := newQueue()
	for _, w := range q.active {
		c.active = append(c.active, to.workloads[w.key])
	}
	for key := range q.parked {
		c.parked[key] = to.workloads[key]
	}
	for key := range q.reserved {
		c.reserved[key] = to.workloads[key]
	}
	for shape, w := range q.refused {
		c.refused[shape] = to.workloads[w.key]
	}
	c.sticky, c.flush = q.sticky, q.flush
	return c
}
