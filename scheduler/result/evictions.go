package result

// Evictions is what became of the victims of preemption. The scheduler evicts them after it has
// chosen a candidate. Unless asynchronous preemption is disabled, it does so in the background, and
// the recorder publishes the attempt again with the outcome.
type Evictions struct {
	// Victims counts the pods to evict. Deleted ones were deleted through the API or were already
	// gone. Released ones still waited for a permit or for PreBind and lost only their place in the
	// scheduler's memory. Terminating ones needed no call.
	Victims     int `json:"victims"`
	Deleted     int `json:"deleted"`
	Released    int `json:"released"`
	Terminating int `json:"terminating,omitempty"`
	// Failed counts the failed calls; Failures has the first MaxEvictionFailures. After a failure
	// the scheduler makes no more calls, so the remaining victims stay, and tries the pod again.
	Failed   int               `json:"failed,omitempty"`
	Failures []EvictionFailure `json:"failures,omitempty"`
	// Done: no call is outstanding.
	Done bool `json:"done"`
	// DurationSeconds spans the calls so far; nil before the first has returned.
	DurationSeconds *float64 `json:"durationSeconds"`
}

// Evictions returns what became of the victims of the pod or of its pod group, or nil.
func (c *Cycle) Evictions() *Evictions {
	switch {
	case c.Preemption != nil && c.Preemption.Evictions != nil:
		return c.Preemption.Evictions
	case c.PodGroup != nil && c.PodGroup.Preemption != nil:
		return c.PodGroup.Preemption.Evictions
	}
	return nil
}

// EvictionFailure is a victim that could not be evicted.
type EvictionFailure struct {
	Pod   Pod    `json:"pod"`
	Error string `json:"error"`
}

// MaxEvictionFailures bounds the failures of Evictions.
const MaxEvictionFailures = 16

// NotTried returns how many victims the scheduler made no call for after a failure.
func (e *Evictions) NotTried() int {
	if !e.Done {
		return 0
	}
	return e.Victims - e.Deleted - e.Released - e.Terminating - e.Failed
}
