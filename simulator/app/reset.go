package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kube-scheduler-simulator/simulator/server"
)

var errStopping = errors.New("the simulator is stopping")

// resetMark is a file in the data directory while a reset is under way: a program
// that is killed then finishes it at its next start.
const resetMark = "reset-under-way"

// resetAll is reset as an operation of its own.
func (s *simulator) resetAll(ctx context.Context) (server.Reset, error) {
	if s.replays.operation() != nil {
		return server.Reset{}, &server.Busy{With: server.OperationReplay}
	}
	ctx, o, err := s.operations.begin(ctx, server.OperationReset, "everything goes back to the start")
	if err != nil {
		return server.Reset{}, err
	}
	defer o.end()
	if err := s.replays.stop(ctx); err != nil {
		return server.Reset{}, err
	}
	return s.reset(ctx, everything)
}

// resetExtent says how much a reset concerns.
type resetExtent string

const (
	// everything: objects, results and the scheduler configuration.
	everything resetExtent = "everything"
	// cluster: the scheduler configuration and its revisions stay.
	cluster resetExtent = "cluster"
)

// reset brings objects and results back to the start and, if all is to go, the
// scheduler configuration. It is called within an operation, one at a time. What it
// refuses is a *server.Forbidden, and then nothing has changed.
//
// Whoever acts on objects ends first and begins anew afterwards, knowing nothing,
// and nobody else can write in between: so nothing comes back of what has gone. The
// API server and its watches go on.
func (s *simulator) reset(ctx context.Context, extent resetExtent) (server.Reset, error) {
	start := time.Now()
	if s.embedded == nil {
		return server.Reset{}, &server.Forbidden{Message: "the cluster is not the simulator's own, so it is not reset"}
	}
	if err := s.embedded.CanReset(); err != nil {
		return server.Reset{}, &server.Forbidden{Message: err.Error()}
	}
	if err := s.embedded.UseControllers(s.replays.controllers()); err != nil {
		return server.Reset{}, fmt.Errorf("resetting: %w", err)
	}
	release, err := s.embedded.Hold(ctx)
	if err != nil {
		return server.Reset{}, fmt.Errorf("resetting: %w", err)
	}
	defer release()
	if err := s.markReset(extent); err != nil {
		return server.Reset{}, fmt.Errorf("resetting: %w", err)
	}
	// From here on it is finished, whoever goes away.
	ctx = context.WithoutCancel(ctx)
	err = errors.Join(s.stopSync(ctx), s.stopNodes(ctx))
	deleted := 0
	restart := s.scheduler.Reset
	if extent == cluster {
		restart = s.scheduler.Restart
	}
	err = errors.Join(err, restart(ctx, func(ctx context.Context) (err error) {
		deleted, err = s.empty(ctx)
		return err
	}))
	err = errors.Join(err, s.runNodes(ctx))
	if err == nil {
		err = os.Remove(s.resetMark())
	}
	err = errors.Join(err, s.startSync())
	if err != nil {
		return server.Reset{}, fmt.Errorf("resetting: %w", err)
	}
	return server.Reset{Deleted: deleted, DurationSeconds: time.Since(start).Seconds()}, nil
}

// empty is called while nothing is scheduled.
func (s *simulator) empty(ctx context.Context) (deleted int, err error) {
	done, err := s.embedded.Reset(ctx)
	if err != nil {
		return 0, err
	}
	if s.annotations != nil {
		s.annotations.Reset()
	}
	s.store.Reset()
	s.web.ClearResults()
	return done.Deleted, nil
}

func (s *simulator) resetMark() string { return filepath.Join(s.prepared.dataDir, resetMark) }

func (s *simulator) markReset(extent resetExtent) error {
	return os.WriteFile(s.resetMark(), []byte(extent), 0o600)
}

// finishReset does what is left of a reset during which the program ended. It is
// called before anything reads the data directory but the control plane.
func (s *simulator) finishReset(ctx context.Context) error {
	extent, err := os.ReadFile(s.resetMark())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = s.embedded.Reset(ctx)
	}
	if err == nil {
		err = os.RemoveAll(s.resultsDir())
	}
	if err == nil && resetExtent(extent) == everything {
		err = os.RemoveAll(s.configurationDir())
	}
	if err == nil {
		err = os.Remove(s.resetMark())
	}
	if err != nil {
		return fmt.Errorf("finishing a reset: %w", err)
	}
	return nil
}

func (s *simulator) resultsDir() string { return filepath.Join(s.prepared.dataDir, "results") }

func (s *simulator) configurationDir() string {
	return filepath.Join(s.prepared.dataDir, "scheduler-configuration")
}
