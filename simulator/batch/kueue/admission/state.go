package admission

import (
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
)

// State is everything that admission depends on. It follows objects: the controller that watches them calls
// a Set method for each version of an object and a Delete method when it is gone. The order of
// the calls does not matter, and a repeated call changes nothing. The State keeps the pointers,
// so the caller must not change an object afterwards.
//
// A State is not safe for concurrent use.
type State struct {
	settings Settings

	clusterQueues map[string]*kueue.ClusterQueue
	cohorts       map[string]*kueue.Cohort
	localQueues   map[types.NamespacedName]*kueue.LocalQueue
	flavors       map[string]*kueue.ResourceFlavor
	topologies    map[string]*kueue.Topology
	checks        map[string]*kueue.AdmissionCheck
	namespaces    map[string]*v1.Namespace
	limitRanges   map[types.NamespacedName]*v1.LimitRange
	// templates and classes are read only if devices count.
	templates map[types.NamespacedName]*resourcev1.ResourceClaimTemplate
	classes   map[string]*resourcev1.DeviceClass
	nodes     map[string]*v1.Node
	pods      map[types.NamespacedName]*v1.Pod
	workloads map[types.NamespacedName]*workload
	queues    map[string]*queue
	// consumed is what each LocalQueue has used, for admission fair sharing.
	consumed map[types.NamespacedName]consumption

	// quotaTree is nil after its shape has changed. Ask tree for it.
	quotaTree *tree
	// shapes counts the changes of the tree's shape, and releases those of the quota that is
	// in use, by the name of the root.
	shapes   int64
	releases map[string]int64
	cycle    int64
}

// New returns a State without objects.
func New(settings Settings) *State {
	return &State{
		settings:      settings,
		clusterQueues: make(map[string]*kueue.ClusterQueue),
		cohorts:       make(map[string]*kueue.Cohort),
		localQueues:   make(map[types.NamespacedName]*kueue.LocalQueue),
		flavors:       make(map[string]*kueue.ResourceFlavor),
		topologies:    make(map[string]*kueue.Topology),
		checks:        make(map[string]*kueue.AdmissionCheck),
		namespaces:    make(map[string]*v1.Namespace),
		limitRanges:   make(map[types.NamespacedName]*v1.LimitRange),
		templates:     make(map[types.NamespacedName]*resourcev1.ResourceClaimTemplate),
		classes:       make(map[string]*resourcev1.DeviceClass),
		nodes:         make(map[string]*v1.Node),
		pods:          make(map[types.NamespacedName]*v1.Pod),
		workloads:     make(map[types.NamespacedName]*workload),
		queues:        make(map[string]*queue),
		consumed:      make(map[types.NamespacedName]consumption),
		releases:      make(map[string]int64),
	}
}

// tree returns the tree of quota with the usage of every reserved workload.
func (s *State) tree() *tree {
	if s.quotaTree != nil {
		return s.quotaTree
	}
	s.quotaTree = newTree(s.clusterQueues, s.cohorts)
	for _, w := range s.workloads {
		if w.place == reserved {
			s.hold(w)
		}
	}
	return s.quotaTree
}

func (s *State) hold(w *workload) {
	if n := s.tree().queues[w.queue]; n != nil {
		n.useAll(w.usage)
	}
}

// reshape lets the tree be built again, and tries every parked workload of the trees that the
// change touches, both before and after it.
func (s *State) reshape(change func(), queues ...string) {
	before := s.members(queues)
	change()
	s.quotaTree = nil
	s.shapes++
	for name := range s.members(queues) {
		before[name] = true
	}
	for name := range before {
		s.flushQueue(name)
	}
}

// members are the ClusterQueues in the same trees as any of queues.
func (s *State) members(queues []string) map[string]bool {
	t := s.tree()
	roots := make(map[*node]bool)
	for _, name := range queues {
		if n := t.queues[name]; n != nil {
			roots[n.root()] = true
		}
	}
	members := make(map[string]bool)
	for name, n := range t.queues {
		if roots[n.root()] {
			members[name] = true
		}
	}
	return members
}

// SetClusterQueue follows a ClusterQueue.
func (s *State) SetClusterQueue(queue *kueue.ClusterQueue) {
	old := s.clusterQueues[queue.Name]
	if old != nil && equality.Semantic.DeepEqual(old.Spec, queue.Spec) && old.DeletionTimestamp.IsZero() == queue.DeletionTimestamp.IsZero() {
		s.clusterQueues[queue.Name] = queue
		return
	}
	if old == nil {
		s.queues[queue.Name] = newQueue()
	}
	s.reshape(func() { s.clusterQueues[queue.Name] = queue }, queue.Name)
	if old == nil {
		s.adopt(queue.Name)
		s.settleOutside()
	}
}

// adopt gives a new queue the workloads that hold quota in it already.
func (s *State) adopt(name string) {
	for _, w := range s.workloads {
		if w.place == reserved && w.queue == name {
			s.queues[name].reserved[w.key] = w
		}
	}
}

// DeleteClusterQueue forgets a ClusterQueue. Its workloads wait until it is back.
func (s *State) DeleteClusterQueue(name string) {
	if s.clusterQueues[name] == nil {
		return
	}
	s.reshape(func() { delete(s.clusterQueues, name) }, name)
	gone := s.queues[name]
	delete(s.queues, name)
	for _, w := range gone.all(nil) {
		w.place, w.queue, w.waits = outside, "", Reason{ClusterQueueMissing{name}}
	}
}

// SetCohort follows a Cohort.
func (s *State) SetCohort(cohort *kueue.Cohort) {
	if old := s.cohorts[cohort.Name]; old != nil && equality.Semantic.DeepEqual(old.Spec, cohort.Spec) {
		s.cohorts[cohort.Name] = cohort
		return
	}
	s.reshape(func() { s.cohorts[cohort.Name] = cohort }, s.queueNames()...)
}

// DeleteCohort forgets a Cohort: its members stay together, without its quota and limits.
func (s *State) DeleteCohort(name string) {
	s.reshape(func() { delete(s.cohorts, name) }, s.queueNames()...)
}

// SetLocalQueue follows a LocalQueue.
func (s *State) SetLocalQueue(queue *kueue.LocalQueue) {
	key := types.NamespacedName{Namespace: queue.Namespace, Name: queue.Name}
	old := s.localQueues[key]
	s.localQueues[key] = queue
	s.remember(key, queue)
	if old == nil || !equality.Semantic.DeepEqual(old.Spec, queue.Spec) {
		s.settleWaiting(func(w *workload) bool { return w.localQueue() == key })
	}
}

// DeleteLocalQueue forgets a LocalQueue. Its workloads wait until it is back.
func (s *State) DeleteLocalQueue(key types.NamespacedName) {
	delete(s.localQueues, key)
	delete(s.consumed, key)
	s.settleWaiting(func(w *workload) bool { return w.localQueue() == key })
}

// SetFlavor follows a ResourceFlavor.
func (s *State) SetFlavor(flavor *kueue.ResourceFlavor) {
	old := s.flavors[flavor.Name]
	s.flavors[flavor.Name] = flavor
	if old == nil || !equality.Semantic.DeepEqual(old.Spec, flavor.Spec) {
		s.flushQueues(s.queuesWith(flavor.Name))
	}
}

// DeleteFlavor forgets a ResourceFlavor, which stops every ClusterQueue that names it.
func (s *State) DeleteFlavor(name string) { delete(s.flavors, name) }

// SetTopology follows a Topology.
func (s *State) SetTopology(topology *kueue.Topology) {
	s.topologies[topology.Name] = topology
	s.flushTopologies()
}

// DeleteTopology forgets a Topology, which stops every ClusterQueue with a flavor of it.
func (s *State) DeleteTopology(name string) { delete(s.topologies, name) }

// SetAdmissionCheck follows an AdmissionCheck.
func (s *State) SetAdmissionCheck(check *kueue.AdmissionCheck) {
	old := s.checks[check.Name]
	s.checks[check.Name] = check
	if meta.IsStatusConditionTrue(check.Status.Conditions, kueue.AdmissionCheckActive) && (old == nil || !meta.IsStatusConditionTrue(old.Status.Conditions, kueue.AdmissionCheckActive)) {
		s.flushQueues(s.queueNames())
	}
}

// DeleteAdmissionCheck forgets an AdmissionCheck, which stops every ClusterQueue that names it.
func (s *State) DeleteAdmissionCheck(name string) { delete(s.checks, name) }

// SetNamespace follows the labels of a namespace. Workloads that a ClusterQueue begins to select
// are tried again.
func (s *State) SetNamespace(namespace *v1.Namespace) {
	s.namespaces[namespace.Name] = namespace
	for _, name := range s.queueNames() {
		for _, w := range s.queues[name].parkedInOrder() {
			if _, mismatch := w.waits.Operands.(NamespaceMismatch); mismatch && w.key.Namespace == namespace.Name && s.selects(s.clusterQueues[name], namespace.Name) {
				s.queues[name].unpark(w)
			}
		}
	}
}

func (s *State) DeleteNamespace(name string) { delete(s.namespaces, name) }

// SetLimitRange follows a LimitRange, whose bounds a workload's containers must keep and whose
// defaults fill in what they do not request.
func (s *State) SetLimitRange(limits *v1.LimitRange) {
	s.limitRanges[types.NamespacedName{Namespace: limits.Namespace, Name: limits.Name}] = limits
	s.recount(limits.Namespace)
}

func (s *State) DeleteLimitRange(key types.NamespacedName) {
	delete(s.limitRanges, key)
	s.recount(key.Namespace)
}

// recount computes the requests of the waiting workloads of a namespace, or of all, again.
func (s *State) recount(namespace string) {
	s.settleWaiting(func(w *workload) bool {
		if namespace != metav1.NamespaceAll && w.key.Namespace != namespace {
			return false
		}
		s.read(w)
		return true
	})
}

// SetNode follows a node, for topology-aware placement.
func (s *State) SetNode(node *v1.Node) {
	old := s.nodes[node.Name]
	s.nodes[node.Name] = node
	if old == nil || !equality.Semantic.DeepEqual(old.Labels, node.Labels) || !equality.Semantic.DeepEqual(old.Spec, node.Spec) ||
		!equality.Semantic.DeepEqual(old.Status.Allocatable, node.Status.Allocatable) || nodeReady(old) != nodeReady(node) {
		s.flushTopologies()
	}
}

func (s *State) DeleteNode(name string) { delete(s.nodes, name) }

// SetPod follows a pod. Pods that Kueue does not place take room on their nodes.
func (s *State) SetPod(pod *v1.Pod) {
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	if pod.Spec.NodeName == "" || podEnded(pod) {
		s.DeletePod(key)
		return
	}
	s.pods[key] = pod
}

func (s *State) DeletePod(key types.NamespacedName) {
	if s.pods[key] == nil {
		return
	}
	delete(s.pods, key)
	s.flushTopologies()
}

// SetWorkload follows a workload: it queues one that waits, counts the quota of one that has
// reserved it, and lets go of one that has finished. A version from before a decision that this
// State made, and that has not been written yet, does not undo the decision; Forget does.
func (s *State) SetWorkload(object *kueue.Workload, now time.Time) {
	key := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
	w := s.workloads[key]
	if w != nil && w.object.UID != object.UID {
		s.DeleteWorkload(key)
		w = nil
	}
	if w == nil {
		w = &workload{key: key, place: outside, object: object}
		s.workloads[key] = w
		s.follow(w, object, nil, now)
		return
	}
	old := w.object
	w.object = object
	s.follow(w, object, old, now)
}

// follow takes over a version of a workload. old is nil for the first.
func (s *State) follow(w *workload, object, old *kueue.Workload, now time.Time) {
	conditions := object.Status.Conditions
	holds := meta.IsStatusConditionTrue(conditions, kueue.WorkloadQuotaReserved) && object.Status.Admission != nil
	finished := meta.IsStatusConditionTrue(conditions, kueue.WorkloadFinished)
	if w.assumed && !holds && !finished && isActive(object) || w.replaced && !finished {
		return
	}
	if meta.IsStatusConditionTrue(conditions, kueue.WorkloadEvicted) || !holds {
		w.evicting = false
	}
	if old == nil || !equality.Semantic.DeepEqual(old.Spec, object.Spec) {
		s.read(w)
	}
	if priority := priorityOf(object); priority != w.priority && w.place == reserved {
		s.flushTree(w.queue)
	}
	switch {
	case finished:
		s.leave(w)
		w.waits = Reason{}
	case holds:
		s.reserve(w, object.Status.Admission, now)
		if old != nil && w.admitted() && !meta.IsStatusConditionTrue(old.Status.Conditions, kueue.WorkloadAdmitted) {
			s.charge(w, now)
		}
	case w.place == reserved:
		s.leave(w)
		s.settle(w, now)
	case old == nil || waitsDifferently(old, object):
		s.settle(w, now)
	}
}

// waitsDifferently reports whether a new version of a waiting workload is worth another try.
func waitsDifferently(old, object *kueue.Workload) bool {
	for _, condition := range []string{kueue.WorkloadEvicted, kueue.WorkloadRequeued, WaitingForReplacementPods} {
		if meta.IsStatusConditionTrue(old.Status.Conditions, condition) != meta.IsStatusConditionTrue(object.Status.Conditions, condition) ||
			meta.IsStatusConditionFalse(old.Status.Conditions, condition) != meta.IsStatusConditionFalse(object.Status.Conditions, condition) {
			return true
		}
	}
	return onHold(old) != onHold(object) ||
		old.Annotations[constants.AdmissionGatedByAnnotation] != object.Annotations[constants.AdmissionGatedByAnnotation] ||
		!equality.Semantic.DeepEqual(old.Spec, object.Spec) ||
		!equality.Semantic.DeepEqual(old.Status.RequeueState, object.Status.RequeueState) ||
		!equality.Semantic.DeepEqual(old.Status.ReclaimablePods, object.Status.ReclaimablePods) ||
		checksFailed(old) != checksFailed(object)
}

// DeleteWorkload forgets a workload and releases its quota.
func (s *State) DeleteWorkload(key types.NamespacedName) {
	w := s.workloads[key]
	if w == nil {
		return
	}
	s.leave(w)
	delete(s.workloads, key)
}

// Forget undoes a Reserve, an Evict or a Replace that could not be written. A workload without its
// reservation is queued again.
func (s *State) Forget(key types.NamespacedName, now time.Time) {
	w := s.workloads[key]
	if w == nil {
		return
	}
	w.evicting = false
	switch {
	case w.assumed:
		s.leave(w)
		s.settle(w, now)
	case w.replaced:
		w.replaced = false
		s.follow(w, w.object, nil, now)
	}
}

// reserve counts the quota of an admission, in place of what the workload held before.
func (s *State) reserve(w *workload, admission *kueue.Admission, now time.Time) {
	usage := usageOf(w.podSets, admission, w.object.Status.ReclaimablePods)
	w.priority = priorityOf(w.object)
	if w.place == reserved && w.queue == string(admission.ClusterQueue) && equality.Semantic.DeepEqual(w.usage, usage) {
		w.assumed, w.admission = false, admission
		w.domains = domainsOf(w.podSets, admission)
		return
	}
	s.leave(w)
	w.place, w.queue, w.usage, w.admission = reserved, string(admission.ClusterQueue), usage, admission
	w.domains = domainsOf(w.podSets, admission)
	w.reservedAt, w.since = now.Truncate(time.Second), s.queueTimestamp(w.object)
	if c := meta.FindStatusCondition(w.object.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil && c.Status == metav1.ConditionTrue {
		w.reservedAt = c.LastTransitionTime.Time
	}
	w.waits, w.progress = Reason{}, progress{}
	if q := s.queues[w.queue]; q != nil {
		q.reserved[w.key] = w
		if q.sticky == w.key {
			q.sticky = types.NamespacedName{}
		}
	}
	s.hold(w)
}

// leave takes a workload out of wherever it is. Quota that it held is released, and the parked
// workloads of the tree get another chance.
func (s *State) leave(w *workload) {
	q := s.queues[w.queue]
	was := w.place
	if q != nil {
		q.remove(w)
		if q.sticky == w.key {
			q.sticky = types.NamespacedName{}
		}
	}
	w.place, w.assumed, w.evicting, w.replaced = outside, false, false, false
	if was == reserved {
		if n := s.tree().queues[w.queue]; n != nil {
			n.freeAll(w.usage)
			s.releases[n.root().name]++
		}
		s.flushTree(w.queue)
	}
	w.queue, w.usage, w.domains, w.penalty, w.admission = "", nil, nil, nil, nil
}

// settle puts a workload that holds no quota where it belongs: in a queue, beside one, or
// outside.
func (s *State) settle(w *workload, now time.Time) {
	sticky := w.queue != "" && s.queues[w.queue] != nil && s.queues[w.queue].sticky == w.key
	s.leave(w)
	w.priority, w.since = priorityOf(w.object), s.queueTimestamp(w.object)
	w.shape = ""
	if why := s.heldOutside(w); !why.IsZero() {
		w.waits = why
		return
	}
	w.queue = string(s.localQueues[w.localQueue()].Spec.ClusterQueue)
	q := s.queues[w.queue]
	if sticky {
		q.sticky = w.key
	}
	if why := heldParked(w.object, now); !why.IsZero() {
		q.park(w, why)
		return
	}
	if equal := s.refusedEqual(q, w); equal != nil {
		q.park(w, Reason{EqualRefused{equal.ref(), equal.last.reason}})
		return
	}
	q.push(w)
}

// settleWaiting settles the workloads that hold no quota and that pick picks.
func (s *State) settleWaiting(pick func(*workload) bool) {
	for _, key := range sortedKeys(s.workloads, compareKeys) {
		w := s.workloads[key]
		if w.place != reserved && !meta.IsStatusConditionTrue(w.object.Status.Conditions, kueue.WorkloadFinished) && pick(w) {
			s.settle(w, time.Time{})
		}
	}
}

func (s *State) settleOutside() {
	s.settleWaiting(func(w *workload) bool { return w.place == outside })
}

// heldOutside says why a workload is in no queue; the zero Reason for one that is.
func (s *State) heldOutside(w *workload) Reason {
	local := s.localQueues[w.localQueue()]
	switch {
	case !isActive(w.object):
		return Reason{Deactivated{}}
	case w.object.Annotations[constants.AdmissionGatedByAnnotation] != "":
		return Reason{Gated{w.object.Annotations[constants.AdmissionGatedByAnnotation]}}
	case onHold(w.object), meta.IsStatusConditionTrue(w.object.Status.Conditions, WaitingForReplacementPods):
		return Reason{PodsAwaited{}}
	case !w.uncounted.IsZero():
		return w.uncounted
	case local == nil:
		return Reason{LocalQueueMissing{string(w.object.Spec.QueueName)}}
	case stopped(local.Spec.StopPolicy):
		return Reason{LocalQueueStopped{local.Name}}
	case s.clusterQueues[string(local.Spec.ClusterQueue)] == nil:
		return Reason{ClusterQueueMissing{string(local.Spec.ClusterQueue)}}
	}
	return Reason{}
}

// heldParked says why a queued workload may not be tried yet. Without a time, only an explicit
// backoff in the future counts, which Review ends.
func heldParked(w *kueue.Workload, now time.Time) Reason {
	if state := w.Status.RequeueState; state != nil && state.RequeueAt != nil && state.RequeueAt.After(now) {
		return Reason{BackedOff{state.RequeueAt.Time}}
	}
	if requeued := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadRequeued); requeued != nil && requeued.Status == metav1.ConditionFalse {
		return Reason{NotRequeued{requeued.Reason}}
	}
	return Reason{}
}

func isActive(w *kueue.Workload) bool { return w.Spec.Active == nil || *w.Spec.Active }

func stopped(policy *kueue.StopPolicy) bool {
	return policy != nil && *policy != "" && *policy != kueue.None
}

func onHold(w *kueue.Workload) bool {
	c := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved)
	return c != nil && c.Status == metav1.ConditionFalse && c.Reason == reasonOnHold
}

// checksFailed reports whether an admission check asked to retry or rejected the workload.
func checksFailed(w *kueue.Workload) bool {
	for _, check := range w.Status.AdmissionChecks {
		if check.State == kueue.CheckStateRetry || check.State == kueue.CheckStateRejected {
			return true
		}
	}
	return false
}

func podEnded(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

func nodeReady(node *v1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == v1.NodeReady {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}
