package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/server"
)

// resetMark is a file in the data directory during a reset. If the program ends during the reset,
// the next start finishes it. A failed reset leaves no mark: a later start would delete newer
// objects.
const resetMark = "reset-under-way"

func (s *simulator) resetAll(ctx context.Context) (server.Reset, error) {
	if s.replays.Operation() != nil {
		return server.Reset{}, &operation.Busy{With: operation.Replay}
	}
	ctx, o, err := s.operations.Begin(ctx, operation.Reset, "restoring the initial state")
	if err != nil {
		return server.Reset{}, err
	}
	defer o.End()
	if err := s.replays.Stop(ctx); err != nil {
		return server.Reset{}, err
	}
	done, err := s.reset(ctx, everything)
	if err == nil {
		s.unmarkImport()
		err = s.transfers.ForgetLast()
	}
	return done, err
}

type resetExtent string

const (
	// everything covers objects, results, the scheduler configuration and the shadow.
	everything resetExtent = "everything"
	// cluster keeps the scheduler configuration, its revisions and the shadow.
	cluster resetExtent = "cluster"
)

// reset restores the initial objects and removes all results. With everything it also restores the
// initial scheduler configuration. The caller holds an operation, so resets never overlap. A
// refusal is a *server.Forbidden, and then nothing has changed.
//
// Components that act on objects stop before the reset and start afterwards without any state, and
// no client can write in between, so nothing recreates a deleted object. The API server and its
// watches keep running.
func (s *simulator) reset(ctx context.Context, extent resetExtent) (server.Reset, error) {
	start := time.Now()
	if s.embedded == nil {
		return server.Reset{}, &server.Forbidden{Message: "the simulator does not own this cluster, so it cannot reset it"}
	}
	if err := s.embedded.CanReset(ctx); errors.Is(err, controlplane.ErrNoStartState) {
		return server.Reset{}, &server.Forbidden{Message: err.Error()}
	} else if err != nil {
		return server.Reset{}, fmt.Errorf("resetting: %w", err)
	}
	if err := s.useControllers(ctx); err != nil {
		return server.Reset{}, fmt.Errorf("resetting: %w", err)
	}
	release, err := s.embedded.Hold(ctx)
	if err != nil {
		return server.Reset{}, fmt.Errorf("resetting: %w", err)
	}
	s.held.Store(true)
	open := func() {
		s.held.Store(false)
		release()
	}
	defer open()
	if err := s.markReset(extent); err != nil {
		return server.Reset{}, fmt.Errorf("resetting: %w", err)
	}
	// From here on the reset completes even if the client disconnects.
	ctx = context.WithoutCancel(ctx)
	err = errors.Join(s.following.StopSync(ctx), s.stopKarpenter(ctx), s.stopQueues(ctx), s.stopOperators(ctx), s.stopNodes(ctx))
	deleted := 0
	restart := s.scheduler.Reset
	if extent == cluster {
		restart = s.scheduler.Restart
	} else {
		err = errors.Join(err, s.inactive.replaceExtenders(nil), s.hypotheses.Clear(), s.sessions.Defaults(s.options.SessionScheduler), s.queueing.unconfigure(), s.autoscaler.unconfigure())
	}
	err = errors.Join(err, restart(ctx, func(ctx context.Context) (err error) {
		deleted, err = s.empty(ctx)
		return err
	}))
	err = errors.Join(err, s.runNodes(ctx), s.runOperators(ctx), s.runQueues(ctx))
	err = errors.Join(err, s.unmarkReset(err != nil), s.following.StartSync())
	open()
	if c := s.scheduler.Configuration(); c != nil {
		err = errors.Join(err, s.installNeeded(ctx, c))
	}
	err = errors.Join(err, s.installKueue(ctx), s.runKarpenter(ctx))
	if err != nil {
		return server.Reset{}, fmt.Errorf("resetting: %w", err)
	}
	return server.Reset{Deleted: deleted, DurationSeconds: time.Since(start).Seconds()}, nil
}

// empty is called while the scheduler is stopped.
func (s *simulator) empty(ctx context.Context) (deleted int, err error) {
	done, err := s.embedded.Reset(ctx)
	if err != nil {
		return 0, err
	}
	if s.annotations != nil {
		s.annotations.Reset()
	}
	s.store.Reset()
	if err := s.queueing.ledger.Reset(); err != nil {
		return done.Deleted, fmt.Errorf("removing the admissions: %w", err)
	}
	s.hypotheses.judge.Forget()
	if err := s.sessions.Reset(); err != nil {
		return 0, err
	}
	s.web.ClearResults()
	s.inactive.recount(ctx)
	return done.Deleted, s.queues.Restart()
}

func (s *simulator) resetMark() string { return filepath.Join(s.prepared.dataDir, resetMark) }

func (s *simulator) markReset(extent resetExtent) error {
	return datadir.WriteFile(s.resetMark(), []byte(extent))
}

// unmarkReset keeps the mark when the stop of the simulator made the reset fail: the next start
// finishes that one.
func (s *simulator) unmarkReset(failed bool) error {
	if failed && s.operations.Stopping() {
		return nil
	}
	if err := datadir.Remove(s.resetMark()); err != nil {
		return &datadir.Damage{Path: s.resetMark(), Err: err, Do: "remove it, or the next start resets the cluster again"}
	}
	return nil
}

// readResetMark returns the extent of an interrupted reset, "" if there is none. An empty mark
// comes from a version that left one when it could not begin a reset.
func (s *simulator) readResetMark() (extent resetExtent, exists bool, err error) {
	mark, err := os.ReadFile(s.resetMark())
	switch extent := resetExtent(mark); {
	case errors.Is(err, os.ErrNotExist):
		return "", false, nil
	case err != nil:
	case extent == everything, extent == cluster, extent == "":
		return extent, true, nil
	default:
		err = errors.New("does not say what to reset")
	}
	return "", true, &datadir.Damage{Path: s.resetMark(), Err: err, Do: "remove it to keep the cluster as it is"}
}

// finishReset completes a reset that the end of the program interrupted. So far only the control
// plane has read the data directory.
func (s *simulator) finishReset(ctx context.Context) error {
	extent, exists, err := s.readResetMark()
	if err != nil || !exists {
		return err
	}
	if extent == "" {
		s.options.Logger.Info("A reset could not begin in an earlier run; the cluster is as it was", "removed", s.resetMark())
		return datadir.Remove(s.resetMark())
	}
	s.options.Logger.Info("Finishing a reset during which the program ended", "extent", extent)
	_, err = s.embedded.Reset(ctx)
	if err == nil {
		err = errors.Join(os.RemoveAll(s.resultsDir()), os.RemoveAll(s.admissionsDir()), os.RemoveAll(s.sessionsDir()))
	}
	if err == nil && extent == everything {
		err = errors.Join(os.RemoveAll(s.configurationDir()), s.inactive.replaceExtenders(nil), datadir.Remove(s.shadowFile()), datadir.Remove(s.kueueFile()), datadir.Remove(s.karpenterFile()))
	}
	if err == nil {
		err = datadir.Remove(s.resetMark())
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
