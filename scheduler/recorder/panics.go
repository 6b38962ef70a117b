package recorder

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/guard"
	"kube-scheduler-simulator/scheduler/result"
)

// panics has one entry for each call of a plugin or an extender that panicked at least once.
type panics struct {
	mu  sync.Mutex
	all map[[2]string]*result.Panic
}

// note counts a panic and reports whether it is the first of its call.
func (p *panics) note(caught *guard.Panic) (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := [2]string{caught.Plugin, caught.Call}
	if known := p.all[key]; known != nil {
		known.Count++
		return false
	}
	if len(p.all) >= result.MaxPanics {
		return false
	}
	if p.all == nil {
		p.all = map[[2]string]*result.Panic{}
	}
	p.all[key] = &result.Panic{Plugin: caught.Plugin, Call: caught.Call, Value: caught.Value, Stack: caught.Stack, Count: 1}
	return true
}

func (p *panics) sorted() []result.Panic {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []result.Panic
	for _, one := range slices.Collect(maps.Values(p.all)) {
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b result.Panic) int {
		return cmp.Or(cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Call, b.Call))
	})
	return out
}

// panicked notes a panic for Panics and in the record of the pod's cycle, if it has one. Any
// goroutine may call it, also under the lock of the queue.
func (r *Recorder) panicked(caught *guard.Panic, pod *v1.Pod) {
	if pod != nil {
		if c := r.scheduling(pod); c != nil {
			c.panics.note(caught)
		}
	}
	if !r.panics.note(caught) {
		return
	}
	select {
	case r.newPanic <- struct{}{}:
	default: // the recorder's goroutine has not told of an earlier one yet
	}
}

// Panics returns the calls of plugins and extenders that panicked, at most result.MaxPanics. Any
// goroutine may call it.
func (r *Recorder) Panics() []result.Panic { return r.panics.sorted() }

// OnPanic makes the recorder call f, on its own goroutine, after a call has panicked for the first
// time. Call it before Start.
func (r *Recorder) OnPanic(f func()) { r.onPanic = f }

// panicsOf returns the cycle's panics. Calls for a whole group belong to no pod's cycle, but the
// cycle's error reveals their panics.
func (c *cycle) panicsOf(e ending) []result.Panic {
	if caught := (*guard.Panic)(nil); errors.As(e.status.AsError(), &caught) && len(c.panics.sorted()) == 0 {
		c.panics.note(caught)
	}
	return c.panics.sorted()
}
