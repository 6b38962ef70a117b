package flow

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// network is a directed network with integer capacities and costs. Arcs come in pairs: arc i^1 is the residual of arc i.
type network struct {
	// first is the first arc of each node, and next the arc after an arc; -1 ends the list.
	first, next []int32
	to          []int32
	capacity    []int64
	cost        []int64
}

func newNetwork(nodes int) *network {
	n := &network{first: make([]int32, nodes)}
	for i := range n.first {
		n.first[i] = -1
	}
	return n
}

// arc adds an arc and returns its number. The cost must not be negative.
func (n *network) arc(from, to int, capacity, cost int64) int {
	i := len(n.to)
	n.half(from, to, capacity, cost)
	n.half(to, from, 0, -cost)
	return i
}

func (n *network) half(from, to int, capacity, cost int64) {
	n.to = append(n.to, int32(to))
	n.capacity = append(n.capacity, capacity)
	n.cost = append(n.cost, cost)
	n.next = append(n.next, n.first[from])
	n.first[from] = int32(len(n.to) - 1)
}

func (n *network) flowOn(arc int) int64 { return n.capacity[arc^1] }

// solve sends as much flow as possible from source to sink, at the least cost. It finds shortest paths by Dijkstra's algorithm on
// reduced costs, and then uses all paths of that length at once. When ctx ends, it leaves the flow as it is.
func (n *network) solve(ctx context.Context, source, sink int) (flow, cost int64) {
	s := &solving{network: n, arcs: n.sorted(), source: source, sink: sink, potential: make([]int64, len(n.first)), distance: make([]int64, len(n.first)), seen: make([]bool, len(n.first))}
	for i := range s.distance {
		s.distance[i] = math.MaxInt64
	}
	for ctx.Err() == nil && s.shortest() {
		for ctx.Err() == nil {
			for _, v := range s.marked {
				s.seen[v] = false
			}
			s.marked = s.marked[:0]
			sent := s.augment(int32(source), math.MaxInt64)
			if sent == 0 {
				break
			}
			flow += sent
			cost += sent * s.length
		}
	}
	return flow, cost
}

// sorted returns the arcs of each node, the cheapest first.
func (n *network) sorted() [][]int32 {
	all := make([]int32, 0, len(n.to))
	out := make([][]int32, len(n.first))
	for v := range n.first {
		from := len(all)
		for a := n.first[v]; a >= 0; a = n.next[a] {
			all = append(all, a)
		}
		out[v] = all[from:len(all):len(all)]
		slices.SortFunc(out[v], func(a, b int32) int { return cmp.Compare(n.cost[a], n.cost[b]) })
	}
	return out
}

// solving is the state of solve. No potential is above 0, so an arc's reduced cost is at least its cost plus the potential of the node
// that it leaves. As the arcs of a node are sorted by cost, most of them need not be looked at.
type solving struct {
	*network
	arcs         [][]int32
	source, sink int
	// potential makes all reduced costs of residual arcs 0 or more.
	potential, distance []int64
	// length is the cost of the present shortest path.
	length int64
	queue  queue
	// reached are the nodes whose distance is set, and marked those that augment has seen.
	reached, marked []int32
	seen            []bool
}

// shortest finds the distance to the sink. It does not look at nodes that are further away than the sink.
func (s *solving) shortest() bool {
	for _, v := range s.reached {
		s.distance[v] = math.MaxInt64
	}
	s.reached, s.queue = s.reached[:0], s.queue[:0]
	s.reach(int32(s.source), 0)
	for len(s.queue) > 0 {
		at := s.queue.pop()
		if at.distance > s.distance[at.node] {
			continue
		}
		if int(at.node) == s.sink {
			break
		}
		for _, a := range s.arcs[at.node] {
			if at.distance+s.cost[a]+s.potential[at.node] >= s.distance[s.sink] {
				break
			}
			if s.capacity[a] == 0 {
				continue
			}
			to := s.to[a]
			d := at.distance + s.cost[a] + s.potential[at.node] - s.potential[to]
			if d < s.distance[to] && d < s.distance[s.sink] {
				s.reach(to, d)
			}
		}
	}
	last := s.distance[s.sink]
	if last == math.MaxInt64 {
		return false
	}
	for _, v := range s.reached {
		if d := s.distance[v]; d < last {
			s.potential[v] += d - last
		}
	}
	s.length = -s.potential[s.source] + s.potential[s.sink]
	return true
}

func (s *solving) reach(v int32, distance int64) {
	if s.distance[v] == math.MaxInt64 {
		s.reached = append(s.reached, v)
	}
	s.distance[v] = distance
	s.queue.push(entry{distance, v})
}

// augment sends flow from v to the sink along arcs whose reduced cost is 0.
func (s *solving) augment(v int32, most int64) int64 {
	if int(v) == s.sink {
		return most
	}
	s.seen[v] = true
	s.marked = append(s.marked, v)
	sent := int64(0)
	for _, a := range s.arcs[v] {
		if sent == most || s.cost[a]+s.potential[v] > 0 {
			break
		}
		to := s.to[a]
		if s.capacity[a] == 0 || s.seen[to] || s.cost[a]+s.potential[v]-s.potential[to] != 0 {
			continue
		}
		if got := s.augment(to, min(most-sent, s.capacity[a])); got > 0 {
			s.capacity[a] -= got
			s.capacity[a^1] += got
			sent += got
		}
	}
	return sent
}

// entry is a node that waits at a distance.
type entry struct {
	distance int64
	node     int32
}

// queue is a binary heap, the nearest entry first. Package container/heap would allocate for each entry.
type queue []entry

func (q *queue) push(e entry) {
	h := append(*q, e)
	at := len(h) - 1
	for at > 0 && h[(at-1)/2].distance > e.distance {
		h[at] = h[(at-1)/2]
		at = (at - 1) / 2
	}
	h[at] = e
	*q = h
}

func (q *queue) pop() entry {
	h := *q
	least, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	at := 0
	for child := 1; child < len(h); child = 2*at + 1 {
		if child+1 < len(h) && h[child+1].distance < h[child].distance {
			child++
		}
		if h[child].distance >= last.distance {
			break
		}
		h[at] = h[child]
		at = child
	}
	if len(h) > 0 {
		h[at] = last
	}
	return least
}
