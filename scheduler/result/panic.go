package result

// MaxPanics bounds the panics of a cycle, and those that a scheduler remembers.
const MaxPanics = 16

// Panic is a call of a plugin, or of an extender, that panicked. The scheduler treated it as failed
// and went on.
type Panic struct {
	Plugin string `json:"plugin"`
	// Call is the method, for most extension points that of the same name.
	Call string `json:"call"`
	// Value and Stack are those of the first panic; the function that panicked comes first. Both
	// may be cut.
	Value string `json:"value"`
	Stack string `json:"stack"`
	// Count is how many such calls panicked.
	Count int `json:"count"`
}
