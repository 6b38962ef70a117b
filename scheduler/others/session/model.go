package session

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

type status int

const (
	pending status = iota
	allocated
	pipelined
	binding
	bound
	running
	releasing
	succeeded
	failed
)

// holds reports whether a task of this status takes room on its node.
func (s status) holds() bool { return s == allocated || s == binding || s == bound || s == running }

type task struct {
	pod  *v1.Pod
	name string // namespace/name
	job  *job
	// request is what is accounted, initial what must fit.
	request, initial amounts
	status           status
	node             *node
	priority         int32
	role             string
	bestEffort       bool
	preemptable      bool
	gated            bool
	// cycle is the latest record of this session; nil if no action looked at the task.
	cycle *result.Cycle
	// fitted: the task had a node before its statement was discarded.
	fitted string
	// victims are those whose room a pipelined task waits for.
	victims []*task
}

type job struct {
	name      string // namespace/name
	namespace string
	uid       string
	group     *PodGroup // nil for a shadow job
	phase     PodGroupPhase
	queue     *queue
	min       int
	minRole   map[string]int32
	// minResources is nil if the group has none.
	minResources amounts
	priority     int32
	created      time.Time
	tasks        []*task
	allocated    amounts
	notes        jobNotes
}

// jobNotes are what the actions leave for the explanation of a job.
type jobNotes struct {
	refusedBy, refusal string
	overused           bool
	// limited is the resource in which a task would pass what its queue deserves, or -1.
	limited int
	// predicates rejected a task on every node that had room.
	plugin, reason string
	undone         int
	// short are the rooms of the nodes onto which kube-batch pipelined a task, as their fit text counts them.
	short []amounts
	// placed is the largest number of tasks that found a node before they were given back.
	placed int
}

func (j *job) count(of func(status) bool) int {
	n := 0
	for _, t := range j.tasks {
		if of(t.status) {
			n++
		}
	}
	return n
}

func (j *job) with(s status) int { return j.count(func(x status) bool { return x == s }) }

// ready counts the tasks that have a place or have ended well.
func (j *job) ready() int {
	return j.count(func(s status) bool { return s.holds() || s == succeeded })
}

// pendingBestEffort counts pending tasks that ask for nothing.
func (j *job) pendingBestEffort() int {
	n := 0
	for _, t := range j.tasks {
		if t.status == pending && t.bestEffort {
			n++
		}
	}
	return n
}

type queue struct {
	name        string
	object      *Queue
	weight      float64
	priority    int32
	reclaimable bool
	open        bool
	capability  amounts // +Inf where there is no limit
	guarantee   amounts
	created     time.Time

	jobs      int
	allocated amounts
	request   amounts
	before    amounts
	// deserved is nil without proportion.
	deserved, real amounts
	rounds         []amounts
	met            bool
	// inqueue is what enqueue has reserved, and elastic what jobs hold beyond their minResources.
	inqueue, elastic amounts
}

// share is the largest part of any deserved resource.
func (q *queue) share() float64 {
	if q.deserved == nil {
		return 0
	}
	return dominant(q.allocated, q.deserved)
}

type node struct {
	name        string
	object      *v1.Node
	allocatable amounts
	idle, used  amounts
	releasing   amounts
	pipelined   amounts
	tasks       []*task
	pods        int
	maxPods     int
	outOfSync   bool
}

// future is the room once everything that leaves has left.
func (n *node) future() amounts {
	out := n.idle.plus(n.releasing)
	out.sub(n.pipelined)
	return out
}

type cluster struct {
	rules  Rules
	units  *resources
	total  amounts
	nodes  []*node // by name
	byNode map[string]*node
	queues []*queue // by name
	byName map[string]*queue
	jobs   []*job // by name
	tasks  map[*v1.Pod]*task
	// orphans are groups that are left out because their queue does not exist.
	orphans []*PodGroup
}

// Objects are what a session reads besides nodes and pods. None of them is changed.
type Objects struct {
	Groups          []*PodGroup
	Queues          []*Queue
	PriorityClasses []*schedulingv1.PriorityClass
	// Ended are pods that have succeeded or failed, which no scheduler's state holds.
	Ended []*v1.Pod
}

func newCluster(rules Rules, nodes []fwk.NodeInfo, pods []*v1.Pod, objects Objects) *cluster {
	c := &cluster{rules: rules, byNode: map[string]*node{}, byName: map[string]*queue{}, tasks: map[*v1.Pod]*task{}}
	var lists []v1.ResourceList
	for _, n := range nodes {
		lists = append(lists, n.Node().Status.Allocatable)
	}
	for _, p := range slices.Concat(pods, objects.Ended) {
		_, initial := requests(p)
		lists = append(lists, initial)
	}
	c.units = newResources(rules, lists)
	c.total = c.units.zero()
	for _, n := range nodes {
		c.addNode(n.Node())
	}
	slices.SortFunc(c.nodes, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	for _, q := range objects.Queues {
		c.addQueue(q)
	}
	slices.SortFunc(c.queues, func(a, b *queue) int { return strings.Compare(a.name, b.name) })
	c.addJobs(pods, objects)
	for _, n := range c.nodes {
		if c.units.short(n.used, n.allocatable) >= 0 {
			n.outOfSync = true
			c.total.sub(n.allocatable)
		}
	}
	return c
}

func (c *cluster) addNode(object *v1.Node) {
	n := &node{
		name: object.Name, object: object, allocatable: c.units.of(object.Status.Allocatable), used: c.units.zero(),
		releasing: c.units.zero(), pipelined: c.units.zero(), maxPods: math.MaxInt,
	}
	if pods, ok := object.Status.Allocatable[v1.ResourcePods]; ok {
		n.maxPods = int(pods.Value())
	}
	n.idle = n.allocatable.clone()
	c.nodes, c.byNode[n.name] = append(c.nodes, n), n
	c.total.add(n.allocatable)
}

func (c *cluster) addQueue(object *Queue) {
	q := &queue{
		name: object.Name, object: object, weight: float64(max(1, object.Spec.Weight)), reclaimable: true, open: true,
		created: object.CreationTimestamp.Time, allocated: c.units.zero(), request: c.units.zero(),
		inqueue: c.units.zero(), elastic: c.units.zero(), guarantee: c.units.zero(), capability: c.units.zero(),
	}
	for i := range q.capability {
		q.capability[i] = math.Inf(1)
	}
	if c.rules == Volcano {
		q.priority = object.Spec.Priority
		q.reclaimable = object.Spec.Reclaimable == nil || *object.Spec.Reclaimable
		q.open = object.Status.State == "" || object.Status.State == "Open"
		q.guarantee = c.units.of(object.Spec.Guarantee.Resource)
		for name, limit := range object.Spec.Capability {
			if i, ok := c.units.index[name]; ok {
				q.capability[i] = valueOf(name, limit)
			}
		}
	}
	c.queues, c.byName[q.name] = append(c.queues, q), q
}

// priorities returns the value of a priority class: that of the default one for an empty name, and 0 for an unknown one.
func priorities(classes []*schedulingv1.PriorityClass) func(name string) int32 {
	values := map[string]int32{"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}
	var standard int32
	for _, class := range classes {
		values[class.Name] = class.Value
		if class.GlobalDefault {
			standard = class.Value
		}
	}
	return func(name string) int32 {
		if value, ok := values[name]; ok {
			return value
		}
		return standard
	}
}

// addJobs makes the jobs, and counts all pods on their nodes.
func (c *cluster) addJobs(pods []*v1.Pod, objects Objects) {
	priority := priorities(objects.PriorityClasses)
	groups := map[string]*job{}
	for _, g := range objects.Groups {
		q := c.byName[cmp.Or(g.Spec.Queue, DefaultQueue)]
		if q == nil {
			c.orphans = append(c.orphans, g)
			continue
		}
		j := &job{
			name: g.Namespace + "/" + g.Name, namespace: g.Namespace, uid: string(g.UID), group: g, phase: g.Status.Phase, queue: q,
			min: int(g.Spec.MinMember), priority: priority(g.Spec.PriorityClassName), created: g.CreationTimestamp.Time,
		}
		if c.rules == Volcano {
			j.minRole = g.Spec.MinTaskMember
			if g.Spec.MinResources != nil {
				j.minResources = c.units.of(g.Spec.MinResources)
			}
		}
		groups[j.name] = j
	}
	shadows := map[string]*job{}
	for _, pod := range slices.Concat(pods, objects.Ended) {
		var j *job
		if pod.Spec.SchedulerName == string(c.rules) {
			if name := pod.Annotations[GroupAnnotation]; name != "" {
				j = groups[pod.Namespace+"/"+name]
			} else if c.rules == KubeBatch {
				j = c.shadow(shadows, pod, priority)
			}
		}
		c.addPod(pod, j)
	}
	for _, all := range []map[string]*job{groups, shadows} {
		for _, j := range all {
			c.jobs = append(c.jobs, j)
		}
	}
	slices.SortFunc(c.jobs, func(a, b *job) int { return strings.Compare(a.name, b.name) })
	for _, j := range c.jobs {
		slices.SortFunc(j.tasks, func(a, b *task) int { return strings.Compare(a.name, b.name) })
		c.account(j)
	}
}

// shadow returns kube-batch's job of a pod without a group: that of its controller.
func (c *cluster) shadow(shadows map[string]*job, pod *v1.Pod, priority func(string) int32) *job {
	q := c.byName[DefaultQueue]
	if q == nil {
		return nil
	}
	uid, name := string(pod.UID), pod.Name
	if owner := metav1.GetControllerOf(pod); owner != nil {
		uid, name = string(owner.UID), owner.Name
	}
	j := shadows[uid]
	if j == nil {
		j = &job{
			name: pod.Namespace + "/" + name, namespace: pod.Namespace, uid: uid, queue: q, min: 1,
			priority: priority(pod.Spec.PriorityClassName), created: pod.CreationTimestamp.Time,
		}
		if n, err := strconv.Atoi(pod.Annotations[MinMemberAnnotation]); err == nil {
			j.min = n
		}
		shadows[uid] = j
	}
	if pod.CreationTimestamp.Time.Before(j.created) {
		j.created = pod.CreationTimestamp.Time
	}
	return j
}

func statusOf(pod *v1.Pod) status {
	switch {
	case pod.Status.Phase == v1.PodSucceeded:
		return succeeded
	case pod.Status.Phase == v1.PodFailed:
		return failed
	case pod.DeletionTimestamp != nil:
		return releasing
	case pod.Status.Phase == v1.PodRunning:
		return running
	case pod.Spec.NodeName != "":
		return bound
	}
	return pending
}

func (c *cluster) addPod(pod *v1.Pod, j *job) {
	list, initial := requests(pod)
	t := &task{
		pod: pod, name: pod.Namespace + "/" + pod.Name, job: j, initial: c.units.of(initial), status: statusOf(pod), priority: 1,
		role: pod.Annotations[RoleAnnotation], preemptable: true, gated: len(pod.Spec.SchedulingGates) > 0,
	}
	t.request = c.units.of(list)
	if c.rules == Volcano {
		t.request = t.initial
		for _, where := range []map[string]string{pod.Annotations, pod.Labels} {
			if may, err := strconv.ParseBool(where[PreemptableAnnotation]); err == nil {
				t.preemptable = may
			}
		}
	}
	t.bestEffort = c.units.empty(t.request)
	if pod.Spec.Priority != nil {
		t.priority = *pod.Spec.Priority
	}
	if n, err := strconv.ParseInt(pod.Annotations[TaskPriorityAnnotation], 10, 32); err == nil && c.rules == Volcano {
		t.priority = int32(n)
	}
	c.tasks[pod] = t
	if n := c.byNode[pod.Spec.NodeName]; n != nil && t.status != succeeded && t.status != failed {
		c.put(t, n)
	}
	if j != nil {
		j.tasks = append(j.tasks, t)
	}
}

// put counts a task of a present status on a node.
func (c *cluster) put(t *task, n *node) {
	t.node = n
	n.tasks = append(n.tasks, t)
	n.pods++
	switch t.status {
	case pipelined:
		n.pipelined.add(t.request)
		return
	case releasing:
		n.releasing.add(t.request)
	}
	n.idle.sub(t.request)
	n.used.add(t.request)
}

// take is the opposite of put.
func (c *cluster) take(t *task) {
	n := t.node
	n.tasks = slices.Delete(n.tasks, slices.Index(n.tasks, t), slices.Index(n.tasks, t)+1)
	n.pods--
	t.node = nil
	switch t.status {
	case pipelined:
		n.pipelined.sub(t.request)
		return
	case releasing:
		n.releasing.sub(t.request)
	}
	n.idle.add(t.request)
	n.used.sub(t.request)
}

// account sums up a job.
func (c *cluster) account(j *job) {
	j.notes.limited = -1
	j.allocated = c.units.zero()
	q := j.queue
	q.jobs++
	for _, t := range j.tasks {
		if t.status.holds() {
			j.allocated.add(t.request)
			q.allocated.add(t.request)
			q.request.add(t.request)
		}
		if t.status == pending {
			q.request.add(t.request)
		}
	}
	if j.minResources == nil {
		return
	}
	if j.phase == PhaseInqueue {
		q.inqueue.add(j.minResources)
	}
	if j.phase == PhaseRunning {
		for i := range j.minResources {
			q.inqueue[i] += math.Max(0, j.minResources[i]-j.allocated[i])
			q.elastic[i] += math.Max(0, j.allocated[i]-j.minResources[i])
		}
	}
}
