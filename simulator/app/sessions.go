package app

import (
	"context"
	"errors"
	"path/filepath"

	"kube-scheduler-simulator/simulator/batch/sessions"
	"kube-scheduler-simulator/simulator/cluster/definitions"
)

// The session schedulers and the flow scheduler are off unless an option or a user has turned them
// on. They follow the running scheduler.
func (s *simulator) startSessions(ctx context.Context) error {
	service, err := sessions.New(sessions.Options{
		ClientConfig: s.controlPlane.ClientConfig(), Source: s.feed, Sink: s.store, Install: s.installSessionKinds,
		Dir: s.sessionsDir(), Logger: s.options.Logger,
	})
	if err != nil {
		return err
	}
	if s.options.SessionScheduler {
		if err := service.Enable(true); err != nil {
			return err
		}
	}
	s.sessions = service
	service.Start(ctx)
	s.onStopOf("the session schedulers", 0, func(ctx context.Context) error { return ends(ctx, service.Stop) })
	return nil
}

func (s *simulator) sessionsDir() string { return filepath.Join(s.prepared.dataDir, "sessions") }

var errResetting = errors.New("the cluster is being reset")

func (s *simulator) installSessionKinds(ctx context.Context) error {
	if s.held.Load() {
		return errResetting
	}
	return s.definitions.Keep(ctx, definitions.Of([]string{definitions.SessionSchedulers}))
}
