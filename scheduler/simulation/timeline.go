package simulation

import (
	"container/heap"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// timeline is the virtual time with its timers.
type timeline struct {
	now    atomic.Int64 // nanoseconds since 1970
	start  time.Time
	timers timers
	next   int64
}

func newTimeline(start time.Time) *timeline {
	t := &timeline{start: start.UTC()}
	t.now.Store(start.UnixNano())
	return t
}

// Now returns the virtual time. Any goroutine may call it.
func (t *timeline) Now() time.Time { return time.Unix(0, t.now.Load()).UTC() }

// stamp returns the virtual time as the API server writes it.
func (t *timeline) stamp() metav1.Time { return metav1.NewTime(t.Now().Truncate(time.Second)) }

// pace is how long a turn of the scheduler and a change of an object take. It shows the queue,
// which puts the oldest pod first, the order of events at one time.
const pace = time.Microsecond

func (t *timeline) tick() { t.now.Add(int64(pace)) }

// reach lets time pass until at. It never goes back.
func (t *timeline) reach(at time.Time) {
	if at.UnixNano() > t.now.Load() {
		t.now.Store(at.UnixNano())
	}
}

type timer struct {
	at time.Time
	// order numbers the timers as they were set.
	order int64
	// awaited: a settling cluster waits for it.
	awaited bool
	stopped bool
	do      func()
}

// stop cancels the timer. It may be nil.
func (t *timer) stop() {
	if t != nil {
		t.stopped = true
	}
}

// after calls do when d has passed. awaited is as in timer.
func (t *timeline) after(d time.Duration, awaited bool, do func()) *timer {
	t.next++
	next := &timer{at: t.Now().Add(max(d, 0)), order: t.next, awaited: awaited, do: do}
	heap.Push(&t.timers, next)
	return next
}

// first returns the timer that is due first, or nil.
func (t *timeline) first() *timer {
	for len(t.timers) > 0 {
		if !t.timers[0].stopped {
			return t.timers[0]
		}
		heap.Pop(&t.timers)
	}
	return nil
}

// due calls the first timer that is due. The scheduler acts before the next call, as it does
// between two events of an API server.
func (t *timeline) due() {
	if next := t.first(); next != nil && !next.at.After(t.Now()) {
		heap.Pop(&t.timers)
		next.stopped = true
		next.do()
	}
}

func (t *timeline) awaits() bool {
	for _, next := range t.timers {
		if next.awaited && !next.stopped {
			return true
		}
	}
	return false
}

type timers []*timer

func (t timers) Len() int { return len(t) }

func (t timers) Less(a, b int) bool {
	if !t[a].at.Equal(t[b].at) {
		return t[a].at.Before(t[b].at)
	}
	return t[a].order < t[b].order
}

func (t timers) Swap(a, b int) { t[a], t[b] = t[b], t[a] }

func (t *timers) Push(x any) { *t = append(*t, x.(*timer)) }

func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	(*t)[len(*t)-1] = nil
	*t = (*t)[:len(*t)-1]
	return last
}

// queueClock is the clock of the scheduling queue, which only reads it: the queue's timers belong
// to its Run, which is not called.
type queueClock struct {
	clock.RealClock
	*timeline
}

var _ clock.WithTicker = queueClock{}

func (c queueClock) Now() time.Time { return c.timeline.Now() }

func (c queueClock) Since(then time.Time) time.Duration { return c.timeline.Now().Sub(then) }
