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
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Configuration is the scheduler's. Methods are safe for concurrent use.
type Configuration interface {
	// Current is the user's document, in YAML or JSON.
	Current() ([]byte, error)
	// Adopt applies a document that was written for another cluster, or for another version of
	// Kubernetes, and returns what it had to leave out. With an error nothing has changed.
	Adopt(ctx context.Context, document []byte) (Adopted, error)
}

// Adopted says how a scheduler configuration was applied.
type Adopted struct {
	Revision int
	// Removed is also set when the document was not applied.
	Removed []RemovedField
	// InactiveExtenders are the URLs of its extenders that the scheduler does not call.
	InactiveExtenders []string
}

// Results are the results of scheduling cycles, for exports.
type Results interface {
	// WriteCycles calls write with each cycle of each pod that exists, as JSON, until write fails.
	// The argument of write is valid during the call only.
	WriteCycles(ctx context.Context, exists func(uid string) bool, write func(cycle []byte) error) error
}

// Options are what a Cluster works with. Only Config is required.
type Options struct {
	// Config reaches the API server with the rights of an administrator.
	Config *rest.Config
	// Clear empties the cluster and returns how many objects it deleted. Nil: the cluster is not
	// ours to empty, and imports refuse Replace.
	Clear func(ctx context.Context) (deleted int, err error)
	// Configuration is the scheduler's. Nil: exports hold none, and imports report one and leave it
	// out.
	Configuration Configuration
	// Results are for exports. Nil: exports hold none.
	Results Results
	// Redact changes an object in place so that it gives nothing away, and reports whether enough
	// of it remains to export. Nil: exports refuse to redact.
	Redact func(*unstructured.Unstructured) bool
	// Define installs the definitions that the simulator has of the given custom kinds, and reports
	// whether it has any. Nil: objects of a kind that is not served fail.
	Define func(ctx context.Context, kinds []schema.GroupKind) (bool, error)
	// HoldPods stops virtual nodes from starting bound pods until release is called, so that
	// imported pods keep their recorded phase. Nil: the cluster has no virtual nodes.
	HoldPods func() (release func())
	// Activate imports objects that call other programs as they are. Default: they stay inactive
	// until a user activates them.
	Activate bool
	// Callable returns an error if the API server may not call a URL. Default: it may.
	Callable func(url string) error
	// Kept is the file with the report of the last import, for Last. Default: a restart forgets it.
	Kept string
	// Logger gets errors that were dealt with. Default: discards them.
	Logger klog.Logger

	// Only tests set now.
	now func() time.Time
}

// Cluster is the one that objects are imported into and exported from. Methods are safe for
// concurrent use.
type Cluster struct {
	opts Options

	mu   sync.Mutex
	run  *Run    // the latest
	last *Report // of the latest that was told
}

// An import that is to empty a cluster that is not the simulator's own returns ErrNotOurs.
var ErrNotOurs = errors.New("the simulator does not own this cluster, so it cannot empty it")

// New returns a Cluster. It does no I/O.
func New(opts Options) *Cluster {
	if opts.now == nil {
		opts.now = time.Now
	}
	if opts.HoldPods == nil {
		opts.HoldPods = func() func() { return func() {} }
	}
	if opts.Define == nil {
		opts.Define = func(context.Context, []schema.GroupKind) (bool, error) { return false, nil }
	}
	if opts.Callable == nil {
		opts.Callable = func(string) error { return nil }
	}
	opts.Config = rest.CopyConfig(opts.Config)
	cluster := &Cluster{opts: opts}
	cluster.restore()
	return cluster
}

// ImportOptions say how to import objects.
type ImportOptions struct {
	// Mode is Merge by default.
	Mode Mode
	// Reschedule removes the node from bound pods, except from those that have finished, so that
	// the scheduler places them again.
	Reschedule bool
	// By names the program that asked for the import; empty for the web application. The import
	// does not look at it.
	By string
	// Untold: it restores what was there. The time line does not tell it, and Last does not return
	// its report.
	Untold bool
	// Progress is called as the import proceeds, in order, from any goroutine but one at a time,
	// and a few times per second at most. It may be nil.
	Progress func(Progress)
	// Begin's goroutine calls Ended when the import has ended, before any other goroutine learns of
	// it. It may be nil.
	Ended func()
}

func (o ImportOptions) check(cluster *Cluster) (ImportOptions, error) {
	switch o.Mode {
	case "":
		o.Mode = Merge
	case Merge:
	case Replace:
		if cluster.opts.Clear == nil {
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
