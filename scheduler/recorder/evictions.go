package recorder

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"kube-scheduler-simulator/scheduler/result"
)

// evictions follows the eviction of the victims of one preemption. Unless asynchronous preemption
// is disabled, the scheduler evicts them in the background, usually after the cycle that chose
// them. The recorder then publishes their cycles again.
type evictions struct {
	recorder *Recorder
	expected time.Time

	mu sync.Mutex
	// none: no call will come, because PostFilter chose no victims after all or all are
	// terminating.
	none    bool
	begun   time.Time
	running int
	facts   result.Evictions

	// cycles were published before the evictions ended. They belong to the recorder's goroutine.
	cycles []*result.Cycle
}

// observeEvictions records what the plugin's executor does, if it has one, by wrapping the exported
// function that the executor calls for each victim.
func observeEvictions(b *base) {
	_, executor := preemptionOf(b.plugin)
	if executor == nil {
		return
	}
	if b.recorder.hypothetical {
		executor.PreemptPod = evictNone
		return
	}
	evict := executor.PreemptPod
	executor.PreemptPod = func(ctx context.Context, chosen preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, plugin string) (bool, error) {
		e := b.recorder.evictionsBy(preemptor.UID())
		e.begin(chosen)
		released, err := evict(ctx, chosen, preemptor, victim, plugin)
		e.end(victim, released, err)
		return released, err
	}
	b.evicts = true
}

// evictNone replaces the executor's call in a hypothetical cycle.
func evictNone(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
	return false, nil
}

// expectEvictions prepares for a plugin that may evict pods for pod, before it returns. It returns
// nil for other plugins and for pods without a record.
func (b *base) expectEvictions(pod *v1.Pod) *evictions {
	if !b.evicts {
		return nil
	}
	c := b.recorder.scheduling(pod)
	if c == nil {
		return nil
	}
	c.evictions = b.recorder.expectEvictions(pod.UID)
	return c.evictions
}

// The recorder forgets a pod's evictions when the pod is bound or deleted. Nothing reports the end
// of a pod group, so beyond keepEvictions the recorder forgets those that are over, and those that
// did not begin within startEvictions.
const (
	keepEvictions  = 256
	startEvictions = time.Minute
)

func (r *Recorder) expectEvictions(preemptor types.UID) *evictions {
	e := &evictions{recorder: r, expected: r.now()}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.evicting) >= keepEvictions {
		maps.DeleteFunc(r.evicting, func(_ types.UID, old *evictions) bool { return old.over(e.expected) })
	}
	r.evicting[preemptor] = e
	return e
}

func (r *Recorder) evictionsBy(preemptor types.UID) *evictions {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.evicting[preemptor]
}

// chosen notes PostFilter's answer. victims may be unknown.
func (e *evictions) chosen(status *fwk.Status, victims []*v1.Pod) {
	if e == nil || status.IsSuccess() && !allTerminating(victims) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.none = true
}

func allTerminating(pods []*v1.Pod) bool {
	return len(pods) > 0 && !slices.ContainsFunc(pods, func(pod *v1.Pod) bool { return pod.DeletionTimestamp == nil })
}

// begin notes that a call starts. The scheduler makes several calls at a time, but the last one
// only after all others.
func (e *evictions) begin(chosen preemption.Candidate) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running++
	if !e.begun.IsZero() {
		return
	}
	e.begun = e.recorder.now()
	for _, victim := range chosen.Victims().Pods {
		e.facts.Victims++
		if victim.DeletionTimestamp != nil {
			e.facts.Terminating++
		}
	}
}

// end notes the answer for a victim. released: the victim lost only its place in the scheduler's
// memory.
func (e *evictions) end(victim *v1.Pod, released bool, err error) {
	if e == nil {
		return
	}
	e.mu.Lock()
	e.running--
	f := &e.facts
	switch {
	case err != nil:
		f.Failed++
		if len(f.Failures) < result.MaxEvictionFailures {
			f.Failures = append(f.Failures, result.EvictionFailure{Pod: podOf(victim), Error: err.Error()})
		}
	case released:
		f.Released++
	default:
		f.Deleted++
	}
	// A failure cancels the calls that have not started. If one starts anyway, its end publishes
	// the cycles again.
	f.Done = e.running == 0 && (f.Failed > 0 || f.Deleted+f.Released+f.Terminating == f.Victims)
	took := e.recorder.now().Sub(e.begun).Seconds()
	f.DurationSeconds = &took
	done := f.Done
	e.mu.Unlock()
	if done {
		e.recorder.sendFinished(finished{evictions: e})
	}
}

// build returns what is known so far, or nil when no pod had to be evicted.
func (e *evictions) build() *result.Evictions {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun.IsZero() {
		return nil
	}
	out := e.facts
	out.Failures = append([]result.EvictionFailure(nil), out.Failures...)
	return &out
}

// open reports whether the cycles will be published again.
func (e *evictions) open() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.none && !e.facts.Done
}

// over reports whether no call will come.
func (e *evictions) over(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.none || e.facts.Done || e.begun.IsZero() && now.Sub(e.expected) > startEvictions
}

// published keeps a cycle that may have to be published again. Like republish, it runs on the
// recorder's goroutine.
func (e *evictions) published(c *result.Cycle) {
	if e != nil && e.open() {
		e.cycles = append(e.cycles, c)
	}
}

// republish puts the published cycles again, with the outcome. Later ones have it from the start.
func (e *evictions) republish(sink Sink) {
	for i, c := range e.cycles {
		e.cycles[i] = e.complete(c)
		sink.Put(e.cycles[i])
	}
	if !e.open() {
		e.cycles = nil
	}
}

func (e *evictions) complete(c *result.Cycle) *result.Cycle {
	out := *c
	out.Updates++
	if c.Preemption != nil {
		p := *c.Preemption
		p.Evictions = e.build()
		out.Preemption = &p
	}
	if c.PodGroup != nil && c.PodGroup.Preemption != nil {
		g, p := *c.PodGroup, *c.PodGroup.Preemption
		p.Evictions = e.build()
		g.Preemption = &p
		out.PodGroup = &g
	}
	return &out
}

// evicts returns the evictions of the cycle or of its pod group, or nil.
func (c *cycle) evicts() *evictions {
	if c.evictions == nil && c.group != nil {
		c.group.mu.Lock()
		defer c.group.mu.Unlock()
		return c.group.evictions
	}
	return c.evictions
}
