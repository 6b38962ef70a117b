package control

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

const (
	// Kueue waits as long after a cycle that admitted nothing.
	firstPause = time.Millisecond
	lastPause  = 10 * time.Millisecond
	// flushAfter is how long Kueue gathers what lets parked workloads be tried again.
	flushAfter = time.Second
	// writers is how many decisions of one cycle are written at the same time, as in Kueue.
	writers = 8
	// idle is how often heads that wait are tried although nothing seems to have changed. Kueue tries
	// them all the time, with the same outcome.
	idle = time.Second
)

// cycles runs admission cycles. A cycle that would only repeat what one did since the latest change is
// neither told nor followed by another: the loop waits for a change.
func (e *engaged) cycles(ctx context.Context) {
	pause := firstPause
	seen := map[string]bool{}
	for {
		begun := e.clock.Now()
		r := e.cycle()
		again := false
		if r != nil {
			if print := fingerprint(r); !seen[print] {
				seen[print], again = true, true
				observe(r, e.clock.Since(begun))
				e.carryOut(ctx, r)
			}
		}
		wait := idle
		if in, ok := e.nextFlush(); ok {
			wait = min(idle, in)
		}
		if again {
			wait, pause = pause, min(2*pause, lastPause)
			if reserved(r) {
				wait, pause = 0, firstPause
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
			clear(seen)
		case <-e.clock.After(wait):
			if !again {
				clear(seen)
			}
		}
	}
}

func (e *engaged) cycle() *admission.Record {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state.Cycle(e.clock.Now())
}

func (e *engaged) nextFlush() (in time.Duration, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state.NextFlush(e.clock.Now())
}

// Doing says what the controllers are about to do although nothing changes any more; "" for nothing.
func (q *Queues) Doing() string {
	e := q.engaged.Load()
	if e == nil || e.observes {
		return ""
	}
	if in, ok := e.nextFlush(); ok {
		return fmt.Sprintf("Kueue tries parked workloads again in %s", in.Round(time.Millisecond))
	}
	return ""
}

// reserved reports whether a cycle gave quota to anything.
func reserved(r *admission.Record) bool {
	for _, h := range r.Heads {
		if h.Outcome == admission.Reserved {
			return true
		}
	}
	return false
}

// fingerprint is equal for cycles that did the same.
func fingerprint(r *admission.Record) string {
	text, _ := json.Marshal(r.Heads) // plain data
	return string(text)
}

// carryOut tells a cycle and writes its decisions. Those that cannot be written are undone.
func (e *engaged) carryOut(ctx context.Context, r *admission.Record) {
	if e.news(r) {
		e.append(r)
	}
	turns := make(chan struct{}, writers)
	var writing sync.WaitGroup
	for _, d := range r.Decisions {
		turns <- struct{}{}
		writing.Go(func() {
			defer func() { <-turns }()
			err := e.write(ctx, d)
			if err == nil {
				e.untell(trouble{decisionWriter, d.Workload.Key()})
			} else if ctx.Err() == nil {
				e.tell(ctx, trouble{decisionWriter, d.Workload.Key()}, fmt.Errorf("writing the decision %s: %w", d.Verb, err))
				e.mu.Lock()
				e.state.Forget(d.Workload.Key(), e.clock.Now())
				e.mu.Unlock()
				e.workloadKeys.AddRateLimited(d.Workload.Key())
				signal(e.wake)
			}
		})
	}
	writing.Wait()
	e.changed()
}

// news reports whether a cycle tells anything about any head that the previous one of that head did not.
func (e *engaged) news(r *admission.Record) bool {
	news := false
	if len(e.told) > 2*len(r.Heads)+len(e.workloads.GetStore().ListKeys()) {
		clear(e.told) // of workloads that have gone
	}
	for _, h := range r.Heads {
		h.Order, h.LocalQueues = 0, nil // they change although nothing has become of the head
		text, _ := json.Marshal(h)      // plain data
		if e.told[h.Workload] != string(text) {
			news = true
		}
		e.told[h.Workload] = string(text)
		if h.Outcome == admission.Reserved {
			delete(e.told, h.Workload)
		}
	}
	return news
}
