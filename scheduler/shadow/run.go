package shadow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

const (
	// maxBehind is how many decisions the judge may lag behind before it leaves some out.
	maxBehind = 256
	// patience is how long the judge waits for the first state, and for a decision's result, which
	// comes when the pod is bound.
	patience = 5 * time.Second
	// rest is how long the judge rests after a decision, as a multiple of its duration; maxRest
	// bounds that.
	rest    = 3
	maxRest = 200 * time.Millisecond
	// pause is how long the judge waits after a failure.
	pause = time.Second
)

// run judges for one shadow. It belongs to one goroutine.
type run struct {
	judge         *Judge
	configuration *config.Configuration
	// replica is the shadow's scheduler; nil after a failure.
	replica  *whatif.Replica
	follower *feed.Follower
	// filled: the replica has a state.
	filled bool

	// ops are the changes that the replica lacks, the oldest first. marks counts the marks among
	// them.
	ops   []feed.Operation
	marks int
	// lives are live cycles before whose marks the judge stands.
	lives []*result.Cycle
	epoch int
}

func (r *run) loop(ctx context.Context) {
	defer r.close()
	for ctx.Err() == nil {
		err := r.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		r.judge.fail(err.Error())
		r.close()
		sleep(ctx, pause)
	}
}

func (r *run) close() {
	if r.follower != nil {
		r.follower.Close()
		r.follower = nil
	}
	r.forget()
}

func (r *run) forget() {
	if r.replica != nil {
		_ = r.replica.Close() // its plugins are gone, whatever their Close says
	}
	r.replica, r.filled = nil, false
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (r *run) follow(ctx context.Context) error {
	if r.follower == nil {
		if err := r.begin(ctx); err != nil {
			return err
		}
	}
	for {
		if err := r.advance(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.follower.Arrived():
		case <-r.judge.signal:
		}
	}
}

func (r *run) begin(ctx context.Context) (err error) {
	r.ops, r.marks = nil, 0
	if r.follower, err = r.judge.options.Follow(ctx); err != nil {
		return fmt.Errorf("following the scheduler: %w", err)
	}
	return nil
}

// tryBegin begins to follow the scheduler and takes its state. If that fails or takes long, loop
// tries again.
func (r *run) tryBegin(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := r.begin(ctx); err == nil {
		_, _ = r.collect(ctx)
	}
}

func (r *run) advance(ctx context.Context) error {
	for {
		if _, err := r.collect(ctx); err != nil {
			return err
		}
		r.judge.fail("")
		at := slices.IndexFunc(r.ops, func(op feed.Operation) bool { return op.Mark != nil })
		if at < 0 {
			// All collected cycles' marks came before.
			r.skip(r.lives...)
			r.lives = nil
			return r.apply(len(r.ops))
		}
		if err := r.apply(at); err != nil {
			return err
		}
		mark := r.ops[0]
		live, lost, err := r.result(ctx, mark)
		if err != nil {
			return err
		}
		if lost {
			continue
		}
		r.ops, r.marks = r.ops[1:], r.marks-1
		switch {
		case live == nil:
		case live.Outcome == result.Error || r.marks >= maxBehind:
			r.skip(live)
		default:
			if err := r.decide(ctx, mark, live); err != nil {
				r.skip(live)
				return err
			}
		}
	}
}

// collect takes the arrived cycles before the changes, so that the changes include the cycles'
// marks. whole is true if the log has started over and lost the earlier marks.
func (r *run) collect(ctx context.Context) (whole bool, err error) {
	arrived, epoch := r.judge.take()
	if epoch != r.epoch {
		r.lives, r.epoch = nil, epoch
	}
	r.lives = append(r.lives, arrived...)
	ops, whole, err := r.follower.Drain(ctx)
	if err != nil {
		return false, err
	}
	if whole {
		r.skip(r.lives...)
		r.lives, r.ops, r.marks = nil, nil, 0
		if r.filled { // it cannot go back
			r.forget()
		}
	}
	if r.replica == nil {
		if r.replica, err = whatif.NewReplica(ctx, r.configuration.Internal, r.judge.options.Engine); err != nil {
			return false, err
		}
	}
	for _, op := range ops {
		if op.Mark != nil {
			r.marks++
		}
	}
	r.ops = append(r.ops, ops...)
	return whole, nil
}

func (r *run) apply(n int) error {
	r.filled = true
	if n == 0 {
		return nil
	}
	err := r.replica.Apply(r.ops[:n]...)
	r.ops = r.ops[n:]
	return err
}

// result waits for the live cycle of a mark, unless the judge is too far behind. live is nil if
// none comes in time. lost is true if the log has started over.
func (r *run) result(ctx context.Context, mark feed.Operation) (live *result.Cycle, lost bool, err error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		if live := r.match(mark); live != nil || r.marks > maxBehind {
			return live, false, nil
		}
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case <-late.C:
			return nil, false, nil
		case <-r.judge.signal:
		case <-r.follower.Arrived():
		}
		if lost, err := r.collect(ctx); lost || err != nil {
			return nil, lost, err
		}
	}
}

// match removes and returns the live cycle of the first mark; nil if it has not come. As the
// scheduler makes one decision at a time, the cycle begins between its mark and the next. Cycles
// that began earlier have lost their marks.
func (r *run) match(mark feed.Operation) *result.Cycle {
	var found *result.Cycle
	later := r.lives[:0:0]
	for _, live := range r.lives {
		switch {
		case live.StartTime.Before(mark.At):
			r.skip(live)
		case found == nil && live.Pod.UID == mark.Mark.UID && r.beforeNextMark(live):
			found = live
		default:
			later = append(later, live)
		}
	}
	r.lives = later
	return found
}

// beforeNextMark reports whether the cycle began before the second mark of ops. The first mark is
// ops[0].
func (r *run) beforeNextMark(live *result.Cycle) bool {
	for _, op := range r.ops[1:] {
		if op.Mark != nil {
			return live.StartTime.Before(op.At)
		}
	}
	return true
}

// skip counts decisions that will not be judged, except failed ones, which never are.
func (r *run) skip(lives ...*result.Cycle) {
	for _, live := range lives {
		r.judge.note(r.epoch, func(s *State) {
			s.Waiting--
			if live.Outcome != result.Error {
				s.Skipped++
			}
		})
	}
}

func (r *run) decide(ctx context.Context, mark feed.Operation, live *result.Cycle) error {
	start := time.Now()
	var decision *result.Cycle
	err := r.replica.Try(ctx, func(ctx context.Context, t *whatif.Trial) (err error) {
		t.Among(newSide(live).considered)
		decision, err = t.Decide(ctx, mark.Mark, live.Profile)
		return err
	})
	if unknown, ok := errors.AsType[*whatif.ProfileError](err); ok {
		decision = &result.Cycle{Summary: result.Summary{Message: unknown.Error()}}
	} else if err != nil {
		return fmt.Errorf("deciding about %s/%s: %w", live.Pod.Namespace, live.Pod.Name, err)
	}
	item := itemOf(live, decision)
	r.judge.note(r.epoch, func(s *State) {
		s.Waiting--
		s.add(item)
	})
	sleep(ctx, min(rest*time.Since(start), maxRest))
	return nil
}
