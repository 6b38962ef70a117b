package sessions

import (
	"bytes"
	"sync"
)

// latest is what a scheduler remembers of its latest turn. Methods are safe for concurrent use.
type latest struct {
	mu sync.Mutex
	// seen is the state that the turn saw; quiet counts the periods since.
	seen  string
	quiet int
	said  []byte
}

// changed reports whether another turn begins: the state differs from the one that the turn saw, or
// the turn was long ago.
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

func (l *latest) repeats(said []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := bytes.Equal(said, l.said)
	l.said = said
	return same
}

func (l *latest) lookAgain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = ""
}

// A reset of the cluster calls forget.
func (l *latest) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen, l.said = "", nil
}
