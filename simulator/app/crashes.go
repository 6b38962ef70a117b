package app

import (
	"context"
	"fmt"
	"time"

	"kube-scheduler-simulator/simulator/host/crash"
)

// The scheduler starts paused after that many crashes within that time.
const (
	crashesToPause = 3
	crashWindow    = time.Hour
)

// watchCrashes records a crash in a data directory that is kept, because it could happen again at
// each start. It returns why the scheduler must start paused, or "". Our own control plane must
// run: it holds the lock of the directory.
func (s *simulator) watchCrashes() (paused string, err error) {
	dir := s.prepared.keptDir()
	if dir == "" {
		return "", nil
	}
	log, err := crash.Open(dir)
	if err != nil {
		return "", err
	}
	s.onStopOf("the list of crashes", 0, func(ctx context.Context) error { return ends(ctx, log.Close) })
	paused = pausedAfter(log.Crashes(), time.Now(), log.Details())
	if paused != "" {
		s.options.Logger.Error(nil, "The scheduler is paused", "why", paused)
	}
	return paused, nil
}

func pausedAfter(crashes []crash.Crash, now time.Time, details string) string {
	if len(crashes) < crashesToPause {
		return ""
	}
	recent := crashes[len(crashes)-crashesToPause:]
	if now.Sub(recent[0].Time) > crashWindow {
		return ""
	}
	last := recent[len(recent)-1]
	return fmt.Sprintf("The scheduler is paused because the program crashed %d times within an hour, the last time with %q. "+
		"Apply a configuration without the cause to start the scheduler. %s has the whole crash.", crashesToPause, last.Message, details)
}
