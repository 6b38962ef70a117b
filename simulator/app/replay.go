package app

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/past/playback"
	"kube-scheduler-simulator/simulator/past/replay"
	"kube-scheduler-simulator/simulator/server"
)

var _ server.Replay = (*playback.Session)(nil)

func (s *simulator) newReplays() *playback.Session {
	return playback.New(playback.Options{
		ClientConfig: s.clientConfig,
		Results:      s.store,
		Define: func(ctx context.Context, kind schema.GroupKind) (bool, error) {
			return s.define(ctx, []schema.GroupKind{kind})
		},
		Idle:     func(ctx context.Context, changes []replay.Written) error { return s.scheduler.Idle(ctx, changes) },
		Profiles: func() []string { return s.scheduler.State().Profiles },
		Reset:    s.resetForReplay,
		External: s.options.Kubeconfig != "",
		Spool:    func() (*datadir.Spool, error) { return datadir.NewSpool(s.prepared.dataDir, "recording") },
		Changed:  s.publish,
		Logger:   s.options.Logger,
	})
}

func (s *simulator) clientConfig() *rest.Config { return s.controlPlane.ClientConfig() }

// controllers returns what the next reset starts: controllers, and whether virtual nodes run.
func (s *simulator) controllers() (list []string, virtualNodes bool) {
	if s.replays.Exclusive() {
		return playback.Controllers(), false
	}
	return s.options.Controllers, !s.options.NoVirtualNodes
}

func (s *simulator) useControllers(ctx context.Context) error {
	list, virtualNodes := s.controllers()
	return s.embedded.UseControllers(ctx, list, virtualNodes)
}

// mayReplay refuses to play the options' recording into an existing cluster unless the user has
// confirmed that it may be emptied.
func (s *simulator) mayReplay() error {
	if s.options.Replay == nil || s.options.Replay.Replace || s.embedded.IsNew() {
		return nil
	}
	where := s.options.DataDir
	if where == "" {
		where = "the etcd"
	}
	return fmt.Errorf("%s holds a cluster, which the replay would empty: give --replace to allow that, or a new directory", where)
}

func (s *simulator) startReplay(ctx context.Context) error {
	if s.options.Replay == nil {
		return nil
	}
	if s.embedded.IsNew() {
		if err := s.dropDefaultClass(); err != nil {
			return err
		}
	} else if err := s.resetForReplay(ctx); err != nil { // the user has allowed it
		return fmt.Errorf("emptying the cluster for the recording: %w", err)
	}
	if err := s.replays.Play(ctx, s.prepared.recording, *s.options.Replay); err != nil {
		return err
	}
	s.prepared.recording = nil // the player closes it
	return nil
}

// reportReplay writes the report when the replay has ended. The channel receives the result when
// Exit is set, and otherwise only failures. The wait ends with ctx, or in stop.
func (s *simulator) reportReplay(ctx context.Context) <-chan error {
	o := s.options.Replay
	if o == nil || !o.Exit && o.Report == "" {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	played := make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() {
		err := s.replays.Finish(ctx, *o)
		if ctx.Err() == nil && (o.Exit || err != nil) {
			played <- err
		}
	})
	s.onStopOf("following the replay", 0, func(ctx context.Context) error {
		cancel()
		return within(ctx, running.Wait)
	})
	return played
}

// A replay shows what the present configuration would have decided, so the reset keeps it.
func (s *simulator) resetForReplay(ctx context.Context) error {
	ctx, o, err := s.operations.Begin(ctx, operation.Replay, "emptying the cluster for the recording")
	if err != nil {
		return err
	}
	defer o.End()
	if _, err := s.reset(ctx, cluster); err != nil {
		return err
	}
	return errors.Join(s.transfers.ForgetLast(), s.embedded.DropDefaultStorageClass(ctx))
}
