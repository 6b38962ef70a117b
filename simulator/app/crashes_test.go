package app

import (
	"strings"
	"testing"
	"time"

	"kube-scheduler-simulator/simulator/host/crash"
)

func TestTheSchedulerIsPausedAfterRepeatedCrashes(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(minutes ...int) []crash.Crash {
		var out []crash.Crash
		for _, m := range minutes {
			out = append(out, crash.Crash{Time: now.Add(-time.Duration(m) * time.Minute), Message: "panic: it went wrong"})
		}
		return out
	}
	for _, tc := range []struct {
		crashes []crash.Crash
		paused  bool
	}{
		{nil, false},
		{ago(2, 1), false},
		{ago(3, 2, 1), true},
		{ago(300, 200, 3, 2, 1), true},
		{ago(61, 2, 1), false},
	} {
		why := pausedAfter(tc.crashes, now, "crash.previous.log")
		if (why != "") != tc.paused || tc.paused && !strings.Contains(why, `"panic: it went wrong"`) {
			t.Errorf("after %d crashes: %q", len(tc.crashes), why)
		}
	}
}
