package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Configuration is the scheduler's. Methods are safe for concurrent use.
type Configuration interface {
	// Current is the user's document, in YAML or JSON.
	Current() ([]byte, error)
	// Adopt makes a document of another cluster, or of another version of
	// Kubernetes, the configuration, and says what it had to leave out of it.
	// With an error nothing has changed.
	Adopt(ctx context.Context, document []byte) (revision int, removed []RemovedField, err error)
}

// Results are those of the scheduling cycles, for exports.
type Results interface {
	// WriteCycles calls write with each cycle of a pod that exists, as JSON, until
	// write fails. What write gets is valid during the call.
	WriteCycles(ctx context.Context, exists func(uid string) bool, write func(cycle []byte) error) error
}

// Options are what a Snapshot works with. Only Config is required.
type Options struct {
	// Config reaches the API server with the rights of an administrator.
	Config *rest.Config
	// Clear empties the cluster and returns how many objects it deleted. Nil:
	// the cluster is not ours to empty, and Replace is refused.
	Clear func(ctx context.Context) (deleted int, err error)
	// Configuration is the scheduler's. Nil: exports have none, and that of an
	// import is reported and left out.
	Configuration Configuration
	// Results are for exports. Nil: exports have none.
	Results Results
	// Redact changes an object in place so that it gives nothing away, and
	// reports whether enough of it remains to be exported. Nil: exports that are
	// to be redacted are refused.
	Redact func(*unstructured.Unstructured) bool
	// HoldPods has whoever makes bound pods run leave those that do not yet as
	// they are until release is called: they come with how far they were. Nil:
	// nobody does, or nobody can be told.
	HoldPods func() (release func())
	// Logger gets what went wrong and was dealt with. Default: discards.
	Logger klog.Logger

	// now is set by tests only.
	now func() time.Time
}

// Snapshot imports into one cluster, and exports from it. Methods are safe for
// concurrent use.
type Cluster struct {
	opts Options

	mu  sync.Mutex
	run *Run // the latest
}

// ErrNotOurs is answered to who wants to empty a cluster that is not the
// simulator's own.
var ErrNotOurs = errors.New("the cluster is not the simulator's own, so it is not emptied")

// New returns a Snapshot. It does no I/O.
func New(opts Options) *Cluster {
	if opts.now == nil {
		opts.now = time.Now
	}
	if opts.HoldPods == nil {
		opts.HoldPods = func() func() { return func() {} }
	}
	opts.Config = rest.CopyConfig(opts.Config)
	return &Cluster{opts: opts}
}

// ImportOptions say how objects go in.
type ImportOptions struct {
	// Mode is Merge by default.
	Mode Mode
	// Reschedule leaves out where pods are bound, but for those that have
	// finished, so that they are scheduled anew.
	Reschedule bool
	// Progress is called as the import comes further, in order, from any
	// goroutine but one at a time, and not too often. It may be nil.
	Progress func(Progress)
}

func (o ImportOptions) check(s *Cluster) (ImportOptions, error) {
	switch o.Mode {
	case "":
		o.Mode = Merge
	case Merge:
	case Replace:
		if s.opts.Clear == nil {
			return o, ErrNotOurs
		}
	default:
		return o, fmt.Errorf("the mode is %s or %s, not %q", Merge, Replace, o.Mode)
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o, nil
}
