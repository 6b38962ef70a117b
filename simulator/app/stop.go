package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// stopTimeout bounds an orderly stop, so that the program ends within 5 s of a signal.
const stopTimeout = 4500 * time.Millisecond

// What the steps of a stop keep for themselves: earlier steps, which clients or plugins may delay, must
// leave them that much time.
const (
	keptForResults = 500 * time.Millisecond
	// keptForControlPlane is for connections that must be cut, and for etcd.
	keptForControlPlane = 1500 * time.Millisecond
	keptForTimeline     = 200 * time.Millisecond
	keptForWeb          = 200 * time.Millisecond
	keptForFiles        = 200 * time.Millisecond
	// quiesceTimeout is how long requests may delay the stop.
	quiesceTimeout = time.Second
	// lastWords is how long a step whose time is over may take to say why.
	lastWords = 50 * time.Millisecond
)

// within returns a step that takes at most a share of the time of the whole stop. It is for a step that
// plugins or another cluster may delay although it keeps no time from others.
func (s *simulator) within(share float64, f func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(share*float64(s.stopTimeout())))
		defer cancel()
		return f(ctx)
	}
}

// schedulerShare is two seconds of an ordinary stop: one for unfinished cycles, and one for the rest.
const schedulerShare = 0.45

// step is a step of a stop.
type step struct {
	// what is named in the log if the step takes too long; empty for steps that say so themselves.
	what string
	// kept is the time that is kept for the step.
	kept time.Duration
	do   func(context.Context) error
}

// onStop adds a step to stop, which runs the steps in reverse order. f gets a context that ends when
// f must have returned.
func (s *simulator) onStop(f func(context.Context) error) { s.undo = append(s.undo, step{do: f}) }

// onStopOf is onStop for a step for which time is kept.
func (s *simulator) onStopOf(what string, kept time.Duration, f func(context.Context) error) {
	s.undo = append(s.undo, step{what, kept, f})
}

// stopTimeout is the time that a stop may take.
func (s *simulator) stopTimeout() time.Duration { return cmp.Or(s.options.stopTimeout, stopTimeout) }

// stop runs all steps by the deadline. It logs a step that has not ended in time, and goes on with the
// next: neither a slow client nor a plugin that hangs keeps the results from being written and etcd
// from being closed. It returns all other errors.
func (s *simulator) stop(deadline time.Time) error {
	var kept time.Duration
	for _, step := range s.undo {
		kept += step.kept
	}
	var errs []error
	inTime := true
	for i := len(s.undo) - 1; i >= 0; i-- {
		step := s.undo[i]
		kept -= step.kept
		err := step.run(deadline.Add(-kept))
		if errors.Is(err, context.DeadlineExceeded) {
			s.options.Logger.Error(err, "Stopping")
			inTime = false
			continue
		}
		errs = append(errs, err)
	}
	err := errors.Join(errs...)
	if err == nil && inTime {
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		defer cancel()
		s.closeInventory(ctx)
	}
	return err
}

// run returns when the step has ended, or soon after the deadline.
func (s step) run(deadline time.Time) error {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.do(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(lastWords):
		return fmt.Errorf("%s did not stop in time: %w", cmp.Or(s.what, "a part of the simulator"), context.Cause(ctx))
	}
}

// startStopped ends a start that was interrupted. started receives the result of start.
func (s *simulator) startStopped(started <-chan error) error {
	deadline := time.Now().Add(s.stopTimeout())
	select {
	case <-started: // with an error that says that it was interrupted, or in time before that
		return s.stop(deadline)
	case <-time.After(time.Until(deadline) - keptForFiles):
		// No client has been answered yet, so the process may end as it is.
		s.options.Logger.Error(context.DeadlineExceeded, "Stopping: the start did not end in time")
		if err := s.prepared.close(); err != nil {
			s.options.Logger.Error(err, "Stopping")
		}
		return nil
	}
}
