package sessions

import (
	"bytes"
	"sync"
)

// latest is what a scheduler remembers of its latest turn. Methods are safe for concurrent use.
type latest struct {
	mu sync.Mutex
	// seen is the state that the turn saw, and quiet counts the periods since then.
	seen  string
	quiet int
	// said is what the latest kept record says.
	said []byte
}

// changed reports whether the state is another one than the turn saw, or the turn was long ago. If so, another turn begins.
func (l *latest) changed(state string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quiet++
	if state == l.seen && l.quiet < quietPeriods {
		return false
	}
	l.seen, l.quiet = state, 0
	return true
}

// repeats reports whether a record says the same as the one before.
func (l *latest) repeats(said []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := bytes.Equal(said, l.said)
	l.said = said
	return same
}

// lookAgain makes the state count as changed.
func (l *latest) lookAgain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = ""
}

// forget is called when the cluster was reset.
func (l *latest) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen, l.said = "", nil
}
