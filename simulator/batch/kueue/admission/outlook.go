package admission

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Outlook says what would become of a waiting workload, as things are and after changes. All of
// it is hypothetical, and each part was played through by the engine: nothing else arrives or
// finishes, and evicted jobs stop at once.
type Outlook struct {
	Workload Ref `json:"workload"`
	// AsIs is what happens without any change; nil if the workload would not be admitted.
	AsIs *Admittance `json:"asIs,omitempty"`
	// Suggestions are changes after which the workload would be admitted. They are empty if
	// AsIs is set.
	Suggestions []Suggestion `json:"suggestions,omitempty"`
}

type Admittance struct {
	Cycles  int                                                                         `json:"cycles"`
	Flavors map[kueue.PodSetReference]map[v1.ResourceName]kueue.ResourceFlavorReference `json:"flavors"`
	// Counts are the pods of each pod set.
	Counts map[kueue.PodSetReference]int32 `json:"counts"`
	// Evicts are the workloads that would be evicted on the way, by any workload.
	Evicts []Ref `json:"evicts,omitempty"`
}

// Suggestion is one change with what follows from it.
type Suggestion struct {
	Change Change     `json:"change"`
	Then   Admittance `json:"then"`
}

type ChangeKind string

// The kinds of changes.
const (
	RaiseNominalQuota   ChangeKind = "RaiseNominalQuota"
	RaiseBorrowingLimit ChangeKind = "RaiseBorrowingLimit"
	FinishWorkloads     ChangeKind = "FinishWorkloads"
	RaisePriority       ChangeKind = "RaisePriority"
	FewerPods           ChangeKind = "FewerPods"
	ResumeClusterQueue  ChangeKind = "ResumeClusterQueue"
	ResumeLocalQueue    ChangeKind = "ResumeLocalQueue"
)

// Change is a hypothetical change of the queues or workloads. Only the fields of its kind are
// set.
type Change struct {
	Kind ChangeKind `json:"kind"`
	// ClusterQueue, Flavor, Resource and More are the quota that is raised and by how much, as
	// a quantity. More is the least that is enough.
	ClusterQueue string          `json:"clusterQueue,omitempty"`
	Flavor       string          `json:"flavor,omitempty"`
	Resource     v1.ResourceName `json:"resource,omitempty"`
	More         string          `json:"more,omitempty"`
	LocalQueue   string          `json:"localQueue,omitempty"`
	Workloads    []Ref           `json:"workloads,omitempty"`
	// Priority is the lowest that is enough.
	Priority *int32 `json:"priority,omitempty"`
	// PodSet would start with Count pods, the most that are possible.
	PodSet string `json:"podSet,omitempty"`
	Count  int32  `json:"count,omitempty"`
}

// String says the change in English, as the condition of "would be admitted if".
func (c Change) String() string {
	switch c.Kind {
	case RaiseNominalQuota:
		return fmt.Sprintf("nominalQuota of %s in flavor %s of ClusterQueue %s were %s more", c.Resource, c.Flavor, c.ClusterQueue, c.More)
	case RaiseBorrowingLimit:
		return fmt.Sprintf("borrowingLimit of %s in flavor %s of ClusterQueue %s were %s more", c.Resource, c.Flavor, c.ClusterQueue, c.More)
	case FinishWorkloads:
		names := make([]string, len(c.Workloads))
		for i, w := range c.Workloads {
			names[i] = w.Name
		}
		return strings.Join(names, ", ") + " finished"
	case RaisePriority:
		return fmt.Sprintf("its priority were %d", *c.Priority)
	case FewerPods:
		return fmt.Sprintf("pod set %s had %d pods", c.PodSet, c.Count)
	case ResumeClusterQueue:
		return fmt.Sprintf("ClusterQueue %s were resumed", c.ClusterQueue)
	default:
		return fmt.Sprintf("LocalQueue %s were resumed", c.LocalQueue)
	}
}

// limits of a search, so that a question about a large cluster ends.
const (
	// maxOutlookCycles bounds each hypothesis, and maxFinishers the workloads whose end is
	// tried one by one.
	maxOutlookCycles = 400
	maxFinishers     = 60
	// maxFinishSuggestions bounds the suggestions of that kind.
	maxFinishSuggestions = 3
)

// Outlook plays through what would become of a waiting workload, and looks for changes that would
// admit it. It does not change the State. ok is false for a workload that is unknown, holds quota
// or has finished.
func (s *State) Outlook(key types.NamespacedName, now time.Time) (outlook Outlook, ok bool) {
	w := s.workloads[key]
	if w == nil || w.place == reserved || w.place == outside && w.waits.IsZero() {
		return Outlook{}, false
	}
	q := &question{state: s, w: w, now: now}
	outlook.Workload = w.ref()
	if outlook.AsIs = q.ask(func(*State) {}); outlook.AsIs != nil {
		return outlook, true
	}
	q.resume()
	q.quota()
	q.finish()
	q.priority()
	q.fewer()
	outlook.Suggestions = q.suggestions
	return outlook, true
}

type question struct {
	state       *State
	w           *workload
	now         time.Time
	suggestions []Suggestion
}

// ask plays a hypothesis through and returns how the workload gets in; nil if it does not.
func (q *question) ask(change func(*State)) *Admittance {
	s := q.state.Clone()
	change(s)
	result := &Admittance{Flavors: make(map[kueue.PodSetReference]map[v1.ResourceName]kueue.ResourceFlavorReference), Counts: make(map[kueue.PodSetReference]int32)}
	now := q.now
	for cycle := 1; cycle <= maxOutlookCycles; cycle++ {
		now = now.Add(time.Second)
		record := s.Cycle(now)
		if record == nil {
			return nil
		}
		for _, d := range record.Decisions {
			s.carryOut(d, now)
			if d.Verb == Evict {
				result.Evicts = append(result.Evicts, d.Workload)
				for _, release := range s.Released(d.Workload.Key()) {
					s.carryOut(release, now)
				}
			}
			if d.Verb == Reserve && d.Workload.Key() == q.w.key {
				result.Cycles = cycle
				for _, assigned := range d.Admission.PodSetAssignments {
					result.Flavors[assigned.Name], result.Counts[assigned.Name] = assigned.Flavors, ptr.Deref(assigned.Count, 0)
				}
				return result
			}
		}
		if s.settled(record) {
			return nil
		}
	}
	return nil
}

// carryOut makes a decision's change in the State's own view of the object.
func (s *State) carryOut(d Decision, now time.Time) {
	w := s.workloads[d.Workload.Key()]
	object := w.object.DeepCopy()
	d.Apply(object, now)
	s.SetWorkload(object, now)
}

// settled reports whether no further cycle can admit a workload: nothing changed, and it is
// parked, outside, or a StrictFIFO head stays in its way.
func (s *State) settled(record *Record) bool {
	for _, h := range record.Heads {
		if h.Outcome == Reserved || h.Outcome == Preempting || h.Parked {
			return false
		}
	}
	s.flushed()
	for name, q := range s.queues {
		strict := s.clusterQueues[name].Spec.QueueingStrategy == kueue.StrictFIFO
		if len(q.active) > 0 && !strict {
			return false
		}
	}
	return true
}

// try adds a suggestion if the workload gets in after change.
func (q *question) try(c Change, change func(*State)) bool {
	then := q.ask(change)
	if then == nil {
		return false
	}
	q.suggestions = append(q.suggestions, Suggestion{Change: c, Then: *then})
	return true
}

func (q *question) resume() {
	key := q.w.localQueue()
	local := q.state.localQueues[key]
	if local == nil {
		return
	}
	if stopped(local.Spec.StopPolicy) {
		q.try(Change{Kind: ResumeLocalQueue, LocalQueue: local.Name}, func(s *State) {
			resumed := local.DeepCopy()
			resumed.Spec.StopPolicy = nil
			s.SetLocalQueue(resumed)
		})
	}
	if queue := q.state.clusterQueues[string(local.Spec.ClusterQueue)]; queue != nil && stopped(queue.Spec.StopPolicy) {
		q.try(Change{Kind: ResumeClusterQueue, ClusterQueue: queue.Name}, func(s *State) {
			resumed := queue.DeepCopy()
			resumed.Spec.StopPolicy = nil
			s.SetClusterQueue(resumed)
		})
	}
}

type lacking struct {
	fr flavorResource
	// missing is at least what has to be added, and all the whole request.
	missing, all int64
	limited      bool
}

// lacks looks at the flavors once more and returns those of which one resource is short.
func (q *question) lacks() []lacking {
	if q.w.place == outside || len(q.state.causes(q.w.queue)) > 0 {
		return nil
	}
	s := q.state.Clone()
	w := s.workloads[q.w.key]
	w.progress = progress{}
	c := s.snapshot(q.now)
	e := s.entry(w, c)
	counts := make([]int32, len(w.podSets))
	for i, p := range w.podSets {
		counts[i] = p.count
	}
	c.plan(e, counts, nil)
	var list []lacking
	for _, p := range e.assignment.podSets {
		for _, group := range p.search.Groups {
			for _, trial := range group.Flavors {
				if l, ok := lackingIn(e.node, trial); ok {
					list = append(list, l)
				}
			}
		}
	}
	return list
}

// lackingIn says what a flavor lacks. ok is false if it lacks nothing, or more than one resource.
func lackingIn(n *node, trial FlavorTrial) (l lacking, ok bool) {
	count := 0
	for _, r := range trial.Resources {
		if value := r.Earlier + r.Requested; value > r.Available {
			count++
			fr := flavorResource{trial.Flavor, r.Resource}
			l = lacking{fr: fr, missing: value - r.Available, all: value, limited: n.parent != nil && n.quotas[fr].borrowing != nil}
		}
	}
	return l, count == 1
}

// quota tries to raise what a flavor lacks, and finds the least that is enough.
func (q *question) quota() {
	for _, l := range q.lacks() {
		q.raise(RaiseNominalQuota, l, func(quota *kueue.ResourceQuota, v int64) {
			sum := valueOf(l.fr.resource, quota.NominalQuota) + v
			quota.NominalQuota = quantityOf(l.fr.resource, sum)
		})
		if l.limited {
			q.raise(RaiseBorrowingLimit, l, func(quota *kueue.ResourceQuota, v int64) {
				limit := quantityOf(l.fr.resource, valueOf(l.fr.resource, *quota.BorrowingLimit)+v)
				quota.BorrowingLimit = &limit
			})
		}
	}
}

func (q *question) raise(kind ChangeKind, l lacking, set func(quota *kueue.ResourceQuota, v int64)) {
	unit := int64(1)
	if l.fr.resource == v1.ResourceCPU && l.missing%1000 == 0 {
		unit = 1000
	}
	change := func(steps int) func(*State) {
		return func(s *State) {
			queue := s.clusterQueues[q.w.queue].DeepCopy()
			for i := range queue.Spec.ResourceGroups {
				for j := range queue.Spec.ResourceGroups[i].Flavors {
					flavor := &queue.Spec.ResourceGroups[i].Flavors[j]
					for k := range flavor.Resources {
						if string(flavor.Name) == l.fr.flavor && flavor.Resources[k].Name == l.fr.resource {
							set(&flavor.Resources[k], unit*int64(steps))
						}
					}
				}
			}
			s.SetClusterQueue(queue)
		}
	}
	// What is missing now may be less than enough, if others are ahead in the queue, but all
	// that they and the workload ask for is.
	fits := func(steps int) bool { return q.ask(change(steps)) != nil }
	least := int(l.missing / unit)
	most := max(least, int(l.all/unit))
	for !fits(most) {
		if most *= 2; most > 64*int(l.all/unit) {
			return
		}
	}
	steps := 1 + sort.Search(most-1, func(i int) bool { return fits(i + 1) })
	amount := quantityText(l.fr.resource, unit*int64(steps))
	q.try(Change{Kind: kind, ClusterQueue: q.w.queue, Flavor: l.fr.flavor, Resource: l.fr.resource, More: amount}, change(steps))
}

// finish tries the end of workloads in the same tree: each alone, and else several together.
func (q *question) finish() {
	holders := q.holders()
	end := func(list []*workload) func(*State) {
		return func(s *State) {
			for _, w := range list {
				object := w.object.DeepCopy()
				object.Status.Conditions = append(object.Status.Conditions, metav1.Condition{Type: kueue.WorkloadFinished, Status: metav1.ConditionTrue})
				s.SetWorkload(object, q.now)
			}
		}
	}
	suggest := func(list []*workload) bool {
		c := Change{Kind: FinishWorkloads}
		for _, w := range list {
			c.Workloads = append(c.Workloads, w.ref())
		}
		return q.try(c, end(list))
	}
	found := 0
	for _, w := range holders {
		if found < maxFinishSuggestions && suggest([]*workload{w}) {
			found++
		}
	}
	if found > 0 || len(holders) < 2 {
		return
	}
	count := sort.Search(len(holders)+1, func(n int) bool { return q.ask(end(holders[:n])) != nil })
	if count > len(holders) {
		return
	}
	needed := slices.Clone(holders[:count])
	for i := len(needed) - 2; i >= 0; i-- {
		if without := slices.Delete(slices.Clone(needed), i, i+1); q.ask(end(without)) != nil {
			needed = without
		}
	}
	suggest(needed)
}

// holders are the workloads that hold quota in the same tree, the largest of the own ClusterQueue
// first.
func (q *question) holders() []*workload {
	if q.w.place == outside {
		return nil
	}
	var list []*workload
	for name := range q.state.members([]string{q.w.queue}) {
		list = append(list, q.state.queues[name].reservedInOrder()...)
	}
	size := func(w *workload) (sum int64) {
		for _, v := range w.usage {
			sum = saturatingAdd(sum, v)
		}
		return sum
	}
	slices.SortFunc(list, func(a, b *workload) int {
		return cmp.Or(cmp.Compare(btoi(b.queue == q.w.queue), btoi(a.queue == q.w.queue)), cmp.Compare(size(b), size(a)), compareKeys(a.key, b.key))
	})
	return list[:min(len(list), maxFinishers)]
}

// priority looks for the lowest priority that is enough, among those just above others'.
func (q *question) priority() {
	if q.w.place == outside {
		return
	}
	var candidates []int32
	for name := range q.state.members([]string{q.w.queue}) {
		for _, w := range slices.Concat(q.state.queues[name].all(), q.state.queues[name].reservedInOrder()) {
			if w.priority >= q.w.priority && w.priority < 1<<30 {
				candidates = append(candidates, w.priority+1)
			}
		}
	}
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	change := func(priority int32) func(*State) {
		return func(s *State) {
			object := s.workloads[q.w.key].object.DeepCopy()
			object.Spec.Priority = &priority
			s.SetWorkload(object, q.now)
		}
	}
	i := sort.Search(len(candidates), func(i int) bool { return q.ask(change(candidates[i])) != nil })
	if i < len(candidates) {
		q.try(Change{Kind: RaisePriority, Priority: &candidates[i]}, change(candidates[i]))
	}
}

// fewer looks for the largest number of pods with which the workload gets in.
func (q *question) fewer() {
	for i, p := range q.w.podSets {
		if p.count < 2 {
			continue
		}
		change := func(count int32) func(*State) {
			return func(s *State) {
				object := s.workloads[q.w.key].object.DeepCopy()
				object.Spec.PodSets[i].Count, object.Spec.PodSets[i].MinCount = count, nil
				s.SetWorkload(object, q.now)
			}
		}
		less := sort.Search(int(p.count-1), func(less int) bool { return q.ask(change(p.count-1-int32(less))) != nil })
		if count := p.count - 1 - int32(less); count > 0 {
			q.try(Change{Kind: FewerPods, PodSet: p.name, Count: count}, change(count))
		}
	}
}
