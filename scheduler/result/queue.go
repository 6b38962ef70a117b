package result

import "time"

// Queue holds what the scheduling queue knew about the pod when the cycle started.
type Queue struct {
	// AddedTime is when the pod last entered the queue: it was created, or its
	// previous attempt failed.
	AddedTime time.Time `json:"addedTime"`
	// InitialAttemptTime is when the pod could first be tried.
	InitialAttemptTime *time.Time `json:"initialAttemptTime,omitempty"`
	// Attempts is the scheduler's own count, this attempt included. A restart of the
	// scheduler resets it, unlike Summary.Attempt.
	Attempts int `json:"attempts"`
	// RejectedBy are the plugins that rejected the previous attempt, by name.
	RejectedBy []string `json:"rejectedBy,omitempty"`
	// BackoffUntil is when the pod's latest backoff ended, if it had one.
	BackoffUntil *time.Time `json:"backoffUntil,omitempty"`
	// RequeuedBy is the event that moved the pod back into the queue. It is nil for a
	// first attempt, and when an error, the queue's own timer or the activation by
	// another pod moved it.
	RequeuedBy *Requeue `json:"requeuedBy,omitempty"`
	// Flushed: the queue retried the pod because it had waited too long, not because of
	// an event.
	Flushed bool `json:"flushed,omitempty"`
}

// Requeue is an event together with the queueing hint that answered it.
type Requeue struct {
	Time time.Time `json:"time"`
	// Event in the queue's own words, such as AssignedPodDelete or NodeAdd.
	Event string `json:"event"`
	// Object that the event is about.
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Plugin whose queueing hint said Queue.
	Plugin string `json:"plugin"`
}

// Hint is opportunistic batching: the scheduler first tries the node that came
// next in the order of the previous pod of the same signature.
type Hint struct {
	Node string `json:"node"`
	// Used: the pod went there, and the other nodes were not evaluated.
	Used bool `json:"used"`
}
