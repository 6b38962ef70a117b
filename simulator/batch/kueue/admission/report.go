package admission

import (
	"cmp"
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Pending returns the workloads that wait in a ClusterQueue, in the order of the queue.
func (s *State) Pending(clusterQueue string, now time.Time) []Pending {
	q := s.queues[clusterQueue]
	if q == nil {
		return nil
	}
	s.flushed(now)
	locals := make(map[types.NamespacedName]int32)
	used := s.usagesOf(clusterQueue)
	waiting := q.all(used)
	usedMore := used.usedMore(waiting)
	head := q.head(used)
	list := make([]Pending, 0, len(waiting))
	for i, w := range waiting {
		p := Pending{
			Workload: w.ref(), LocalQueue: string(w.object.Spec.QueueName), Priority: w.priority, Created: w.object.CreationTimestamp.Time,
			PositionInClusterQueue: int32(i), PositionInLocalQueue: locals[w.localQueue()],
			Parked: w.place == parked, Cycle: w.last.cycle, Used: used.of(w), UsedMore: usedMore[i],
		}
		locals[w.localQueue()]++
		p.Reason, p.Condition = s.waitsFor(w, head, used)
		if state := w.object.Status.RequeueState; state != nil && state.RequeueAt != nil && state.RequeueAt.After(now) {
			p.RequeueAt = &state.RequeueAt.Time
		}
		list = append(list, p)
	}
	return list
}

// Waiting returns why a workload that is in no ClusterQueue's list waits, such as one that names
// a LocalQueue that does not exist. ok is false for workloads that are queued, hold quota or have
// finished.
func (s *State) Waiting(key types.NamespacedName) (why Reason, ok bool) {
	w := s.workloads[key]
	if w == nil || w.place != outside || w.waits.IsZero() {
		return Reason{}, false
	}
	return w.waits, true
}

// waitsFor is the one sentence that says why a queued workload waits.
func (s *State) waitsFor(w, head *workload, used usages) (Reason, string) {
	queue := s.clusterQueues[w.queue]
	switch {
	case stopped(queue.Spec.StopPolicy):
		return Reason{ClusterQueueStopped{queue.Name}}, reasonSuspended
	case len(s.causes(queue.Name)) > 0:
		return Reason{ClusterQueueInactive{queue.Name}}, reasonSuspended
	case w.place == parked:
		return w.waits, cmp.Or(s.conditionOfParked(w), conditionOf(w.waits))
	case head != w && used.compare(head, w) < 0 && (queue.Spec.QueueingStrategy == kueue.StrictFIFO || w.last.cycle == 0):
		return Reason{*used.behind(w, head)}, reasonPendingEvaluation
	case queue.Spec.QueueingStrategy == kueue.StrictFIFO && head != w:
		return Reason{BehindHead{head.ref()}}, reasonPendingEvaluation
	case w.last.cycle > 0:
		return w.last.reason, w.last.condition
	default:
		return Reason{NotTried{}}, reasonPendingEvaluation
	}
}

// conditionOfParked is the condition that the latest cycle gave; "" if it did not try w.
func (s *State) conditionOfParked(w *workload) string {
	if w.last.cycle > 0 && refusedForShape(w.waits) {
		return w.last.condition
	}
	return ""
}

// ClusterQueueStatus returns the status that a controller should write. The times of conditions
// that have not changed are kept. It returns the zero value for an unknown ClusterQueue.
func (s *State) ClusterQueueStatus(name string, now time.Time) kueue.ClusterQueueStatus {
	queue := s.clusterQueues[name]
	if queue == nil {
		return kueue.ClusterQueueStatus{}
	}
	status := kueue.ClusterQueueStatus{Conditions: slices.Clone(queue.Status.Conditions)}
	setActive(&status.Conditions, s.activeCondition(name), queue.Generation, now)
	q, n := s.queues[name], s.tree().queues[name]
	status.PendingWorkloads = int32(len(q.active) + len(q.parked))
	admitted := make(amounts)
	for _, w := range q.reserved {
		status.ReservingWorkloads++
		if w.admitted() {
			status.AdmittedWorkloads++
			admitted.add(w.usage)
		}
	}
	status.FlavorsReservation, status.FlavorsUsage = flavorUsages(queue, n, n.usage), flavorUsages(queue, n, admitted)
	if s.settings.FairSharing != nil {
		status.FairSharing = &kueue.FairSharingStatus{WeightedShare: n.share().rounded()}
	}
	return status
}

func setActive(conditions *[]metav1.Condition, active metav1.Condition, generation int64, now time.Time) {
	active.ObservedGeneration, active.LastTransitionTime = generation, metav1.NewTime(now)
	meta.SetStatusCondition(conditions, active)
}

// admitted reports whether a reserved workload has its checks behind it. One that was reserved
// without checks is admitted at once.
func (w *workload) admitted() bool {
	return meta.IsStatusConditionTrue(w.object.Status.Conditions, kueue.WorkloadAdmitted)
}

func (s share) rounded() int64 {
	if s.infinite {
		return math.MaxInt64
	}
	return int64(math.Ceil(s.value))
}

// flavorUsages lists usage in the order of the ClusterQueue's flavors.
func flavorUsages(queue *kueue.ClusterQueue, n *node, usage amounts) []kueue.FlavorUsage {
	var flavors []kueue.FlavorUsage
	for _, group := range queue.Spec.ResourceGroups {
		for _, flavor := range group.Flavors {
			u := kueue.FlavorUsage{Name: flavor.Name}
			for _, r := range flavor.Resources {
				used := usage[flavorResource{string(flavor.Name), r.Name}]
				var borrowed int64
				if n.parent != nil {
					borrowed = max(0, used-valueOf(r.Name, r.NominalQuota))
				}
				u.Resources = append(u.Resources, kueue.ResourceUsage{Name: r.Name, Total: quantityOf(r.Name, used), Borrowed: quantityOf(r.Name, borrowed)})
			}
			flavors = append(flavors, u)
		}
	}
	return flavors
}

// LocalQueueStatus returns the status that a controller should write. It returns the zero value
// for an unknown LocalQueue.
func (s *State) LocalQueueStatus(key types.NamespacedName, now time.Time) kueue.LocalQueueStatus {
	local := s.localQueues[key]
	if local == nil {
		return kueue.LocalQueueStatus{}
	}
	status := kueue.LocalQueueStatus{Conditions: slices.Clone(local.Status.Conditions), FairSharing: s.consumptionStatus(key)}
	setActive(&status.Conditions, s.localActive(local), local.Generation, now)
	q := s.queues[string(local.Spec.ClusterQueue)]
	if q == nil {
		return status
	}
	q.each(func(w *workload) {
		if w.localQueue() == key {
			status.PendingWorkloads++
		}
	})
	held, admitted := make(amounts), make(amounts)
	for _, w := range q.reserved {
		if w.localQueue() != key {
			continue
		}
		status.ReservingWorkloads++
		held.add(w.usage)
		if w.admitted() {
			status.AdmittedWorkloads++
			admitted.add(w.usage)
		}
	}
	queue := s.clusterQueues[string(local.Spec.ClusterQueue)]
	status.FlavorsReservation, status.FlavorsUsage = localUsages(queue, held), localUsages(queue, admitted)
	return status
}

func (s *State) localActive(local *kueue.LocalQueue) metav1.Condition {
	c := metav1.Condition{Type: kueue.LocalQueueActive, Status: metav1.ConditionFalse, Message: "Can't submit new workloads to clusterQueue"}
	switch queue := s.clusterQueues[string(local.Spec.ClusterQueue)]; {
	case stopped(local.Spec.StopPolicy):
		c.Reason, c.Message = "Stopped", "LocalQueue is stopped"
	case queue == nil:
		c.Reason = "ClusterQueueDoesNotExist"
	case len(s.causes(queue.Name)) > 0:
		c.Reason = "ClusterQueueIsInactive"
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, "Ready", "Can submit new workloads to localQueue"
	}
	return c
}

func localUsages(queue *kueue.ClusterQueue, usage amounts) []kueue.LocalQueueFlavorUsage {
	var flavors []kueue.LocalQueueFlavorUsage
	for _, group := range queue.Spec.ResourceGroups {
		for _, flavor := range group.Flavors {
			u := kueue.LocalQueueFlavorUsage{Name: flavor.Name}
			for _, r := range flavor.Resources {
				u.Resources = append(u.Resources, kueue.LocalQueueResourceUsage{Name: r.Name, Total: quantityOf(r.Name, usage[flavorResource{string(flavor.Name), r.Name}])})
			}
			flavors = append(flavors, u)
		}
	}
	return flavors
}

// CohortStatus returns the status that a controller should write. It is empty without fair
// sharing.
func (s *State) CohortStatus(name string) kueue.CohortStatus {
	n := s.tree().cohorts[name]
	if n == nil || s.settings.FairSharing == nil {
		return kueue.CohortStatus{}
	}
	return kueue.CohortStatus{FairSharing: &kueue.FairSharingStatus{WeightedShare: n.share().rounded()}}
}

// CohortsOf returns the Cohorts above a ClusterQueue, from its own to the root.
func (s *State) CohortsOf(clusterQueue string) []string {
	if n := s.tree().queues[clusterQueue]; n != nil {
		return n.cohorts()
	}
	return nil
}

// EachWaiting calls visit with each workload that waits in a ClusterQueue, in no order. active means that cycles try it, and inactive
// ones wait for a change. Workloads of one shape are alike for admission.
func (s *State) EachWaiting(visit func(w *kueue.Workload, clusterQueue string, active bool, shape string)) {
	for name, q := range s.queues {
		q.each(func(w *workload) { visit(w.object, name, w.place == active, w.shapeOf()) })
	}
}

type NodeQuota struct {
	ClusterQueue string `json:"clusterQueue,omitempty"`
	Cohort       string `json:"cohort,omitempty"`
	// Parent is the Cohort above; "" for a root.
	Parent string `json:"parent,omitempty"`
	// Depth is 0 for a root.
	Depth int `json:"depth"`
	// Active is the condition of a ClusterQueue; nil for a Cohort.
	Active *metav1.Condition `json:"active,omitempty"`
	// Share is the weighted share under fair sharing; nil without it.
	Share     *NodeShare      `json:"share,omitempty"`
	Resources []ResourceQuota `json:"resources"`
	// Queued, Parked, Reserving and Admitted count workloads; 0 for a Cohort.
	Queued    int `json:"queued"`
	Parked    int `json:"parked"`
	Reserving int `json:"reserving"`
	Admitted  int `json:"admitted"`
}

// ResourceQuota is the quota of one resource in one flavor, in the unit of ResourceTrial.
type ResourceQuota struct {
	Flavor   string          `json:"flavor"`
	Resource v1.ResourceName `json:"resource"`
	Nominal  int64           `json:"nominal"`
	// BorrowingLimit and LendingLimit are nil without a limit.
	BorrowingLimit *int64 `json:"borrowingLimit,omitempty"`
	LendingLimit   *int64 `json:"lendingLimit,omitempty"`
	// Used is what reserved workloads take; for a Cohort, what its children take from it.
	Used int64 `json:"used"`
	// Subtree is the quota of the node and of all that those below it lend.
	Subtree int64 `json:"subtree"`
	// Borrowed is what Used exceeds the quota by. Lent is the part of the unused nominal
	// quota that others use.
	Borrowed int64 `json:"borrowed,omitempty"`
	Lent     int64 `json:"lent,omitempty"`
	// Available is what could be taken now, and Potential what could be taken if no other ClusterQueue
	// used anything.
	Available int64 `json:"available"`
	Potential int64 `json:"potential"`
}

// Quotas returns the quota of every Cohort and ClusterQueue, each tree from its root down.
func (s *State) Quotas() []NodeQuota {
	var list []NodeQuota
	for _, n := range s.tree().order {
		list = append(list, s.nodeQuota(n))
	}
	return list
}

func (s *State) nodeQuota(n *node) NodeQuota {
	var frs []flavorResource
	q := NodeQuota{Depth: len(n.cohorts())}
	if n.parent != nil {
		q.Parent = n.parent.name
	}
	if s.settings.FairSharing != nil {
		share := n.share()
		q.Share = &NodeShare{Node: n.name, Share: share.value, Infinite: share.infinite, WithinNominal: share.zero()}
	}
	if n.cohort {
		q.Cohort = n.name
		frs = sortedKeys(n.subtree, compareFlavorResources)
	} else {
		q.ClusterQueue = n.name
		active := s.activeCondition(n.name)
		q.Active = &active
		members := s.queues[n.name]
		q.Queued, q.Parked, q.Reserving = len(members.active), len(members.parked), len(members.reserved)
		for _, w := range members.reserved {
			q.Admitted += btoi(w.admitted())
		}
		for _, group := range s.clusterQueues[n.name].Spec.ResourceGroups {
			for _, flavor := range group.Flavors {
				for _, r := range flavor.Resources {
					frs = append(frs, flavorResource{string(flavor.Name), r.Name})
				}
			}
		}
	}
	for _, fr := range frs {
		own := n.quotas[fr]
		r := ResourceQuota{
			Flavor: fr.flavor, Resource: fr.resource, Nominal: own.nominal, BorrowingLimit: own.borrowing, LendingLimit: own.lending,
			Used: n.usage[fr], Subtree: n.subtree[fr], Available: n.available(fr), Potential: n.potential(fr),
		}
		if n.parent != nil {
			r.Borrowed = max(0, r.Used-r.Subtree)
			r.Lent = n.lent(fr)
		}
		q.Resources = append(q.Resources, r)
	}
	return q
}

// lent is how much of the node's unused quota others can no longer be denied: what the parent has
// handed out beyond all other quota, up to what this node offers. Several idle lenders each report
// what they lend at most, in the order of their names.
func (n *node) lent(fr flavorResource) int64 {
	parent := n.parent
	var borrowed int64
	for _, child := range parent.children {
		borrowed += max(0, child.usage[fr]-child.subtree[fr])
	}
	borrowed = max(0, borrowed-parent.quotas[fr].nominal)
	for _, child := range parent.children {
		idle := max(0, child.subtree[fr]-child.local(fr)-max(0, child.usage[fr]-child.local(fr)))
		part := min(idle, borrowed)
		if child == n {
			return part
		}
		borrowed -= part
	}
	return 0
}
