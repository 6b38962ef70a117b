package app

import (
	"context"
	"fmt"
	"sync"

	"kube-scheduler-simulator/simulator/elsewhere/mirror/following"
	"kube-scheduler-simulator/simulator/server"
)

// operations lets one operation at a time act on the whole cluster, such as an import or a
// reset. Its methods are safe for concurrent use.
type operations struct {
	// changed is called when the status must be published.
	changed func()

	mu      sync.Mutex
	current *operation
	closed  bool
}

// operation is a running operation.
type operation struct {
	all    *operations
	cancel context.CancelFunc
	ended  chan struct{}
	shown  server.Operation
}

// begin starts an operation, which the caller must end, or returns a *server.Busy. The
// returned context also ends when the simulator stops.
func (o *operations) begin(ctx context.Context, kind server.OperationKind, message string) (context.Context, *operation, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, nil, errStopping
	}
	if ctx.Err() != nil { // the client has gone
		return nil, nil, context.Cause(ctx)
	}
	if o.current != nil {
		return nil, nil, &server.Busy{With: o.current.shown.Kind}
	}
	ctx, cancel := context.WithCancel(ctx)
	o.current = &operation{all: o, cancel: cancel, ended: make(chan struct{}), shown: server.Operation{Kind: kind, Message: message}}
	go o.changed()
	return ctx, o.current, nil
}

var _ following.Operation = (*operation)(nil)

// Show reports progress; total is 0 when it is unknown.
func (o *operation) Show(message string, done, total int) {
	o.all.mu.Lock()
	o.shown.Message, o.shown.Done, o.shown.Total = message, done, total
	o.all.mu.Unlock()
	o.all.changed()
}

// End ends the operation.
func (o *operation) End() {
	o.cancel()
	o.all.mu.Lock()
	o.all.current = nil
	o.all.mu.Unlock()
	o.all.changed()
	close(o.ended)
}

// status returns the running operation, or nil.
func (o *operations) status() *server.Operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.current == nil {
		return nil
	}
	shown := o.current.shown
	return &shown
}

// stopping reports whether the simulator is stopping.
func (o *operations) stopping() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed
}

// cancel refuses new operations and cancels the running one, which it returns; nil if none is.
func (o *operations) cancel() *operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if o.current != nil {
		o.current.cancel()
	}
	return o.current
}

// close refuses new operations, cancels the running one and waits for it until ctx ends.
func (o *operations) close(ctx context.Context) error {
	current := o.cancel()
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
