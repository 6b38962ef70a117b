package supervisor

import (
	"context"
	"errors"
	"fmt"

	"kube-scheduler-simulator/scheduler/config"
)

// Reset ends the scheduler, calls between while nothing is scheduled and no cycle
// is under way, and begins anew, knowing nothing, under the configuration of a
// first start: Options.Initial or, without one, Kubernetes' default. That is a new
// revision; those before are forgotten, but their numbers are not used again.
//
// It begins anew also when between fails, whose error is returned. Applies wait
// meanwhile. ctx bounds the wait for one's turn and is passed to between; what has
// begun is finished.
func (s *Scheduler) Reset(ctx context.Context, between func(context.Context) error) error {
	return s.restart(ctx, between, s.beginAnew)
}

// Restart is Reset, but for the configuration and its revisions, which stay.
func (s *Scheduler) Restart(ctx context.Context, between func(context.Context) error) error {
	return s.restart(ctx, between, s.goOn)
}

func (s *Scheduler) restart(ctx context.Context, between, begin func(context.Context) error) error {
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
	if failed := begin(ctx); failed != nil {
		s.set(nil, nil)
		err = errors.Join(err, fmt.Errorf("starting the scheduler again: %w", failed))
	}
	return err
}

// goOn is called with the turn held, when no scheduler runs.
func (s *Scheduler) goOn(ctx context.Context) error {
	c := s.Configuration()
	latest, has := s.revisions.running()
	if c == nil || !has {
		return s.beginAnew(ctx)
	}
	return s.resume(ctx, c, latest)
}

// beginAnew is called with the turn held, when no scheduler runs.
func (s *Scheduler) beginAnew(ctx context.Context) error {
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
		s.options.Logger.Error(err, "forgetting the revisions of the scheduler configuration")
	}
	next.Run()
	s.set(next, c)
	return nil
}

// first is the configuration of a first start.
func (s *Scheduler) first() (*config.Configuration, config.Origin, error) {
	if s.options.Initial != nil {
		return s.options.Initial, config.OriginFile, nil
	}
	c, err := config.Default()
	return c, config.OriginDefault, err
}
