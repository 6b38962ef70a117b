// Package recorder observes the kube-scheduler without changing what it does.
//
// Every plugin is wrapped by a composition of small recorders, one per
// interface, that has exactly the interfaces of the plugin: the framework asks
// by reflection and by assertion what a plugin can do, so that a wrapper with
// more or fewer methods would change the scheduler. The compositions are
// generated (go generate ./scheduler/recorder). Around each profile's framework
// stands a decorator that notes what only the framework knows: the verdict on a
// node, the weighted scores, how long an extension point took.
//
// The scheduling cycle is serialised by the scheduler, one pod at a time, so
// that its record needs no lock: the workers of Filter and Score write to slots
// of their own, one per node. Binding cycles run beside it and find their record
// by the pod's UID. A finished record becomes an immutable result.Cycle on the
// recorder's own goroutine and goes to the Sink.
//
// The package may import the scheduling framework and scheduler/result.
package recorder

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// Sink keeps finished cycles. The recorder calls it from one goroutine.
type Sink interface {
	// NextAttempt returns the number of the next attempt of a pod, from 1. It
	// is called once per cycle, before that cycle is put.
	NextAttempt(uid types.UID) int
	// Put takes a cycle that nobody changes any more. A cycle whose outcome was
	// Waiting is put again, under the same attempt, when the wait has ended.
	Put(*result.Cycle)
}

// Recorder records one scheduler. It is safe for the concurrency of the
// scheduler that it is attached to.
type Recorder struct {
	sink Sink
	now  func() time.Time

	// current is the record of the scheduling cycle that is under way.
	current atomic.Pointer[cycle]
	// nodes is the node table of the latest snapshot. Only the scheduling
	// goroutine replaces it.
	nodes *nodeTable
	// group is the latest pod group's cycle. It belongs to the scheduling
	// goroutine.
	group *groupRecord
	// trial is true while a group is scheduled as if victims were gone.
	trial atomic.Bool
	// verdicts are the arrays of earlier cycles, for reuse.
	verdicts sync.Pool

	mu sync.Mutex
	// inFlight holds the cycles between the selection of a node and the end of
	// binding, by the pod's UID.
	inFlight map[types.UID]*cycle
	// preEnqueue holds the latest answers of the PreEnqueue plugins, by the
	// pod's UID, until the pod is bound or deleted.
	preEnqueue map[types.UID][]result.PluginResult
	// requeued holds what brought a pod back since its last attempt, by the
	// pod's UID, until its next attempt or its deletion.
	requeued map[types.UID]*result.Requeue
	profiles map[string]*profile

	finished chan finished
	done     chan struct{}
}

// finished is a record on its way to the sink.
type finished struct {
	cycle *cycle
	end   ending
}

// backlog bounds the finished records that wait for the sink. When it is full,
// scheduling waits: a result is never lost.
const backlog = 256

// New returns a recorder that is not running yet. A nil clock means time.Now.
func New(sink Sink, clock func() time.Time) *Recorder {
	if clock == nil {
		clock = time.Now
	}
	return &Recorder{
		sink:       sink,
		now:        clock,
		nodes:      &nodeTable{},
		inFlight:   map[types.UID]*cycle{},
		preEnqueue: map[types.UID][]result.PluginResult{},
		requeued:   map[types.UID]*result.Requeue{},
		profiles:   map[string]*profile{},
		finished:   make(chan finished, backlog),
		done:       make(chan struct{}),
	}
}

// Start begins to hand finished cycles to the sink.
func (r *Recorder) Start() {
	go func() {
		defer close(r.done)
		for f := range r.finished {
			r.sink.Put(r.build(f.cycle, f.end))
		}
	}()
}

// Stop waits until every finished cycle is with the sink. The scheduler must
// have ended before, binding cycles included.
func (r *Recorder) Stop(ctx context.Context) error {
	close(r.finished)
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Forget drops what is kept for a pod that was deleted.
func (r *Recorder) Forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.preEnqueue, uid)
	delete(r.requeued, uid)
}

// scheduling returns the record of pod's cycle, or nil when it has none: a
// plugin may run others for a pod of its own. Members of a pod group are
// reserved when other members have been tried since.
func (r *Recorder) scheduling(pod *v1.Pod) *cycle {
	if r.trial.Load() {
		return nil
	}
	if c := r.current.Load(); c != nil && c.pod.UID == pod.UID {
		return c
	}
	return r.binding(pod)
}

// binding returns the record of the pod's cycle after a node was selected.
func (r *Recorder) binding(pod *v1.Pod) *cycle {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inFlight[pod.UID]
}

// begin opens the record of a scheduling cycle.
func (r *Recorder) begin(p *profile, podInfo *framework.QueuedPodInfo, nodes []fwk.NodeInfo) *cycle {
	pod := podInfo.Pod
	if !r.nodes.of(nodes) {
		r.nodes = newNodeTable(nodes)
	}
	c := &cycle{
		recorder: r,
		profile:  p,
		pod:      result.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		start:    r.now(),
		nodes:    r.nodes,
		verdicts: r.takeVerdicts(len(nodes)),
		queue:    queueOf(podInfo),
	}
	p.beginSampling(len(nodes))

	r.mu.Lock()
	c.preEnqueue = append(c.preEnqueue, r.preEnqueue[pod.UID]...)
	c.queue.RequeuedBy = r.requeued[pod.UID]
	delete(r.requeued, pod.UID)
	r.inFlight[pod.UID] = c
	r.mu.Unlock()
	r.current.Store(c)
	return c
}

// end closes the record of a pod and sends it to the sink. It does nothing for
// a pod that has none.
func (r *Recorder) end(uid types.UID, e ending) bool {
	r.mu.Lock()
	c := r.inFlight[uid]
	delete(r.inFlight, uid)
	if e.outcome == result.Scheduled {
		delete(r.preEnqueue, uid)
	}
	r.mu.Unlock()
	if c == nil {
		return false
	}
	r.current.CompareAndSwap(c, nil)
	e.at = r.now()
	r.send(c, e)
	return true
}

// queueOf returns what the queue knows of a pod that it has just given out.
func queueOf(podInfo *framework.QueuedPodInfo) *result.Queue {
	q := &result.Queue{
		AddedTime:          podInfo.Timestamp,
		InitialAttemptTime: podInfo.InitialAttemptTimestamp,
		Attempts:           podInfo.Attempts,
		Flushed:            podInfo.WasFlushedFromUnschedulable,
	}
	if rejected := podInfo.UnschedulablePlugins.Union(podInfo.PendingPlugins); len(rejected) > 0 {
		q.RejectedBy = sortedNames(rejected)
	}
	if !podInfo.BackoffExpiration.IsZero() {
		q.BackoffUntil = &podInfo.BackoffExpiration
	}
	return q
}

func (r *Recorder) send(c *cycle, e ending) { r.finished <- finished{cycle: c, end: e} }

// takeVerdicts returns a cleared array of n verdicts.
func (r *Recorder) takeVerdicts(n int) []*fwk.Status {
	if v, ok := r.verdicts.Get().(*[]*fwk.Status); ok && cap(*v) >= n {
		s := (*v)[:n]
		clear(s)
		return s
	}
	return make([]*fwk.Status, n)
}

func (r *Recorder) returnVerdicts(v []*fwk.Status) { r.verdicts.Put(&v) }

// nodeTable gives the nodes of a snapshot their index. It is immutable.
type nodeTable struct {
	// list is the snapshot's own slice. The scheduler makes a new one when
	// nodes come or go, so that the same slice means the same nodes; holding it
	// keeps its address from being used again.
	list  []fwk.NodeInfo
	names []string
	index map[string]int32
}

func newNodeTable(list []fwk.NodeInfo) *nodeTable {
	t := &nodeTable{
		list:  list,
		names: make([]string, len(list)),
		index: make(map[string]int32, len(list)),
	}
	for i, n := range list {
		t.names[i] = n.Node().Name
		t.index[t.names[i]] = int32(i)
	}
	return t
}

// of reports whether t describes list.
func (t *nodeTable) of(list []fwk.NodeInfo) bool {
	return len(t.list) == len(list) && (len(list) == 0 || &t.list[0] == &list[0])
}
