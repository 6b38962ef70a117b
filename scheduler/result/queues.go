package result

// Queues is the state of the scheduling queue.
type Queues struct {
	// Queues are its parts, in the order of QueueNames.
	Queues []QueueState `json:"queues"`
}

// QueueName names a part of the scheduling queue, as the scheduler's metrics do.
type QueueName string

// QueueNames are the parts of the scheduling queue. The last two hold members of pod groups:
// incomplete those whose PodGroup does not exist yet, pending those that arrived while their group
// was being scheduled.
var QueueNames = []QueueName{"active", "backoff", "unschedulable", "gated", "incomplete", "pending"}

// QueueState is the state of one part of the scheduling queue.
type QueueState struct {
	Queue QueueName `json:"queue"`
	// Pods is the number of pods in it.
	Pods int `json:"pods"`
	// Events moved pods into it since the program started, most frequent first, then by name. Never
	// nil.
	Events []QueueEvent `json:"events"`
}

// QueueEvent says how many pods an event moved into a queue.
type QueueEvent struct {
	Event string `json:"event"`
	Count int    `json:"count"`
}
