package result

// MaxPanics bounds the panics of a cycle, and those that a scheduler remembers.
const MaxPanics = 16

// Panic is a call of a plugin, or of an extender, that panicked. The scheduler went on:
// the call counted as failed.
type Panic struct {
	Plugin string `json:"plugin"`
	// Call is the method that was called, for most extension points that of the same
	// name.
	Call string `json:"call"`
	// Value is what the first of the panics said, and Stack is its stack, with the
	// function that panicked first. Both may be cut.
	Value string `json:"value"`
	Stack string `json:"stack"`
	// Count is how many such calls panicked.
	Count int `json:"count"`
}
