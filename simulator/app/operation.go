package app

import (
	"context"
	"sync"

	"kube-scheduler-simulator/simulator/server"
)

// operations lets one thing at a time be done to the whole cluster, such as an
// import or a reset. Its methods are safe for concurrent use.
type operations struct {
	// changed is called when the status is to be published.
	changed func()

	mu      sync.Mutex
	current *operation
	closed  bool
}

// operation is one that is under way.
type operation struct {
	all    *operations
	cancel context.CancelFunc
	ended  chan struct{}
	shown  server.Operation
}

// begin starts an operation, which the caller ends, or returns a *server.Busy. The
// context that it returns ends when the simulator stops, whatever ctx does.
func (o *operations) begin(ctx context.Context, kind server.OperationKind, message string) (context.Context, *operation, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, nil, errStopping
	}
	if o.current != nil {
		return nil, nil, &server.Busy{With: o.current.shown.Kind}
	}
	ctx, cancel := context.WithCancel(ctx)
	o.current = &operation{all: o, cancel: cancel, ended: make(chan struct{}), shown: server.Operation{Kind: kind, Message: message}}
	go o.changed()
	return ctx, o.current, nil
}

// show says how far the operation has come; total is 0 when it cannot be counted.
func (o *operation) show(message string, done, total int) {
	o.all.mu.Lock()
	o.shown.Message, o.shown.Done, o.shown.Total = message, done, total
	o.all.mu.Unlock()
	o.all.changed()
}

func (o *operation) end() {
	o.cancel()
	o.all.mu.Lock()
	o.all.current = nil
	o.all.mu.Unlock()
	o.all.changed()
	close(o.ended)
}

// status returns what is under way; nil when nothing is.
func (o *operations) status() *server.Operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.current == nil {
		return nil
	}
	shown := o.current.shown
	return &shown
}

// close refuses what would begin, cancels what is under way and waits for it, no
// longer than ctx allows.
func (o *operations) close(ctx context.Context) error {
	o.mu.Lock()
	o.closed = true
	current := o.current
	o.mu.Unlock()
	if current == nil {
		return nil
	}
	current.cancel()
	select {
	case <-current.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
