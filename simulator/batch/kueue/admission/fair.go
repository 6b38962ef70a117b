package admission

import (
	"cmp"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// fairVictims returns whom to evict under fair sharing. The preemptor's need is counted while
// shares are compared.
func (p *preemptor) fairVictims() []victim {
	candidates := p.fairCandidates()
	if len(candidates) == 0 {
		return nil
	}
	f := &fairSearch{preemptor: p, queues: make(map[*node][]*workload), pruned: make(map[*node]bool)}
	f.offer(candidates)
	p.node.useAll(p.usage)
	victims := f.run(p.cycle.state.settings.FairSharing.strategies())
	if len(victims) == 0 {
		p.cycle.giveBack(f.taken)
	} else {
		victims = p.putBack(victims, f.fits)
		p.cycle.giveBack(victims)
	}
	p.node.freeAll(p.usage)
	p.spared = len(candidates) - len(victims)
	return victims
}

// strategies returns the preemption strategies, the default ones if none is set.
func (f *FairSharing) strategies() []PreemptionStrategy {
	if len(f.PreemptionStrategies) == 0 {
		return []PreemptionStrategy{LessThanOrEqualToFinalShare, LessThanInitialShare}
	}
	return f.PreemptionStrategies
}

// fairCandidates returns whom the policies allow to evict, in order.
func (p *preemptor) fairCandidates() []*workload {
	var list []*workload
	if p.policy.within != kueue.PreemptionPolicyNever {
		list = p.holders(p.node, p.policy.within)
	}
	if p.policy.reclaim != kueue.PreemptionPolicyNever && p.node.parent != nil {
		p.eachQueue(p.node.root(), func(n *node) {
			if n != p.node && !n.withinQuota(p.short) {
				list = append(list, p.holders(n, p.policy.reclaim)...)
			}
		})
	}
	slices.SortStableFunc(list, p.compare)
	return list
}

func (p *preemptor) eachQueue(n *node, visit func(*node)) {
	if !n.cohort {
		visit(n)
	}
	for _, child := range n.children {
		p.eachQueue(child, visit)
	}
}

// fairSearch picks victims from the nodes with the highest shares.
type fairSearch struct {
	*preemptor
	// queues are the candidates that are left, by ClusterQueue.
	queues map[*node][]*workload
	// pruned are nodes from which no further workload is taken.
	pruned map[*node]bool
	taken  []victim
	// passed over are candidates that the first strategy spared.
	passed []*workload
}

func (f *fairSearch) offer(candidates []*workload) {
	clear(f.queues)
	clear(f.pruned)
	for _, w := range candidates {
		n := f.cycle.tree.queues[w.queue]
		f.queues[n] = append(f.queues[n], w)
	}
}

// run applies the strategies and returns the victims; empty if there is not room in the end.
func (f *fairSearch) run(strategies []PreemptionStrategy) []victim {
	if f.first(strategies[0]) {
		return f.taken
	}
	if len(strategies) < 2 {
		return nil
	}
	f.offer(f.passed)
	for n := f.next(); n != nil; n = f.next() {
		preemptor, target := f.rivals(n)
		if compareShares(preemptor.share(), target.share()) < 0 && f.evict(f.pop(n), reasonInCohortFairSharing) {
			return f.taken
		}
		// Each ClusterQueue gives one workload to the second strategy.
		f.pruned[n] = true
	}
	return nil
}

// first evicts as the first strategy allows, and reports whether there is room then.
func (f *fairSearch) first(strategy PreemptionStrategy) bool {
	for n := f.next(); n != nil; n = f.next() {
		if n == f.node {
			if f.evict(f.pop(n), reasonInClusterQueue) {
				return true
			}
			continue
		}
		if f.node.withinQuota(f.short) {
			if f.evict(f.pop(n), reasonInCohortReclamation) {
				return true
			}
			continue
		}
		preemptor, target := f.rivals(n)
		own, before := preemptor.share(), target.share()
		for len(f.queues[n]) > 0 {
			w := f.pop(n)
			if !f.allowsShare(strategy, own, before, target, w) {
				f.passed = append(f.passed, w)
				continue
			}
			if f.evict(w, reasonInCohortFairSharing) {
				return true
			}
			// The shares have changed, so another node may come first.
			break
		}
	}
	return false
}

func (f *fairSearch) allowsShare(strategy PreemptionStrategy, own, before share, target *node, w *workload) bool {
	if strategy == LessThanInitialShare {
		return compareShares(own, before) < 0
	}
	f.cycle.take(w)
	after := target.share()
	f.cycle.put(w)
	return compareShares(own, after) <= 0
}

func (f *fairSearch) pop(n *node) *workload {
	w := f.queues[n][0]
	f.queues[n] = f.queues[n][1:]
	return w
}

// evict takes a workload and reports whether there is room then.
func (f *fairSearch) evict(w *workload, reason string) bool {
	f.cycle.take(w)
	f.taken = append(f.taken, victim{w, reason})
	return f.fits()
}

// fits reports whether the preemptor, whose need is counted already, has room.
func (f *fairSearch) fits() bool {
	f.node.freeAll(f.usage)
	defer f.node.useAll(f.usage)
	return f.preemptor.fits(true)
}

// next returns the ClusterQueue from which to take a workload; nil if none is left. It goes down
// from the root to the child with the highest share.
func (f *fairSearch) next() *node {
	if f.node.parent == nil {
		if len(f.queues[f.node]) > 0 && !f.pruned[f.node] {
			return f.node
		}
		return nil
	}
	root := f.node.root()
	for !f.pruned[root] {
		if n := f.descend(root); n != nil {
			return n
		}
	}
	return nil
}

// descend returns the ClusterQueue to take from in a Cohort; nil after it has pruned a Cohort
// that has none.
func (f *fairSearch) descend(cohort *node) *node {
	var best *node
	var highest share
	for _, child := range cohort.children {
		if !child.cohort && len(f.queues[child]) == 0 {
			f.pruned[child] = true
		}
		if f.pruned[child] {
			continue
		}
		share := child.share()
		if share.zero() && !f.above(child) {
			f.pruned[child] = true
			continue
		}
		if best == nil || f.comesFirst(child, share, best, highest) {
			best, highest = child, share
		}
	}
	switch {
	case best == nil:
		f.pruned[cohort] = true
		return nil
	case best.cohort:
		return f.descend(best)
	default:
		return best
	}
}

// comesFirst orders children by share. A Cohort wins a tie with a ClusterQueue, and ClusterQueues
// tie by the order of their candidates.
func (f *fairSearch) comesFirst(a *node, ofA share, b *node, ofB share) bool {
	if c := compareShares(ofA, ofB); c != 0 {
		return c > 0
	}
	if a.cohort || b.cohort {
		return a.cohort && !b.cohort
	}
	return f.compare(f.queues[a][0], f.queues[b][0]) < 0
}

// above reports whether a node is the preemptor's ClusterQueue or an ancestor of it.
func (f *fairSearch) above(n *node) bool {
	for at := f.node; at != nil; at = at.parent {
		if at == n {
			return true
		}
	}
	return false
}

// rivals are the nodes just below the common ancestor of the preemptor and of a target.
func (f *fairSearch) rivals(target *node) (preemptor, rival *node) {
	rival = target
	for !f.above(rival.parent) {
		rival = rival.parent
	}
	preemptor = f.node
	for preemptor.parent != rival.parent {
		preemptor = preemptor.parent
	}
	return preemptor, rival
}

// tournament returns the index of the entry that goes next under fair sharing: one tree at a
// time, and in each Cohort the child that borrows least.
func (c *snapshot) tournament(entries []*entry) int {
	first := 0
	for i, e := range entries {
		if cmp.Compare(e.node.name, entries[first].node.name) < 0 {
			first = i
		}
	}
	byQueue := make(map[*node]*entry)
	root := entries[first].node.root()
	for _, e := range entries {
		e.shares = nil
		if e.node.root() != root {
			continue
		}
		byQueue[e.node] = e
		e.node.useAll(e.assignment.usage)
		for n := e.node; n.parent != nil; n = n.parent {
			share := n.share()
			within := true
			for fr := range e.assignment.usage {
				within = within && !n.borrows(fr, 0)
			}
			e.shares = append(e.shares, nodeShare{n, share, within})
		}
		e.node.freeAll(e.assignment.usage)
	}
	winner := play(root, byQueue)
	return slices.Index(entries, winner)
}

// nodeShare is the share of a node with one entry's need.
type nodeShare struct {
	node   *node
	share  share
	within bool
}

func (e *entry) shareOf(n *node) nodeShare {
	i := slices.IndexFunc(e.shares, func(s nodeShare) bool { return s.node == n })
	return e.shares[i]
}

// play returns the winner among the entries below a node; nil if there is none.
func play(n *node, byQueue map[*node]*entry) *entry {
	if !n.cohort {
		return byQueue[n]
	}
	var best *entry
	var at *node
	for _, child := range n.children {
		e := play(child, byQueue)
		if e != nil && (best == nil || compareFair(e, child, best, at) < 0) {
			best, at = e, child
		}
	}
	return best
}

func compareFair(a *entry, childA *node, b *entry, childB *node) int {
	x, y := a.shareOf(childA), b.shareOf(childB)
	return cmp.Or(
		cmp.Compare(btoi(y.within), btoi(x.within)),
		compareShares(x.share, y.share),
		cmp.Compare(b.w.priority, a.w.priority),
		a.w.since.Compare(b.w.since),
		compareKeys(a.w.key, b.w.key),
	)
}
