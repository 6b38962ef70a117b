package admission

import (
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

type Verb string

// The verbs.
const (
	// Reserve gives quota; without admission checks it admits as well.
	Reserve Verb = "Reserve"
	// Replace ends a workload whose quota another one of the same job has taken over.
	Replace Verb = "Replace"
	// Refuse says why there is no quota.
	Refuse Verb = "Refuse"
	// Evict asks the job to stop. Quota stays reserved until Release.
	Evict Verb = "Evict"
	// Release takes the quota of an evicted workload whose job has stopped.
	Release Verb = "Release"
	// Admit lets a workload start, whose checks have agreed.
	Admit Verb = "Admit"
	// Requeue ends what kept the workload out of its queue, such as a backoff.
	Requeue Verb = "Requeue"
	// Target marks a workload that is to be deactivated, Deactivate clears spec.active.
	Target     Verb = "Target"
	Deactivate Verb = "Deactivate"
	// Assign adds a topology assignment that was delayed, or replaces a failed node's.
	Assign Verb = "Assign"
	// SyncChecks lists the admission checks that apply.
	SyncChecks Verb = "SyncChecks"
)

// Decision is a change of one workload that the caller has to write. Apply makes it.
type Decision struct {
	Workload Ref
	Verb     Verb
	// Reason and Message are those of the condition that Verb writes.
	Reason, Message string
	// Admission is the quota given by Reserve and Assign.
	Admission *kueue.Admission
	// Preempted is the reason of the condition Preempted; "" for other evictions.
	Preempted string
	// Cause is the underlying cause of an eviction, counted in the statistics.
	Cause string
	// Checks are the names of the admission checks that apply, for Reserve and SyncChecks.
	Checks []string
	// RequeueAt is when the workload may be tried again; the zero time for at once.
	RequeueAt time.Time
	// Backoffs is the number of evictions because of pods that were not ready; 0 leaves it.
	Backoffs int32
	// Requests are what the pod sets asked for, for Refuse.
	Requests []kueue.PodSetRequest
	// Spec means that the change is to the workload's spec, not to its status.
	Spec bool
	// Events are to be recorded once the change is written.
	Events []Event
}

type Event struct {
	// Workload is the one that the event is about, usually the decision's own.
	Workload        Ref
	Warning         bool
	Reason, Message string
}
