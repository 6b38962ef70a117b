// Package operation lets one operation at a time act on the whole cluster, such as an import or a
// reset, and says what it does.
//
// It may import the standard library only.
package operation

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Kind names an operation.
type Kind string

const (
	Import Kind = "import"
	Reset  Kind = "reset"
	Replay Kind = "replay"
	Sync   Kind = "sync"
	Play   Kind = "play"
)

// Status is an operation on the whole cluster. Its JSON form is public.
type Status struct {
	Kind Kind `json:"kind"`
	// Message names the current step.
	Message string `json:"message"`
	// Done and Total count steps or objects; both are 0 if there is no count.
	Done  int `json:"done"`
	Total int `json:"total"`
}

// Busy refuses an operation because another is in progress.
type Busy struct {
	With Kind
}

func (e *Busy) Error() string {
	what := map[Kind]string{Import: "an import", Reset: "a reset", Replay: "a replay", Sync: "the connection to another cluster", Play: "a scenario"}[e.With]
	return what + " is in progress; try again when it has ended"
}

// ErrStopping refuses operations because the simulator is stopping.
var ErrStopping = errors.New("the simulator is stopping")

// Turns lets one operation run at a time. Its methods are safe for concurrent use.
type Turns struct {
	// Changed publishes the status. It is required.
	Changed func()

	mu      sync.Mutex
	current *Operation
	closed  bool
}

// Operation is a running operation.
type Operation struct {
	turns  *Turns
	cancel context.CancelFunc
	ended  chan struct{}
	shown  Status
}

// Begin starts an operation, which the caller must end, or returns a *Busy or ErrStopping. The
// returned context also ends when the simulator stops.
func (t *Turns) Begin(ctx context.Context, kind Kind, message string) (context.Context, *Operation, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, nil, ErrStopping
	}
	if ctx.Err() != nil { // the client has gone
		return nil, nil, context.Cause(ctx)
	}
	if t.current != nil {
		return nil, nil, &Busy{With: t.current.shown.Kind}
	}
	ctx, cancel := context.WithCancel(ctx)
	t.current = &Operation{turns: t, cancel: cancel, ended: make(chan struct{}), shown: Status{Kind: kind, Message: message}}
	go t.Changed()
	return ctx, t.current, nil
}

// Show reports progress; total is 0 when it is unknown.
func (o *Operation) Show(message string, done, total int) {
	o.turns.mu.Lock()
	o.shown.Message, o.shown.Done, o.shown.Total = message, done, total
	o.turns.mu.Unlock()
	o.turns.Changed()
}

// End ends the operation.
func (o *Operation) End() {
	o.cancel()
	o.turns.mu.Lock()
	o.turns.current = nil
	o.turns.mu.Unlock()
	o.turns.Changed()
	close(o.ended)
}

// Status returns the running operation, or nil.
func (t *Turns) Status() *Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == nil {
		return nil
	}
	shown := t.current.shown
	return &shown
}

// Stopping reports whether the simulator is stopping.
func (t *Turns) Stopping() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// Cancel refuses new operations and cancels the running one, which it returns; nil if none is.
func (t *Turns) Cancel() *Operation {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.current != nil {
		t.current.cancel()
	}
	return t.current
}

// Close refuses new operations, cancels the running one and waits for it until ctx ends.
func (t *Turns) Close(ctx context.Context) error {
	current := t.Cancel()
	if current == nil {
		return nil
	}
	select {
	case <-current.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("an operation, %s, did not end in time: %w", current.shown.Kind, context.Cause(ctx))
	}
}
