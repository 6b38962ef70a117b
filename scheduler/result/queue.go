package result

import "time"

// Queue holds what the scheduling queue knew about the pod when the cycle started.
type Queue struct {
	// AddedTime is when the pod last entered the queue: at its creation, or after a failed attempt.
	AddedTime time.Time `json:"addedTime"`
	// InitialAttemptTime is when the scheduler could first try the pod.
	InitialAttemptTime *time.Time `json:"initialAttemptTime,omitempty"`
	// Attempts is the scheduler's own count, this attempt included. A restart of the
	// scheduler resets it, unlike Summary.Attempt.
	Attempts int `json:"attempts"`
	// RejectedBy are the plugins that rejected the previous attempt, by name.
	RejectedBy []string `json:"rejectedBy,omitempty"`
	// BackoffUntil is when the pod's latest backoff ended, if it had one.
	BackoffUntil *time.Time `json:"backoffUntil,omitempty"`
	// RequeuedBy is the event that moved the pod back into the queue. It is nil for a first
	// attempt, and when an error, the queue's own timer or another pod's activation moved the pod.
	RequeuedBy *Requeue `json:"requeuedBy,omitempty"`
	// Flushed: the queue retried the pod because it had waited too long, not because of an event.
	Flushed bool `json:"flushed,omitempty"`
}

// QueueWait is where a pod that was tried waits for its next attempt.
type QueueWait struct {
	// Queue is backoff (the pod waits for the end of its backoff) or unschedulable (for an event
	// that may help).
	Queue QueueName `json:"queue"`
	// Until is when the queue tries the pod again in any case; nil for a member of a pod group. The
	// queue looks for pods that have been unschedulable for too long only every 30 seconds, so
	// their attempt may start that much later.
	Until *time.Time `json:"until,omitempty"`
}

// Requeue is an event with the queueing hint that answered it.
type Requeue struct {
	Time time.Time `json:"time"`
	// Event is the queue's name for the event, such as AssignedPodDelete or
	// NodeAdd.
	Event string `json:"event"`
	// Kind, Namespace and Name identify the object that the event is about.
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Plugin is the plugin whose queueing hint returned Queue.
	Plugin string `json:"plugin"`
}

// Nomination is status.nominatedNodeName at the start of the cycle. The scheduler tries
// that node first, alone.
type Nomination struct {
	Node string `json:"node"`
	// Used: the scheduler placed the pod there without evaluating other nodes.
	Used bool `json:"used"`
}

// Hint is the result of opportunistic batching: the scheduler first tries the next
// best node of the previous pod with the same signature.
type Hint struct {
	Node string `json:"node"`
	// Used is as in Nomination.
	Used bool `json:"used"`
}
