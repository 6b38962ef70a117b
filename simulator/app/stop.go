package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// stopTimeout bounds an orderly stop, so that the program ends within 5 s of a signal.
const stopTimeout = 4500 * time.Millisecond

// Some steps of a stop keep time for themselves, which earlier steps must leave them even if
// clients or plugins delay those.
const (
	keptForResults = 500 * time.Millisecond
	// keptForControlPlane is for connections that must be cut, and for etcd.
	keptForControlPlane = 1500 * time.Millisecond
	keptForTimeline     = 200 * time.Millisecond
	keptForWeb          = 200 * time.Millisecond
	keptForFiles        = 200 * time.Millisecond
	// keptForScheduler is for unfinished cycles; the scheduler may take more if there is time.
	keptForScheduler = 500 * time.Millisecond
	// quiesceTimeout is how long requests may delay the stop.
	quiesceTimeout = time.Second
	// lastWords is how long a step whose time is over may take to say why.
	lastWords = 50 * time.Millisecond
)

// within limits a step to a share of the time of the whole stop. Use it for a step that keeps no
// time from others but that plugins or another cluster may delay.
func (s *simulator) within(share float64, f func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(share*float64(s.stopTimeout())))
		defer cancel()
		return f(ctx)
	}
}

// schedulerShare is two seconds of an ordinary stop: one for unfinished cycles, and one for the
// rest.
const schedulerShare = 0.45

type step struct {
	// what names the step in the error when it takes too long.
	what string
	kept time.Duration
	do   func(context.Context) error
}

// onStopOf adds a step to stop, which runs them in reverse order. kept is the time that other steps
// must leave it. f's context ends when f must have returned.
func (s *simulator) onStopOf(what string, kept time.Duration, f func(context.Context) error) {
	s.undo = append(s.undo, step{what, kept, f})
}

// within returns when do, which takes no context, has ended, or ctx.
func within(ctx context.Context, do func()) error {
	return ends(ctx, func() error {
		do()
		return nil
	})
}

func ends(ctx context.Context, do func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- do() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// NotOrderlyError means that the program ends without some parts that did not stop in time.
type NotOrderlyError struct {
	Parts []string
}

func (e *NotOrderlyError) Error() string {
	return "the stop was not orderly: " + strings.ReplaceAll(strings.Join(e.Parts, "; "), "\n", " ")
}

func (s *simulator) stopTimeout() time.Duration { return cmp.Or(s.options.stopTimeout, stopTimeout) }

// stop runs all steps by the deadline. It goes on with the next if one has not ended in time, so
// that neither a slow client nor a hanging plugin prevents it from writing the results and closing
// etcd. A step that keeps no time gets half of what is left. The error is a *NotOrderlyError if all
// else went well.
func (s *simulator) stop(deadline time.Time) error {
	var kept time.Duration
	for _, step := range s.undo {
		kept += step.kept
	}
	var errs []error
	late := &NotOrderlyError{}
	for i := len(s.undo) - 1; i >= 0; i-- {
		step := s.undo[i]
		kept -= step.kept
		by := deadline.Add(-kept)
		if step.kept == 0 {
			by = by.Add(-time.Until(by) / 2)
		}
		err := step.run(by)
		if errors.Is(err, context.DeadlineExceeded) {
			late.Parts = append(late.Parts, err.Error())
			continue
		}
		errs = append(errs, err)
	}
	err := errors.Join(errs...)
	if err == nil && len(late.Parts) > 0 {
		return late
	}
	if err == nil {
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
		return s.named(err)
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return s.named(err)
	case <-time.After(lastWords):
		return fmt.Errorf("%s did not stop in time: %w", s.what, context.Cause(ctx))
	}
}

// named adds the name of the step to a bare deadline error.
func (s step) named(err error) error {
	if err == context.DeadlineExceeded { //nolint:errorlint // others say what they are about
		return fmt.Errorf("%s did not stop in time: %w", s.what, err)
	}
	return err
}

// startStopped ends a start that was interrupted. started receives the result of start.
func (s *simulator) startStopped(started <-chan error) error {
	deadline := time.Now().Add(s.stopTimeout())
	select {
	case <-started: // with an error that says that it was interrupted, or in time before that
		return s.stop(deadline)
	case <-time.After(time.Until(deadline) - keptForFiles):
		// No client has been answered yet, so the process may end as it is.
		late := &NotOrderlyError{[]string{"the start did not end in time"}}
		return errors.Join(late, s.prepared.close())
	}
}
