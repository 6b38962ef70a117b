package shadow

import (
	"time"

	"kube-scheduler-simulator/scheduler/config"
)

// State is the shadow and its judgement so far.
type State struct {
	// Configuration is nil if there is no shadow; everything else is then zero.
	Configuration *config.Configuration
	// Since is when the shadow began to judge.
	Since time.Time
	Judgement
	// Skipped counts the decisions since then that were not judged, because the shadow could not keep
	// up with the scheduler.
	Skipped int
}
