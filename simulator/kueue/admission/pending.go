package admission

import (
	"time"
)

// Pending is one workload that waits for quota.
type Pending struct {
	Workload   Ref       `json:"workload"`
	LocalQueue string    `json:"localQueue"`
	Priority   int32     `json:"priority"`
	Created    time.Time `json:"created"`
	// PositionInClusterQueue and PositionInLocalQueue count from 0 in the queue's order, over
	// active and parked workloads alike. A position is not a turn.
	PositionInClusterQueue int32 `json:"positionInClusterQueue"`
	PositionInLocalQueue   int32 `json:"positionInLocalQueue"`
	// Parked means that no cycle tries the workload until something changes.
	Parked bool `json:"parked,omitempty"`
	// Cycle is the last that tried the workload; 0 for none.
	Cycle int64 `json:"cycle,omitempty"`
	// Condition is the reason of the condition QuotaReserved that fits Reason.
	Condition string `json:"condition"`
	// Reason is the one sentence that says why the workload waits.
	Reason Reason `json:"reason"`
	// RequeueAt is the end of a backoff.
	RequeueAt *time.Time `json:"requeueAt,omitempty"`
}
