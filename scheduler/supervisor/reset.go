package supervisor

import (
	"context"
	"errors"
	"fmt"

	"kube-scheduler-simulator/scheduler/config"
)

// Reset stops the scheduler, calls between while no cycle is running, and starts an empty scheduler
// with the configuration of a first start: Options.Initial or, without one, Kubernetes' default.
// That is a new revision. Reset drops the earlier revisions, but does not reuse their numbers.
//
// If between fails, the scheduler starts nevertheless, and Reset returns the error. Other changes
// of the configuration wait for Reset. ctx bounds only the wait for the turn; between gets its
// values. Once Reset has its turn, it runs to the end.
func (s *Scheduler) Reset(ctx context.Context, between func(context.Context) error) error {
	return s.restart(ctx, between, s.startOver)
}

// Restart is like Reset, but keeps the configuration and its revisions. A paused
// scheduler stays paused.
func (s *Scheduler) Restart(ctx context.Context, between func(context.Context) error) error {
	return s.restart(ctx, between, s.startAgain)
}

func (s *Scheduler) restart(ctx context.Context, between, start func(context.Context) error) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.release()
	s.mu.Lock()
	before, stopped := s.current, s.stopped
	s.swapping = !stopped
	s.mu.Unlock()
	if stopped {
		return config.ErrNotRunning
	}
	s.options.Changed()
	ctx = context.WithoutCancel(ctx)
	if before != nil {
		s.end(ctx, before)
	}
	err := between(ctx)
	if failed := start(ctx); failed != nil {
		s.set(nil, nil)
		err = errors.Join(err, fmt.Errorf("starting the scheduler again: %w", failed))
	}
	return err
}

// startAgain is called with the turn held, when no scheduler runs.
func (s *Scheduler) startAgain(ctx context.Context) error {
	if s.State().Paused != "" {
		s.set(nil, s.Configuration())
		return nil
	}
	c := s.Configuration()
	latest, has := s.revisions.running()
	if c == nil || !has {
		return s.startOver(ctx)
	}
	return s.resume(ctx, c, latest)
}

// startOver is called with the turn held, when no scheduler runs.
func (s *Scheduler) startOver(ctx context.Context) error {
	c, origin, err := s.first()
	if err != nil {
		return err
	}
	r := s.newRevision(c, origin, nil)
	next, err := s.prepare(ctx, c, r.Number)
	if err != nil {
		return err
	}
	s.keep(r)
	if err := s.revisions.restart(r.Number); err != nil {
		s.options.Logger.Error(err, "Cannot drop the earlier revisions of the scheduler configuration")
	}
	s.run(ctx, next, c)
	return nil
}

func (s *Scheduler) first() (*config.Configuration, config.Origin, error) {
	if s.options.Initial != nil {
		return s.options.Initial, config.OriginFile, nil
	}
	c, err := config.Default()
	return c, config.OriginDefault, err
}
