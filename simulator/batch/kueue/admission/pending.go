package admission

import (
	"cmp"
	"slices"
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
	// Held means that the workload is in no queue, so that it has no position.
	Held bool `json:"held,omitempty"`
	// Parked means that no cycle tries the workload until something changes.
	Parked bool `json:"parked,omitempty"`
	// Cycle is the last that tried the workload; 0 for none.
	Cycle int64 `json:"cycle,omitempty"`
	// Condition is the reason of the condition QuotaReserved that fits Reason.
	Condition string `json:"condition"`
	// Reason is the one sentence that says why the workload waits.
	Reason Reason `json:"reason"`
	// Used is what the LocalQueue has used, if that orders the ClusterQueue; UsedMore names a workload that goes first for that
	// alone.
	Used     *LocalQueueUsage `json:"used,omitempty"`
	UsedMore *UsedMore        `json:"usedMore,omitempty"`
	// RequeueAt is the end of a backoff.
	RequeueAt *time.Time `json:"requeueAt,omitempty"`
}

// Held returns the workloads that wait outside of all queues, such as those that are deactivated, or whose group waits for
// pods, by name.
func (s *State) Held() (held []Pending) {
	for _, w := range s.workloads {
		if w.place != outside || w.waits.IsZero() {
			continue
		}
		held = append(held, Pending{
			Workload: w.ref(), LocalQueue: string(w.object.Spec.QueueName), Priority: w.priority, Created: w.object.CreationTimestamp.Time,
			Held: true, Condition: conditionOf(w.waits), Reason: w.waits,
		})
	}
	slices.SortFunc(held, func(a, b Pending) int {
		return cmp.Or(cmp.Compare(a.Workload.Namespace, b.Workload.Namespace), cmp.Compare(a.Workload.Name, b.Workload.Name))
	})
	return held
}
