// Package recorder observes the kube-scheduler without changing what it does.
//
// Every plugin is wrapped by a composition of small recorders, one per interface.
// Package upstream makes the framework run it exactly where it would run the plugin.
// Between a recorder and the plugin stands a guard, which turns a panic into a failure
// of the call. A decorator around each profile's framework notes the facts that only
// the framework knows: the verdict on a node, the weighted scores, and how long an
// extension point took.
//
// The scheduler runs one scheduling cycle at a time, so its record needs no lock: the
// workers of Filter and Score write to slots of their own, one per node. Binding
// cycles run concurrently and find their record by the pod's UID. The recorder's own
// goroutine turns a finished record into an immutable result.Cycle and hands it to
// the Sink.
//
// The package names no plugin: knowledge about particular plugins comes through
// Plugins, which package comparison implements. It may import the scheduling
// framework, scheduler/guard, scheduler/internal/upstream, scheduler/pluginfact and
// scheduler/result.
package recorder

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/result"
)

// Sink keeps finished cycles. The recorder calls it from one goroutine.
type Sink interface {
	// NextAttempt returns the number of the next attempt of a pod, from 1. It
	// is called once per cycle, before that cycle is put.
	NextAttempt(uid types.UID) int
	// Put stores a cycle that no longer changes. The recorder puts a cycle again, under the same
	// attempt, after a wait for a permit and after the eviction of its victims. By then the pod may
	// have a later attempt.
	Put(*result.Cycle)
}

// Recorder records one scheduler. It is safe for the concurrency of the
// scheduler that it is attached to.
type Recorder struct {
	sink    Sink
	plugins Plugins
	now     func() time.Time
	// hypothetical: see NewHypothetical.
	hypothetical bool
	// withoutOthers: see WithoutOthers.
	withoutOthers bool
	// brief: see Briefly.
	brief func(types.UID) bool

	current atomic.Pointer[cycle]
	// nodes is the node table of the latest snapshot. Only the scheduling
	// goroutine replaces it.
	nodes *nodeTable
	// names belongs to the scheduling goroutine.
	names knownNames
	// groups holds the running cycles of a pod group and of its subgroups. They
	// belong to the scheduling goroutine.
	groups map[fwk.PodGroupCycleState]*groupRecord
	// trial is true while preemption tries a group with its possible victims
	// removed.
	trial atomic.Bool
	// groupBackoff is when the last popped pod group's backoff ended; zero for a group without one
	// and for a single pod.
	groupBackoff time.Time
	// nominating: the scheduler was told of nominated pods in this cycle.
	nominating atomic.Bool
	// failing counts the failures that the scheduler is still handling, requeueing the pod and
	// writing its condition.
	failing atomic.Int32
	// verdicts and scores hold those of earlier cycles for reuse.
	verdicts, scores sync.Pool
	// scratch is build's, and belongs to the recorder's goroutine.
	scratch scratch
	// The following scratch belongs to the scheduling goroutine.
	factScratch     factScratch
	passScratch     []int32
	passedScratch   []result.Comparison
	resourceScratch []result.ResourceComparison
	// panics are those of all cycles, and newPanic wakes the recorder's goroutine.
	panics   panics
	newPanic chan struct{}
	onPanic  func()

	mu sync.Mutex
	// inFlight holds each cycle from its start until binding ends or the cycle fails,
	// by the pod's UID.
	inFlight map[types.UID]*tries
	// preEnqueue holds the latest answers of the PreEnqueue plugins, by the
	// pod's UID, until the pod is bound or deleted.
	preEnqueue map[types.UID][]result.PluginResult
	// requeued holds the event that moved a pod back into the queue since its last
	// attempt, by the pod's UID, until its next attempt or its deletion.
	requeued map[types.UID]*result.Requeue
	profiles map[string]*profile
	// evicting holds the evictions by the UID of the preemptor, a pod or a pod group, until its
	// next preemption or its deletion.
	evicting map[types.UID]*evictions

	// sending keeps Stop from closing finished while a binding cycle that outlives the scheduler
	// sends to it.
	sending  sync.RWMutex
	started  bool
	stopped  bool
	finished chan finished
	// undelivered counts the finished records that the sink does not have yet.
	undelivered atomic.Int64
	done        chan struct{}
}

// finished is a record that the sink has not received yet: a cycle, or evictions that
// ended after their cycles.
type finished struct {
	cycle     *cycle
	end       ending
	evictions *evictions
	// early: the cycle has not ended, but its tables can be built.
	early bool
}

// backlog bounds the finished records that wait for the sink. When full, scheduling waits, so no
// result is lost.
const backlog = 256

// New returns a recorder that is not running yet. Without plugins it records no
// comparisons, no claims and no victims of preemption for a pod group. A nil clock
// means time.Now.
func New(sink Sink, plugins Plugins, clock func() time.Time) *Recorder {
	if plugins == nil {
		plugins = noPlugins{}
	}
	if clock == nil {
		clock = time.Now
	}
	return &Recorder{
		sink:       sink,
		plugins:    plugins,
		now:        clock,
		brief:      func(types.UID) bool { return false },
		nodes:      &nodeTable{},
		groups:     map[fwk.PodGroupCycleState]*groupRecord{},
		inFlight:   map[types.UID]*tries{},
		preEnqueue: map[types.UID][]result.PluginResult{},
		requeued:   map[types.UID]*result.Requeue{},
		profiles:   map[string]*profile{},
		evicting:   map[types.UID]*evictions{},
		finished:   make(chan finished, backlog),
		newPanic:   make(chan struct{}, 1),
		onPanic:    func() {},
		done:       make(chan struct{}),
	}
}

// Briefly limits what the recorder keeps of the pods for which brief returns true: their cycles
// lack comparisons and scores, and those that choose a node lack Filter, too. Their summaries are
// the same. Call Briefly before Attach. Cycles call brief on the scheduling goroutine.
func (r *Recorder) Briefly(brief func(pod types.UID) bool) { r.brief = brief }

// Start starts handing finished cycles to the sink.
func (r *Recorder) Start() {
	r.started = true
	go func() {
		defer close(r.done)
		for {
			select {
			case f, ok := <-r.finished:
				if !ok {
					return
				}
				r.deliver(f)
				r.undelivered.Add(-1)
			case <-r.newPanic:
				r.onPanic()
			}
		}
	}()
}

func (r *Recorder) deliver(f finished) {
	switch {
	case f.evictions != nil:
		f.evictions.republish(r.sink)
		return
	case f.early:
		f.cycle.mu.Lock()
		defer f.cycle.mu.Unlock()
		f.cycle.search()
		return
	}
	c := r.build(f.cycle, f.end)
	r.sink.Put(c)
	if f.end.outcome != result.Waiting {
		f.cycle.evicts().published(c)
	}
}

// Stop waits until the sink has every finished cycle. It no longer records binding cycles that
// outlive the scheduler, such as those of pods that wait for a permit. Stop does nothing without
// Start.
func (r *Recorder) Stop(ctx context.Context) error {
	if !r.started {
		return nil
	}
	r.sending.Lock()
	r.stopped = true
	r.sending.Unlock()
	close(r.finished)
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Idle reports whether no scheduling cycle and no binding cycle is running.
func (r *Recorder) Idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.inFlight) == 0 && r.failing.Load() == 0
}

// Delivered reports whether the sink has every cycle that has finished.
func (r *Recorder) Delivered() bool { return r.undelivered.Load() == 0 }

// Forget drops the records of a deleted pod.
func (r *Recorder) Forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.preEnqueue, uid)
	delete(r.requeued, uid)
	delete(r.evicting, uid)
}

// scheduling returns the record of pod's cycle, or nil when it has none: a plugin may run other
// plugins for a pod that does not exist. Reserve of a pod group's member follows the tries of other
// members, so the member's cycle may not be the current one.
func (r *Recorder) scheduling(pod *v1.Pod) *cycle {
	if r.trial.Load() {
		return nil
	}
	if c := r.current.Load(); c != nil && (c.object == pod || c.pod.UID == pod.UID) {
		return c
	}
	return r.binding(pod)
}

// binding returns the record of the pod's cycle after a node was selected.
func (r *Recorder) binding(pod *v1.Pod) *cycle {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.inFlight[pod.UID]; t != nil {
		return t.chosen
	}
	return nil
}

// tries holds the records of one attempt. A pod without a group has one record. A member of a pod
// group has one for each placement in which it was tried; one of them counts in the end.
type tries struct {
	all    []*cycle
	chosen *cycle
}

// searchEarly has a cycle's tables built, once, before the cycle ends. A pod that has waited for a
// permit has its tables already.
func (r *Recorder) searchEarly(c *cycle) {
	c.mu.Lock()
	sent := c.early || c.wait != nil
	c.early = true
	c.mu.Unlock()
	if !sent {
		r.sendFinished(finished{cycle: c, early: true})
	}
}

// forgetOtherTries keeps only a pod's chosen try for the binding cycle, which may be long.
func (r *Recorder) forgetOtherTries(pod types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.inFlight[pod]; t != nil && t.chosen != nil {
		t.all = []*cycle{t.chosen}
	}
}

// choose makes the try with this state the one that counts, on the scheduling goroutine, when a
// node is reserved.
func (r *Recorder) choose(pod *v1.Pod, state fwk.CycleState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.inFlight[pod.UID]
	if t == nil || r.trial.Load() {
		return
	}
	for _, c := range t.all {
		if c.state == state {
			t.chosen = c
			r.current.Store(c)
		}
	}
}

func (r *Recorder) begin(p *profile, state fwk.CycleState, podInfo *framework.QueuedPodInfo, nodes []fwk.NodeInfo) *cycle {
	pod := podInfo.Pod
	if !upstream.SameNodes(r.nodes.list, nodes) {
		r.nodes = newNodeTable(nodes, &r.names)
	}
	c := &cycle{
		recorder: r,
		profile:  p,
		pod:      result.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		object:   pod,
		start:    r.now(),
		nodes:    r.nodes,
		verdicts: r.takeVerdicts(len(nodes)),
		state:    state,
		queue:    r.queueOf(podInfo),
		brief:    r.brief(pod.UID),
	}
	if r.hypothetical {
		c.others = others{rejections: map[string]*fwk.Status{}, restrictions: map[string]sets.Set[string]{}}
	}
	if node := pod.Status.NominatedNodeName; node != "" {
		c.nomination, c.triesOneFirst = &result.Nomination{Node: node}, true
	}
	r.nominating.Store(false)
	c.facts = pluginfact.Attach(state, func() bool { return c.searching })
	if state.IsPodGroupSchedulingCycle() {
		c.group = r.groupCycle(state.GetPodGroupSchedulingCycle(), nil)
		c.placement = state.GetPlacementCycleState()
		c.group.allNodes(c.placement, len(nodes))
	}
	p.beginSampling(len(nodes))

	r.mu.Lock()
	c.answers.PreEnqueue = append(c.answers.PreEnqueue, r.preEnqueue[pod.UID]...)
	c.queue.RequeuedBy = r.requeued[pod.UID]
	delete(r.requeued, pod.UID)
	t := r.inFlight[pod.UID]
	if t == nil || c.group == nil {
		t = &tries{}
		r.inFlight[pod.UID] = t
	} else {
		c.queue.RequeuedBy = t.all[0].queue.RequeuedBy
	}
	t.all = append(t.all, c)
	t.chosen = c
	r.mu.Unlock()
	r.current.Store(c)
	return c
}

// end closes the record of a pod and sends it to the sink. It does nothing for
// a pod that has none.
func (r *Recorder) end(uid types.UID, e ending) bool {
	r.undelivered.Add(1) // Delivered must not miss it between inFlight and finished.
	defer r.undelivered.Add(-1)
	c := r.take(uid, e.status)
	if e.outcome == result.Scheduled {
		r.bound(uid)
	}
	if c == nil {
		return false
	}
	e.at = r.now()
	r.send(c, e)
	return true
}

// take closes the record of a pod whose cycle ended with status, or returns nil.
func (r *Recorder) take(uid types.UID, status *fwk.Status) *cycle {
	r.mu.Lock()
	t := r.inFlight[uid]
	delete(r.inFlight, uid)
	r.mu.Unlock()
	if t == nil {
		return nil
	}
	c := t.endedBy(status)
	r.current.CompareAndSwap(c, nil)
	return c
}

func (r *Recorder) bound(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.preEnqueue, uid)
	delete(r.evicting, uid)
}

// endedBy returns the try that failed with status, or the chosen one.
func (t *tries) endedBy(status *fwk.Status) *cycle {
	if len(t.all) > 1 && !status.IsSuccess() {
		for _, c := range t.all {
			if c.err != nil && errors.Is(status.AsError(), c.err) {
				return c
			}
		}
	}
	return t.chosen
}

// queueOf runs on the scheduling goroutine for a pod that was just popped.
func (r *Recorder) queueOf(podInfo *framework.QueuedPodInfo) *result.Queue {
	q := &result.Queue{
		AddedTime:          podInfo.Timestamp,
		InitialAttemptTime: podInfo.InitialAttemptTimestamp,
		Attempts:           podInfo.Attempts,
		Flushed:            podInfo.WasFlushedFromUnschedulable,
	}
	if rejected := podInfo.UnschedulablePlugins.Union(podInfo.PendingPlugins); len(rejected) > 0 {
		q.RejectedBy = sortedNames(rejected)
	}
	until := podInfo.BackoffExpiration // not a pointer into the queued pod
	if podInfo.Pod.Spec.SchedulingGroup != nil && !r.groupBackoff.IsZero() {
		until = r.groupBackoff
	}
	if !until.IsZero() {
		q.BackoffUntil = &until
	}
	return q
}

func (r *Recorder) send(c *cycle, e ending) { r.sendFinished(finished{cycle: c, end: e}) }

func (r *Recorder) sendFinished(f finished) {
	r.sending.RLock()
	defer r.sending.RUnlock()
	if !r.stopped {
		r.undelivered.Add(1)
		r.finished <- f
	}
}
