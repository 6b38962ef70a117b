package transfer

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"kube-scheduler-simulator/simulator/transfer/manifest"
)

// State is that of an import.
type State string

const (
	Running   State = "running"
	Finished  State = "finished"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Run is an import that goes on whoever waits for it. Methods are safe for
// concurrent use.
type Run struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu       sync.Mutex
	state    State
	progress Progress
	changed  chan struct{} // closed when progress changes
	report   *Report
	err      error
}

// Begin begins an import, which ends by itself or by Cancel, and closes src when
// it has. The error is that of the options; then src is still open. The caller
// begins no other import before this one has ended.
func (s *Cluster) Begin(src manifest.Source, opts ImportOptions) (*Run, error) {
	opts, err := opts.check(s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Run{cancel: cancel, done: make(chan struct{}), state: Running, progress: Progress{Phase: Reading}, changed: make(chan struct{})}
	s.mu.Lock()
	s.run = r
	s.mu.Unlock()
	tell := opts.Progress
	opts.Progress = func(p Progress) {
		r.set(p)
		tell(p)
	}
	go func() {
		defer close(r.done)
		defer cancel()
		r.end(s.importGuarded(ctx, src, opts))
		if err := src.Close(); err != nil {
			s.opts.Logger.Error(err, "closing what was imported")
		}
	}()
	return r, nil
}

// errPanicked is in the message of what a mistake in this program has ended.
var errPanicked = errors.New("the simulator failed on it; its log says more")

// panicked logs where a panic came from. It is called while that is on the stack.
func (s *Cluster) panicked(reason any) error {
	s.opts.Logger.Error(fmt.Errorf("panic: %v", reason), "importing", "stack", string(debug.Stack()))
	return fmt.Errorf("%w (%v)", errPanicked, reason)
}

// importGuarded is Import, which a panic ends early.
func (s *Cluster) importGuarded(ctx context.Context, src manifest.Source, opts ImportOptions) (report *Report, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = s.panicked(reason)
		}
	}()
	return s.Import(ctx, src, opts)
}

// Latest returns the import that runs, or that ran last; nil if there was none.
func (s *Cluster) Latest() *Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// Cancel ends the import early. What has gone in stays. It returns false when the
// import had ended before.
func (r *Run) Cancel() bool {
	running := r.State() == Running
	r.cancel()
	return running
}

// Done is closed when the import has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// State says whether the import runs, and how it has ended.
func (r *Run) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Progress returns how far the import is, and what is closed when it is further.
func (r *Run) Progress() (Progress, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress, r.changed
}

// Result returns what the import has done, nil while it runs and where nothing
// was done, and what ended it.
func (r *Run) Result() (*Report, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.report, r.err
}

func (r *Run) set(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = p
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Run) end(report *Report, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report, r.err = report, err
	switch {
	case err == nil:
		r.state = Finished
	case errors.Is(err, context.Canceled):
		r.state = Cancelled
	default:
		r.state = Failed
	}
}
