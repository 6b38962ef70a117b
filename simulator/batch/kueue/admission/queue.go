package admission

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

type queue struct {
	// active are by priority and age. They are tried in the order of compare.
	active []*workload
	// parked are not tried until an event flushes them.
	parked   map[types.NamespacedName]*workload
	reserved map[types.NamespacedName]*workload
	// refused are the parked workloads that were refused for what they ask, by their shape.
	refused map[string]*workload
	// sticky is the workload that evicts others and goes first, whatever its priority.
	sticky types.NamespacedName
	// flush means that the parked workloads become active before the next cycle, or before the first one that is not before due.
	flush bool
	due   time.Time // zero until the first cycle after what lets them be tried again
}

func newQueue() *queue {
	return &queue{
		parked:   make(map[types.NamespacedName]*workload),
		reserved: make(map[types.NamespacedName]*workload),
		refused:  make(map[string]*workload),
	}
}

func (q *queue) push(w *workload) {
	w.place, w.waits = active, Reason{}
	i, _ := slices.BinarySearchFunc(q.active, w, compareQueued)
	q.active = slices.Insert(q.active, i, w)
}

func (q *queue) park(w *workload, why Reason) {
	w.place, w.waits = parked, why
	q.parked[w.key] = w
	if _, untried := why.Operands.(EqualRefused); !untried && refusedForShape(why) {
		q.refused[w.shapeOf()] = w
	}
}

func (q *queue) unpark(w *workload) {
	q.remove(w)
	q.push(w)
}

func (q *queue) remove(w *workload) {
	if q.refused[w.shape] == w {
		delete(q.refused, w.shape)
	}
	delete(q.parked, w.key)
	delete(q.reserved, w.key)
	if w.place == active {
		if i, found := slices.BinarySearchFunc(q.active, w, compareQueued); found {
			q.active = slices.Delete(q.active, i, i+1)
		}
	}
}

// head returns the workload that a cycle tries; nil if none is active. What the LocalQueues have used comes before all else.
func (q *queue) head(used usages) *workload {
	if len(q.active) == 0 {
		return nil
	}
	if used != nil {
		return slices.MinFunc(q.active, func(a, b *workload) int { return q.compare(used, a, b) })
	}
	if q.sticky != (types.NamespacedName{}) {
		if i := slices.IndexFunc(q.active, func(w *workload) bool { return w.key == q.sticky }); i >= 0 {
			return q.active[i]
		}
	}
	return q.active[0]
}

// refusedEqual returns a parked workload of the same shape as w that was refused for what it
// asks; nil if there is none, or if the parked ones are tried again in the next cycle.
func (s *State) refusedEqual(q *queue, w *workload) *workload {
	if q.flush && s.settings.FlushAfter == 0 || len(q.refused) == 0 {
		return nil
	}
	return q.refused[w.shapeOf()]
}

// refusedForShape reports whether a reason holds for every workload of the same shape.
func refusedForShape(why Reason) bool {
	_, noFlavors := why.Operands.(NoFlavors)
	return noFlavors
}

// each visits the workloads that wait, in no order.
func (q *queue) each(visit func(*workload)) {
	for _, w := range q.active {
		visit(w)
	}
	for _, w := range q.parked {
		visit(w)
	}
}

// all returns the workloads that wait, in order.
func (q *queue) all(used usages) []*workload {
	all := make([]*workload, 0, len(q.active)+len(q.parked))
	q.each(func(w *workload) { all = append(all, w) })
	slices.SortFunc(all, func(a, b *workload) int { return q.compare(used, a, b) })
	return all
}

// compare is the whole order of a queue. The sticky workload goes first among those of LocalQueues that have used the same.
func (q *queue) compare(used usages, a, b *workload) int {
	if c := used.compare(a, b); c != 0 {
		return c
	}
	if sticky := q.sticky; a.key == sticky || b.key == sticky {
		return cmp.Compare(btoi(b.key == sticky), btoi(a.key == sticky))
	}
	return compareQueued(a, b)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (q *queue) parkedInOrder() []*workload {
	list := make([]*workload, 0, len(q.parked))
	for _, w := range q.parked {
		list = append(list, w)
	}
	slices.SortFunc(list, compareQueued)
	return list
}

// reservedInOrder returns the workloads that hold quota, by key.
func (q *queue) reservedInOrder() []*workload {
	list := make([]*workload, 0, len(q.reserved))
	for _, w := range q.reserved {
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b *workload) int { return compareKeys(a.key, b.key) })
	return list
}

// flushTree lets the parked workloads of a ClusterQueue, and of all that share its tree, be tried
// in the next cycle.
func (s *State) flushTree(name string) {
	n := s.tree().queues[name]
	if n == nil {
		return
	}
	root := n.root()
	for other, m := range s.tree().queues {
		if m.root() == root {
			s.flushQueue(other)
		}
	}
}

func (s *State) flushQueue(name string) {
	if q := s.queues[name]; q != nil {
		q.flush = true
	}
}

// flushed carries the flushes out: parked workloads become active, except those in a backoff and
// those whose namespace is not selected. Doing so once before a cycle keeps a burst of releases
// cheap, as Kueue's batches do.
func (s *State) flushed(now time.Time) {
	for name, q := range s.queues {
		if !q.flush {
			continue
		}
		if q.due.IsZero() {
			q.due = now.Add(s.settings.FlushAfter)
		}
		if now.Before(q.due) {
			continue
		}
		q.flush, q.due = false, time.Time{}
		for _, w := range q.parked {
			if !s.flushes(name, w) {
				continue
			}
			delete(q.parked, w.key)
			w.place, w.waits = active, Reason{}
			q.active = append(q.active, w)
		}
		clear(q.refused)
		slices.SortFunc(q.active, compareQueued)
	}
}

// flushes reports whether a flush of a ClusterQueue lets one of its parked workloads be tried again.
func (s *State) flushes(clusterQueue string, w *workload) bool {
	switch w.waits.Operands.(type) {
	case BackedOff, NotRequeued:
		return false
	case NamespaceMismatch:
		return s.selects(s.clusterQueues[clusterQueue], w.key.Namespace)
	}
	return true
}

// NextFlush returns how long it takes until the first cycle that tries parked workloads again. ok is false while nothing has happened that
// lets any be tried.
func (s *State) NextFlush(now time.Time) (in time.Duration, ok bool) {
	for name, q := range s.queues {
		if !q.flush {
			continue
		}
		wait := s.settings.FlushAfter
		if !q.due.IsZero() {
			wait = max(0, q.due.Sub(now))
		}
		for _, w := range q.parked {
			if (!ok || wait < in) && s.flushes(name, w) {
				in, ok = wait, true
				break
			}
		}
	}
	return in, ok
}

func (s *State) flushQueues(names []string) {
	for _, name := range names {
		s.flushTree(name)
	}
}

// flushTopologies tries the parked workloads of every ClusterQueue that places by topology.
func (s *State) flushTopologies() {
	for name, queue := range s.clusterQueues {
		if slices.ContainsFunc(flavorNames(queue), func(flavor string) bool { return s.topologyOf(flavor) != nil }) {
			s.flushQueue(name)
		}
	}
}

// topologyOf returns the topology of a flavor; nil for one without.
func (s *State) topologyOf(flavor string) *kueue.Topology {
	f := s.flavors[flavor]
	if f == nil || f.Spec.TopologyName == nil {
		return nil
	}
	return s.topologies[string(*f.Spec.TopologyName)]
}

func (s *State) queuesWith(flavor string) []string {
	var names []string
	for _, name := range s.queueNames() {
		if slices.Contains(flavorNames(s.clusterQueues[name]), flavor) {
			names = append(names, name)
		}
	}
	return names
}

func (s *State) queueNames() []string { return sortedKeys(s.clusterQueues, cmp.Compare[string]) }

// flavorNames are the flavors that a ClusterQueue names, in its order.
func flavorNames(queue *kueue.ClusterQueue) []string {
	var names []string
	for _, group := range queue.Spec.ResourceGroups {
		for _, flavor := range group.Flavors {
			names = append(names, string(flavor.Name))
		}
	}
	return names
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func sortedKeys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	keys := make([]K, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, compare)
	return keys
}
