package scheduler

import (
	"context"
	"sync"

	"kube-scheduler-simulator/scheduler/feed"
)

// Feed hands out what the running scheduler sees, and every change; see package feed. The Feed
// watches the scheduler only while it has followers. Without followers, each change of the
// scheduler's cache costs one nil check. A Feed outlives its schedulers: give it to each of them,
// in Options. Its methods may be called from any goroutine.
type Feed struct {
	log *feed.Log

	mu sync.Mutex
	// running is nil while no scheduler runs.
	running *Scheduler
	// tee copies what running sees to the log. It is nil while the log has no followers.
	tee *tee
}

// NewFeed returns a feed without a scheduler.
func NewFeed() *Feed {
	f := &Feed{}
	f.log = feed.NewLog(f.reconcile)
	return f
}

// Follow begins to follow the state. ctx has no effect: the follower's Drain waits for a scheduler.
func (f *Feed) Follow(context.Context) (*feed.Follower, error) { return f.log.Follow(false), nil }

// FollowDecisions is Follow with a mark for each decision that the scheduler makes about a single
// pod. The mark stands where the scheduler took the snapshot that the decision rests on. Decisions
// about pod groups have none.
func (f *Feed) FollowDecisions(context.Context) (*feed.Follower, error) {
	return f.log.Follow(true), nil
}

func (f *Feed) begin(s *Scheduler) {
	if f == nil {
		return
	}
	f.mu.Lock()
	f.running = s
	f.mu.Unlock()
	f.reconcile()
}

// end is called before s stops.
func (f *Feed) end(s *Scheduler) {
	if f == nil {
		return
	}
	f.mu.Lock()
	if f.running == s {
		f.running = nil
	}
	f.mu.Unlock()
	f.reconcile()
}

// reconcile starts the tee of the running scheduler when the log has followers, and stops it when
// the last one leaves.
func (f *Feed) reconcile() {
	f.mu.Lock()
	defer f.mu.Unlock()
	followers, _ := f.log.Followers()
	if f.tee != nil && (followers == 0 || f.tee.of != f.running) {
		f.tee.stop()
		f.tee = nil
	}
	if f.tee == nil && followers > 0 && f.running != nil {
		f.tee = newTee(f.running, f.log)
		f.tee.start()
	}
}
