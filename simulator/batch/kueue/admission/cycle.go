package admission

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// snapshot is what one cycle works on. Its tree changes as heads are processed, and while
// evictions are tried out.
type snapshot struct {
	state *State
	tree  *tree
	now   time.Time
	// gone are the workloads that are taken out of the tree at the moment.
	gone map[*workload]bool
	// fresh are the workloads that this cycle has given quota. No other workload evicts them.
	fresh map[*workload]bool
	// used is what the LocalQueues had used when the cycle began, by ClusterQueue; those that do not order by it are missing.
	used map[string]usages
	// chosen are the victims of the heads so far, in order.
	chosen []victim
	// leaves are what topology-aware workloads take, and others what the rest takes on each
	// node. Both are empty without topologies.
	leaves leafUsage
	others map[string]map[v1.ResourceName]int64
}

func (s *State) snapshot(now time.Time) *snapshot {
	c := &snapshot{
		state: s, tree: s.tree().copy(), now: now, gone: make(map[*workload]bool), fresh: make(map[*workload]bool),
		leaves: make(leafUsage), others: make(map[string]map[v1.ResourceName]int64),
	}
	if s.settings.AdmissionFairSharing != nil {
		c.used = make(map[string]usages)
		for name := range s.clusterQueues {
			if used := s.usagesOf(name); used != nil {
				c.used[name] = used
			}
		}
	}
	if len(s.topologies) == 0 {
		return c
	}
	for _, w := range s.workloads {
		c.leaves.add(w.domains, 1)
	}
	for _, pod := range s.pods {
		if s.placedByTopology(pod) {
			continue
		}
		at := c.others[pod.Spec.NodeName]
		if at == nil {
			at = make(map[v1.ResourceName]int64)
			c.others[pod.Spec.NodeName] = at
		}
		for name, q := range resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}) {
			at[name] += valueOf(name, q)
		}
		at[v1.ResourcePods]++
	}
	return c
}

// placedByTopology reports whether a pod belongs to a workload whose domains are counted, or were until the workload went: Kueue does
// not count such a pod while it terminates. Each of them asks for a topology, if only because its job got the annotation when it started.
func (s *State) placedByTopology(pod *v1.Pod) bool {
	for _, key := range []string{kueue.PodSetRequiredTopologyAnnotation, kueue.PodSetPreferredTopologyAnnotation, kueue.PodSetUnconstrainedTopologyAnnotation} {
		if _, asks := pod.Annotations[key]; asks {
			return true
		}
	}
	w := s.workloads[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Annotations[kueue.WorkloadAnnotation]}]
	return w != nil && len(w.domains) > 0
}

// holders are the workloads with quota in a ClusterQueue that may still be evicted, in no order. Those of a ClusterQueue that is not active
// keep their quota, whatever it is: Kueue's snapshots leave such ClusterQueues out.
func (c *snapshot) holders(name string) []*workload {
	q := c.state.queues[name]
	if q == nil || len(c.state.causes(name)) > 0 {
		return nil
	}
	list := make([]*workload, 0, len(q.reserved))
	for _, w := range q.reserved {
		if !c.gone[w] && !c.fresh[w] {
			list = append(list, w)
		}
	}
	if c.used != nil {
		// Kueue compares by usage within a ClusterQueue only, which is no order of all. The same workloads always sort alike.
		slices.SortFunc(list, func(a, b *workload) int { return compareKeys(a.key, b.key) })
	}
	return list
}

// take takes a workload's usage away, and put puts it back.
func (c *snapshot) take(w *workload) {
	c.gone[w] = true
	c.tree.queues[w.queue].freeAll(w.usage)
	c.leaves.add(w.domains, -1)
}

func (c *snapshot) put(w *workload) {
	delete(c.gone, w)
	c.tree.queues[w.queue].useAll(w.usage)
	c.leaves.add(w.domains, 1)
}

func (c *snapshot) giveBack(victims []victim) {
	for _, v := range victims {
		c.put(v.w)
	}
}

// without takes the victims' usage away until the returned function is called.
func (c *snapshot) without(victims []victim) (restore func()) {
	var taken []victim
	for _, v := range victims {
		if !c.gone[v.w] {
			c.take(v.w)
			taken = append(taken, v)
		}
	}
	return func() { c.giveBack(taken) }
}

// entry is one head while a cycle works on it.
type entry struct {
	w          *workload
	queue      *kueue.ClusterQueue
	node       *node
	head       Head
	assignment *assignment
	victims    []victim
	// spared counts the candidates that are not evicted.
	spared int
	shares []nodeShare
}

// Cycle tries one head of every active ClusterQueue. It takes the decisions as carried out: a Reserve counts from now on. It returns nil if there
// is no head.
func (s *State) Cycle(now time.Time) *Record {
	s.flushed(now)
	heads := s.heads()
	if len(heads) == 0 {
		return nil
	}
	s.cycle++
	record := &Record{Cycle: s.cycle, Time: now}
	c := s.snapshot(now)
	var entries []*entry
	var refused []*entry
	for _, w := range heads {
		e := s.entry(w, c)
		if why := s.refusal(w); !why.IsZero() {
			e.refuse(conditionOf(why), why)
			refused = append(refused, e)
			continue
		}
		s.dropProgress(w, e.node)
		c.nominate(e)
		entries = append(entries, e)
	}
	processed := c.process(entries, record)
	for _, e := range append(processed, refused...) {
		s.finish(e, record)
		record.Heads = append(record.Heads, e.head)
	}
	return record
}

// heads returns one workload for every active ClusterQueue that has any.
func (s *State) heads() []*workload {
	var heads []*workload
	for _, name := range s.queueNames() {
		if len(s.queues[name].active) == 0 || len(s.causes(name)) > 0 {
			continue
		}
		heads = append(heads, s.queues[name].head(s.usagesOf(name)))
	}
	return heads
}

func (s *State) entry(w *workload, c *snapshot) *entry {
	n := c.tree.queues[w.queue]
	var replaces *Ref
	if old := s.replacedBy(w); old != nil {
		replaces = new(old.ref())
	}
	return &entry{w: w, queue: s.clusterQueues[w.queue], node: n, head: Head{
		Workload: w.ref(), LocalQueue: string(w.object.Spec.QueueName), ClusterQueue: w.queue, Cohorts: n.cohorts(),
		Priority: w.priority, QueuedSince: w.since, Replaces: replaces, LocalQueues: c.used[w.queue].localQueues(s.queues[w.queue].active),
	}}
}

func (e *entry) refuse(condition string, why Reason) {
	e.head.Outcome, e.head.Condition, e.head.Reason = Refused, condition, why
}

// refusal says why a head is not even tried.
func (s *State) refusal(w *workload) Reason {
	switch {
	case checksFailed(w.object):
		return Reason{ChecksFailed{}}
	case !s.selects(s.clusterQueues[w.queue], w.key.Namespace):
		return Reason{NamespaceMismatch{}}
	}
	if fields := requestsAboveLimits(w.object); len(fields) > 0 {
		return Reason{RequestsAboveLimits{fields}}
	}
	if violations := s.limitViolations(w.object); len(violations) > 0 {
		return Reason{OutsideLimitRange{violations}}
	}
	return Reason{}
}

// dropProgress lets the search for flavors begin at the first again if quota was released after
// the latest attempt, unless that was the previous cycle.
func (s *State) dropProgress(w *workload, n *node) {
	generation := s.shapes + s.releases[n.root().name]
	if w.progress.cycle < s.cycle-1 && w.progress.generation != generation {
		w.progress = progress{}
	}
}

// nominate finds flavors and victims for a head, for fewer pods if the workload allows it and
// there is no other way.
func (c *snapshot) nominate(e *entry) {
	counts := make([]int32, len(e.w.podSets))
	for i, p := range e.w.podSets {
		counts[i] = p.count
	}
	c.plan(e, counts, nil)
	if e.possible() {
		return
	}
	i := slices.IndexFunc(e.w.podSets, func(p podSet) bool { return p.minCount != nil && *p.minCount < p.count })
	if i < 0 {
		return
	}
	full, most := *e, e.w.podSets[i].count
	fewer := sort.Search(int(most-*e.w.podSets[i].minCount), func(less int) bool {
		counts[i] = most - 1 - int32(less)
		c.plan(e, counts, nil)
		return e.possible()
	})
	if fewer == int(most-*e.w.podSets[i].minCount) {
		*e = full
		return
	}
	counts[i] = most - 1 - int32(fewer)
	c.plan(e, counts, nil)
	e.head.Counts = map[string]int32{e.w.podSets[i].name: counts[i]}
}

// possible reports whether a head can be admitted, now or after its victims have left.
func (e *entry) possible() bool {
	return e.assignment.mode == Fit || e.assignment.mode != NoFit && len(e.victims) > 0
}

// plan finds flavors for the given numbers of pods, and victims if that takes any.
func (c *snapshot) plan(e *entry, counts []int32, pinned *assignment) {
	a := &search{state: c.state, cycle: c, queue: e.queue, node: e.node, w: e.w, counts: counts, pinned: pinned, old: c.state.replacedBy(e.w)}
	e.assignment, e.victims, e.spared = a.assign(), nil, 0
	if e.assignment.mode == NoFit || e.assignment.mode == Fit {
		return
	}
	var placed func() bool
	if a.usesTopology(e.assignment) {
		placed = func() bool { return a.place(e.assignment, false).IsZero() }
	}
	p := c.preemptor(e.w, e.node, e.queue, e.assignment.usage, e.assignment.short(), placed)
	e.victims, e.spared = p.victims(), p.spared
	e.assignment.clearDomains()
	if placed != nil && len(e.victims) > 0 {
		restore := c.without(e.victims)
		placed()
		restore()
	}
}

// process takes the nominated heads in order and returns them in it.
func (c *snapshot) process(entries []*entry, record *Record) []*entry {
	var done []*entry
	fair := c.state.settings.FairSharing != nil
	if !fair {
		slices.SortStableFunc(entries, compareEntries)
	}
	for len(entries) > 0 {
		i := 0
		if fair {
			i = c.tournament(entries)
		}
		e := entries[i]
		entries = slices.Delete(entries, i, i+1)
		done = append(done, e)
		e.head.Order, e.head.Borrowing = len(done), e.assignment.borrowing
		for _, s := range e.shares {
			e.head.Shares = append(e.head.Shares, NodeShare{Node: s.node.name, Share: s.share.value, Infinite: s.share.infinite, WithinNominal: s.within})
		}
		c.processOne(e, record)
		e.describe(c.used)
		if e.head.Outcome == Preempting {
			for _, v := range e.victims {
				v.w.evicting = true
			}
		}
	}
	return done
}

// compareEntries is the order without fair sharing.
func compareEntries(a, b *entry) int {
	return cmp.Or(
		cmp.Compare(a.assignment.borrowing, b.assignment.borrowing),
		cmp.Compare(b.w.priority, a.w.priority),
		a.w.since.Compare(b.w.since),
		compareKeys(a.w.key, b.w.key),
	)
}

func (c *snapshot) processOne(e *entry, record *Record) {
	if c.outdated(e) && !c.elsewhere(e) {
		restore := c.without(c.chosen)
		c.plan(e, e.counts(), e.assignment)
		restore()
		if e.assignment.mode == Fit {
			e.hold()
			c.leaves.add(e.domains(), 1)
			e.skip(reasonWaitingForPreemptedWorkloads, Reason{VictimsShared{}})
			e.w.progress = progress{}
			return
		}
	}
	switch {
	case e.assignment.mode == NoFit:
		e.refuse(e.assignment.condition, Reason{NoFlavors{e.assignment.reasons()}})
		return
	case e.assignment.mode != Fit && len(e.victims) == 0:
		e.refuse(reasonWaitingForQuota, Reason{NoFlavors{e.assignment.reasons()}})
		c.keep(e)
		return
	}
	restore := c.without(slices.Concat(c.chosen, e.victims))
	fits := e.node.fits(e.assignment.usage)
	restore()
	if !fits || e.assignment.mode == Fit && !c.state.tree().queues[e.w.queue].fits(e.assignment.usage) {
		// Kueue asks only the first. The victims of other heads still hold their quota,
		// so a workload that starts at once must fit beside them too.
		e.skip(reasonWaitingForQuota, Reason{LostQuota{}})
		return
	}
	if e.assignment.mode != Fit {
		e.hold()
		c.leaves.add(e.domains(), 1)
		c.preempt(e, record)
		return
	}
	if unready := c.state.unready(); unready != nil {
		e.head.Outcome, e.head.Condition, e.head.Reason = Blocked, reasonWaitingForPodsReady, Reason{PodsNotReady{unready.ref()}}
		return
	}
	e.hold()
	c.leaves.add(e.domains(), 1)
	c.admit(e, record)
}

// outdated reports whether heads before this one have changed what it was nominated for.
func (c *snapshot) outdated(e *entry) bool {
	for _, v := range e.victims {
		if slices.ContainsFunc(c.chosen, func(other victim) bool { return other.w == v.w }) {
			return true
		}
	}
	return e.assignment.mode == Fit && !c.roomInDomains(e)
}

// elsewhere finds other domains for a head that lost its own to heads before it, and reports
// whether there are any.
func (c *snapshot) elsewhere(e *entry) bool {
	if e.assignment.mode != Fit {
		return false
	}
	nominated := *e
	c.plan(e, e.counts(), e.assignment)
	if e.assignment.mode == Fit {
		return true
	}
	*e = nominated
	return false
}

func (e *entry) counts() []int32 {
	counts := make([]int32, len(e.w.podSets))
	for i, p := range e.w.podSets {
		counts[i] = p.count
		for _, assigned := range e.assignment.podSets {
			if assigned.podSet.name == p.name {
				counts[i] = assigned.count
			}
		}
	}
	return counts
}

// hold counts a head's need for the rest of the cycle.
func (e *entry) hold() { e.node.useAll(e.assignment.usage) }

func (e *entry) domains() []domainUsage {
	var usage []domainUsage
	for _, p := range e.assignment.podSets {
		for _, d := range p.domains {
			usage = append(usage, domainUsage{d.key, d.pods, p.podSet.pod})
		}
	}
	return usage
}

func (e *entry) skip(condition string, why Reason) {
	e.head.Outcome, e.head.Condition, e.head.Reason = Skipped, condition, why
}

// keep reserves quota for a head that waits for others to finish, so that later heads do not
// take it. A ClusterQueue that can always reclaim does not need to.
func (c *snapshot) keep(e *entry) {
	if preemptionOf(e.queue).reclaim == kueue.PreemptionPolicyAny {
		return
	}
	kept := make(amounts)
	for fr, need := range e.assignment.usage {
		q := e.node.quotas[fr]
		limit := q.nominal
		if e.assignment.borrowing > 0 {
			limit = saturatingAdd(q.nominal, ptr.Deref(q.borrowing, unlimited))
		}
		if v := min(need, limit-e.node.usage[fr]); v > 0 {
			kept[fr] = v
		}
	}
	e.node.useAll(kept)
	e.head.Reserves = kept.list()
}

func (c *snapshot) preempt(e *entry, record *Record) {
	c.chosen = append(c.chosen, e.victims...)
	e.head.Outcome, e.head.Condition = Preempting, reasonWaitingForPreemptedWorkloads
	e.head.Reason = Reason{PreemptionPending{PodSets: e.assignment.reasons(), Victims: len(e.victims)}}
	e.w.progress = progress{}
	for _, v := range e.victims {
		if !v.w.evicted() {
			record.Decisions = append(record.Decisions, preempted(v, e))
		}
	}
}

func (c *snapshot) admit(e *entry, record *Record) {
	admission := c.admission(e)
	record.Decisions = append(record.Decisions, c.state.reserveDecision(e, admission, c.now))
	e.head.Outcome, e.head.Condition = Reserved, reasonQuotaReserved
	c.fresh[e.w] = true
	if old := c.state.replacedBy(e.w); old != nil {
		record.Decisions = append(record.Decisions, Replaced(old.object, e.w.object))
		c.state.leave(old)
		old.replaced = true
	}
	c.state.reserve(e.w, admission, c.now)
	e.w.assumed, e.w.penalty = true, c.state.penaltyOf(e.w)
}

// admission is the assignment as the workload's status has it.
func (c *snapshot) admission(e *entry) *kueue.Admission {
	admission := &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(e.w.queue)}
	for _, p := range e.assignment.podSets {
		assigned := kueue.PodSetAssignment{Name: kueue.PodSetReference(p.podSet.name), Count: ptr.To(p.count), Flavors: make(map[v1.ResourceName]kueue.ResourceFlavorReference), ResourceUsage: make(v1.ResourceList)}
		for name, choice := range p.flavors {
			assigned.Flavors[name] = kueue.ResourceFlavorReference(choice.flavor)
			assigned.ResourceUsage[name] = quantityOf(name, p.requests[name])
		}
		if len(p.domains) > 0 {
			assigned.TopologyAssignment = e.topologyAssignment(&p, c.state.topologyOf(p.flavor()))
		}
		admission.PodSetAssignments = append(admission.PodSetAssignments, assigned)
	}
	return admission
}

func (e *entry) describe(used map[string]usages) {
	for _, p := range e.assignment.podSets {
		for _, d := range p.domains {
			p.search.Topology = append(p.search.Topology, DomainPods{Values: d.values, Pods: d.pods})
		}
		e.head.PodSets = append(e.head.PodSets, p.search)
	}
	short := e.assignment.short()
	for _, v := range e.victims {
		frees := maps.Clone(v.w.usage)
		maps.DeleteFunc(frees, func(fr flavorResource, _ int64) bool { return !short[fr] })
		e.head.Victims = append(e.head.Victims, Victim{
			Workload: v.w.ref(), ClusterQueue: v.w.queue, Priority: v.w.priority, Reason: v.reason, AlreadyEvicted: v.w.evicted(), Frees: frees.list(), Used: used[v.w.queue].of(v.w),
		})
	}
	e.head.SpareCandidates = e.spared
}

// finish puts a head back where it belongs and decides what its condition says.
func (s *State) finish(e *entry, record *Record) {
	w := e.w
	if e.head.Outcome == Reserved {
		return
	}
	w.last = verdict{cycle: s.cycle, condition: e.head.Condition, reason: e.head.Reason}
	q := s.queues[w.queue]
	if d, changed := refuseDecision(w, e.head.Condition, e.head.Reason.String()); changed {
		record.Decisions = append(record.Decisions, d)
	}
	if e.assignment != nil && e.head.Outcome != Preempting && !isVictimsShared(e.head.Reason) {
		w.progress = progress{cycle: s.cycle, generation: s.shapes + s.releases[e.node.root().name], next: e.assignment.next}
	}
	strict := e.queue.Spec.QueueingStrategy == kueue.StrictFIFO
	if !strict && (e.head.Outcome == Preempting || isVictimsShared(e.head.Reason)) {
		q.sticky = w.key
	}
	if e.head.Outcome != Refused || w.progress.left() && e.assignment != nil {
		return
	}
	if _, mismatch := e.head.Reason.Operands.(NamespaceMismatch); strict && !mismatch {
		return
	}
	e.head.Parked = true
	q.remove(w)
	q.park(w, e.head.Reason)
	if !refusedForShape(e.head.Reason) {
		return
	}
	q.active = slices.DeleteFunc(q.active, func(other *workload) bool {
		if other.shapeOf() != w.shapeOf() {
			return false
		}
		q.park(other, Reason{EqualRefused{w.ref(), e.head.Reason}})
		e.head.ParkedEquals = append(e.head.ParkedEquals, other.ref())
		return true
	})
}

func isVictimsShared(why Reason) bool {
	_, shared := why.Operands.(VictimsShared)
	return shared
}

// unready returns an admitted workload whose pods are not ready, if that blocks admission.
func (s *State) unready() *workload {
	if s.settings.WaitForPodsReady == nil || !s.settings.WaitForPodsReady.BlockAdmission {
		return nil
	}
	for _, name := range s.queueNames() {
		for _, w := range s.queues[name].reservedInOrder() {
			admitted := w.assumed || meta.IsStatusConditionTrue(w.object.Status.Conditions, kueue.WorkloadAdmitted)
			if admitted && !meta.IsStatusConditionTrue(w.object.Status.Conditions, kueue.WorkloadPodsReady) {
				return w
			}
		}
	}
	return nil
}
