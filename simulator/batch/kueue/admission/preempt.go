package admission

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// victim is a workload that is evicted for another, with the reason of its condition Preempted.
type victim struct {
	w      *workload
	reason string
}

type preemption struct {
	within, reclaim kueue.PreemptionPolicy
	// borrow is nil unless a workload that borrows may evict others in the cohort.
	borrow *kueue.BorrowWithinCohort
}

func preemptionOf(queue *kueue.ClusterQueue) preemption {
	p := preemption{within: kueue.PreemptionPolicyNever, reclaim: kueue.PreemptionPolicyNever}
	spec := queue.Spec.Preemption
	if spec == nil {
		return p
	}
	p.within, p.reclaim = cmp.Or(spec.WithinClusterQueue, p.within), cmp.Or(spec.ReclaimWithinCohort, p.reclaim)
	if spec.BorrowWithinCohort != nil && spec.BorrowWithinCohort.Policy == kueue.BorrowWithinCohortPolicyLowerPriority {
		p.borrow = spec.BorrowWithinCohort
	}
	return p
}

type preemptor struct {
	cycle *snapshot
	w     *workload
	// old is the workload whose quota w takes over; nil for none. It is not evicted.
	old    *workload
	node   *node
	policy preemption
	// usage is what the workload needs, and short where it lacks quota.
	usage amounts
	short frSet
	// placed reports whether the topology has room too; nil if there is no topology.
	placed func() bool
	// spared counts the candidates that are not evicted.
	spared int
}

func (c *snapshot) preemptor(w *workload, n *node, queue *kueue.ClusterQueue, usage amounts, short frSet, placed func() bool) *preemptor {
	return &preemptor{cycle: c, w: w, old: c.state.replacedBy(w), node: n, policy: preemptionOf(queue), usage: usage, short: short, placed: placed}
}

// variant says under which rule a workload is a candidate.
type variant int

const (
	// own is in the preemptor's ClusterQueue.
	own variant = iota
	// hierarchical uses what a subtree around the preemptor, and not around the candidate,
	// could hold.
	hierarchical
	// withoutBorrowing may be evicted only if the preemptor does not borrow in the end.
	withoutBorrowing
	// whileBorrowing may be evicted although the preemptor borrows.
	whileBorrowing
)

var variantReasons = map[variant]string{
	own:              reasonInClusterQueue,
	hierarchical:     reasonInCohortReclamation,
	withoutBorrowing: reasonInCohortReclamation,
	whileBorrowing:   reasonInCohortReclaimWhileBorrowing,
}

// candidate is a workload that may be evicted.
type candidate struct {
	w       *workload
	node    *node
	variant variant
	// ancestor is the lowest Cohort above both the candidate and the preemptor; nil for the
	// own ClusterQueue.
	ancestor *node
}

// victims returns whom to evict; empty if that does not make room.
func (p *preemptor) victims() []victim {
	if p.cycle.state.settings.FairSharing != nil {
		return p.fairVictims()
	}
	candidates := p.candidates()
	var victims []victim
	for _, borrow := range p.attempts(candidates) {
		if victims = p.attempt(candidates, borrow); len(victims) > 0 {
			break
		}
	}
	p.spared = len(candidates) - len(victims)
	return victims
}

// candidates returns whom the policies allow to evict, in the order in which they are tried.
func (p *preemptor) candidates() []candidate {
	var list []candidate
	if p.policy.within != kueue.PreemptionPolicyNever {
		for _, w := range p.holders(p.node, p.policy.within) {
			list = append(list, candidate{w: w, node: p.node, variant: own})
		}
	}
	if p.policy.reclaim != kueue.PreemptionPolicyNever {
		list = append(list, p.cohortCandidates()...)
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(btoi(b.w.evicted()), btoi(a.w.evicted())),
			cmp.Compare(variantOrder(a.variant), variantOrder(b.variant)),
			p.compare(a.w, b.w),
		)
	})
	return list
}

func variantOrder(v variant) int {
	switch v {
	case hierarchical:
		return 0
	case own:
		return 2
	default:
		return 1
	}
}

// compare is the order in which workloads of one kind are evicted. In one ClusterQueue that shares by usage, those of LocalQueues that
// have used more come first. Kueue tells LocalQueues apart by their names alone.
func (p *preemptor) compare(a, b *workload) int {
	own := p.node.name
	byUsage := 0
	if a.queue == b.queue && a.object.Spec.QueueName != b.object.Spec.QueueName {
		byUsage = p.cycle.used[a.queue].compare(b, a)
	}
	return cmp.Or(
		cmp.Compare(btoi(b.evicted()), btoi(a.evicted())),
		cmp.Compare(btoi(a.queue == own), btoi(b.queue == own)),
		byUsage,
		cmp.Compare(a.priority, b.priority),
		b.reservedAt.Compare(a.reservedAt),
		strings.Compare(string(a.object.UID), string(b.object.UID)),
		compareKeys(a.key, b.key),
	)
}

// holders are the workloads of a ClusterQueue that use what is short and that a policy allows to
// evict.
func (p *preemptor) holders(n *node, policy kueue.PreemptionPolicy) []*workload {
	var list []*workload
	for _, w := range p.cycle.holders(n.name) {
		uses := false
		if w == p.old {
			continue
		}
		for fr := range p.short {
			uses = uses || w.usage[fr] > 0
		}
		if uses && p.allows(policy, w) {
			list = append(list, w)
		}
	}
	return list
}

func (p *preemptor) allows(policy kueue.PreemptionPolicy, w *workload) bool {
	switch policy {
	case kueue.PreemptionPolicyAny:
		return true
	case kueue.PreemptionPolicyLowerPriority:
		return w.priority < p.w.priority
	case kueue.PreemptionPolicyLowerOrNewerEqualPriority:
		return w.priority < p.w.priority || w.priority == p.w.priority && p.w.since.Before(w.since)
	default:
		return false
	}
}

// cohortCandidates walks up from the preemptor. At each ancestor it collects from the subtrees
// that exceed their quota and that it has not visited.
func (p *preemptor) cohortCandidates() []candidate {
	var list []candidate
	need := maps.Clone(p.usage)
	advantage := fitsQuota(p.node, need)
	below := p.node
	for ancestor := p.node.parent; ancestor != nil; below, ancestor = ancestor, ancestor.parent {
		for _, child := range ancestor.children {
			if child != below {
				p.collect(child, ancestor, advantage, &list)
			}
		}
		advantage = fitsQuota(ancestor, need) || advantage
	}
	return list
}

// fitsQuota reports whether a subtree could hold need within its own quota, and takes what its
// local part holds off need.
func fitsQuota(n *node, need amounts) bool {
	fits := true
	for fr, v := range need {
		if n.borrows(fr, v) {
			fits = false
		}
		need[fr] = max(0, v-n.localAvailable(fr))
	}
	return fits
}

func (p *preemptor) collect(n, ancestor *node, advantage bool, list *[]candidate) {
	if n.withinQuota(p.short) {
		return
	}
	if n.cohort {
		for _, child := range n.children {
			p.collect(child, ancestor, advantage, list)
		}
		return
	}
	for _, w := range p.holders(n, p.policy.reclaim) {
		*list = append(*list, candidate{w: w, node: n, variant: p.variantOf(w, advantage), ancestor: ancestor})
	}
}

func (p *preemptor) variantOf(w *workload, advantage bool) variant {
	switch borrow := p.policy.borrow; {
	case advantage:
		return hierarchical
	case borrow == nil, w.priority >= p.w.priority, borrow.MaxPriorityThreshold != nil && w.priority > *borrow.MaxPriorityThreshold:
		return withoutBorrowing
	default:
		return whileBorrowing
	}
}

// attempts are whether the preemptor may borrow in the end, in the order to try.
func (p *preemptor) attempts(candidates []candidate) []bool {
	onlyOwn, noneHierarchical := true, true
	for _, c := range candidates {
		onlyOwn = onlyOwn && c.variant == own
		noneHierarchical = noneHierarchical && c.variant != hierarchical
	}
	switch {
	case onlyOwn, p.policy.borrow == nil && !p.belowNominal():
		return []bool{true}
	case p.policy.borrow == nil && noneHierarchical:
		return []bool{false, true}
	default:
		return []bool{true, false}
	}
}

// belowNominal reports whether the ClusterQueue uses less than its own quota of all that is
// short.
func (p *preemptor) belowNominal() bool {
	for fr := range p.short {
		if p.node.usage[fr] >= p.node.quotas[fr].nominal {
			return false
		}
	}
	return true
}

// attempt evicts candidates in order until there is room, and puts back those that turn out not
// to be needed. It leaves the snapshot as it was.
func (p *preemptor) attempt(candidates []candidate, borrow bool) []victim {
	var victims []victim
	for _, c := range candidates {
		if !p.valid(c, borrow) {
			continue
		}
		p.cycle.take(c.w)
		victims = append(victims, victim{c.w, variantReasons[c.variant]})
		if p.fits(borrow) {
			victims = p.putBack(victims, func() bool { return p.fits(borrow) })
			p.cycle.giveBack(victims)
			return victims
		}
	}
	p.cycle.giveBack(victims)
	return nil
}

// valid reports whether evicting a candidate still helps: its ClusterQueue and the Cohorts below
// the common ancestor exceed their quota.
func (p *preemptor) valid(c candidate, borrow bool) bool {
	if c.variant == own {
		return true
	}
	if borrow && c.variant == withoutBorrowing {
		return false
	}
	for n := c.node; n != c.ancestor; n = n.parent {
		if n.withinQuota(p.short) {
			return false
		}
	}
	return true
}

// putBack keeps the smallest set that the order of the victims allows. The last one was needed,
// or there would have been room before.
func (p *preemptor) putBack(victims []victim, fits func() bool) []victim {
	kept := slices.Clone(victims)
	for i := len(kept) - 2; i >= 0; i-- {
		v := kept[i]
		p.cycle.put(v.w)
		if fits() {
			kept = slices.Delete(kept, i, i+1)
			continue
		}
		p.cycle.take(v.w)
	}
	return kept
}

func (p *preemptor) fits(borrow bool) bool {
	for fr, v := range p.usage {
		if !borrow && p.node.parent != nil && p.node.borrows(fr, v) {
			return false
		}
	}
	return p.node.fits(p.usage) && (p.placed == nil || p.placed())
}
