package transfer

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// State is that of an import.
type State string

const (
	Running   State = "running"
	Finished  State = "finished"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Run is an import that continues whether or not a client waits for it. Methods are safe for
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

// Begin starts an import, which ends by itself or by Cancel and then closes src. An error is about
// the options; src is still open then. The caller starts no other import before this one has ended.
func (cluster *Cluster) Begin(src manifest.Source, opts ImportOptions) (*Run, error) {
	opts, err := opts.check(cluster)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Run{cancel: cancel, done: make(chan struct{}), state: Running, progress: Progress{Phase: Reading}, changed: make(chan struct{})}
	cluster.mu.Lock()
	cluster.run = r
	cluster.mu.Unlock()
	tell := opts.Progress
	opts.Progress = func(p Progress) {
		r.set(p)
		tell(p)
	}
	go func() {
		defer close(r.done)
		defer cancel()
		report, err := cluster.importGuarded(ctx, src, opts)
		if err := src.Close(); err != nil {
			cluster.opts.Logger.Error(err, "closing what was imported")
		}
		if report != nil && !opts.Untold {
			cluster.keep(report)
		}
		if opts.Ended != nil {
			opts.Ended()
		}
		r.end(report, err)
	}()
	return r, nil
}

// errPanicked is in the message of an import, or of an object, that a bug in this program ended.
var errPanicked = errors.New("the simulator failed to process it; see the simulator's log")

// panicked logs where a panic came from. Call it while the panic is on the stack.
func (cluster *Cluster) panicked(reason any) error {
	cluster.opts.Logger.Error(fmt.Errorf("panic: %v", reason), "importing", "stack", string(debug.Stack()))
	return fmt.Errorf("%w (%v)", errPanicked, reason)
}

// importGuarded is Import, with panics as errors.
func (cluster *Cluster) importGuarded(ctx context.Context, src manifest.Source, opts ImportOptions) (report *Report, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = cluster.panicked(reason)
		}
	}()
	return cluster.Import(ctx, src, opts)
}

// Latest returns the import that runs or ran last; nil if there was none.
func (cluster *Cluster) Latest() *Run {
	cluster.mu.Lock()
	defer cluster.mu.Unlock()
	return cluster.run
}

// Cancel ends the import early. Objects that are in the cluster stay there. It returns false when
// the import had already ended.
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

// Progress returns how far the import is, and a channel that is closed at the next progress.
func (r *Run) Progress() (Progress, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress, r.changed
}

// Result returns the report, and the error that ended the import. The report is nil while the
// import runs, and when it did nothing.
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
