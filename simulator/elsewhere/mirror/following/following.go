// Package following runs the cluster that a simulator imports from or follows: it retries an import
// until it succeeds, restarts a mirror after a reset, and reports both in the simulator's status.
//
// Package mirror does the reading and package transfer the importing. It knows the simulator around
// it only by the functions in Hooks, and may import the simulator's mirror, redact, transfer and
// host packages.
package following

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/host/operation"
)

// Hooks connect a Following to its simulator. All functions are required. Any goroutine may call
// them, but only after the simulator has started.
type Hooks struct {
	// ClientConfig reaches the simulated cluster with the rights of an administrator.
	ClientConfig func() *rest.Config
	// Define installs definitions of custom kinds that the other cluster has.
	Define mirror.Define
	// Reschedule: pods of a followed cluster come without their nodes.
	Reschedule bool
	// DropDefaultClass deletes the simulator's default StorageClass. The other cluster brings its
	// own, or has none.
	DropDefaultClass func() error
	// Begin starts an import as an operation. Cancelling the operation ends the context.
	Begin func(ctx context.Context, message string) (context.Context, *operation.Operation, error)
	// Import imports src, which it closes, and waits for the result.
	Import func(ctx context.Context, src manifest.Source) (*transfer.Report, error)
	// Changed is called when the status has changed.
	Changed func()
	Logger  klog.Logger
}

// Following is the other cluster of a running simulator, if there is one. Its methods are safe for
// concurrent use.
type Following struct {
	options Options
	source  *mirror.Source // nil when there is no other cluster
	hooks   Hooks

	mu sync.Mutex
	// sync is nil while no cluster is followed.
	sync *mirror.Sync
	// warning tells users what is wrong with an import from a cluster.
	warning string

	// cancel ends the attempts to import; nil when there are none.
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// New returns a Following that has not started. source comes from Open and may be nil.
func New(o Options, source *mirror.Source, hooks Hooks) *Following {
	return &Following{options: o, source: source, hooks: hooks}
}

// Start starts to import or to follow the other cluster, if there is one. It does not wait for the
// other cluster to answer.
func (f *Following) Start() error {
	switch {
	case f.source == nil:
		return nil
	case f.options.SyncKubeconfig != "":
		return f.StartSync()
	}
	if err := f.hooks.DropDefaultClass(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.running.Go(func() { f.importUntilDone(ctx) })
	return nil
}

// Stop returns when nothing reads from the other cluster any more.
func (f *Following) Stop(ctx context.Context) error {
	if f.cancel != nil {
		f.cancel()
	}
	f.running.Wait()
	return f.StopSync(ctx)
}

// StartSync starts to follow the other cluster if the options say so. After a reset it brings in
// every object again.
func (f *Following) StartSync() error {
	if f.source == nil || f.options.SyncKubeconfig == "" {
		return nil
	}
	if err := f.hooks.DropDefaultClass(); err != nil {
		return err
	}
	followed := mirror.NewSync(mirror.SyncOptions{
		Source: f.source, Config: f.hooks.ClientConfig(), Define: f.hooks.Define, Reschedule: f.hooks.Reschedule,
		Changed: f.hooks.Changed, Logger: f.hooks.Logger.WithName("sync"),
	})
	if err := followed.Start(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sync = followed
	return nil
}

// StopSync stops following. It does nothing when no cluster is followed.
func (f *Following) StopSync(ctx context.Context) error {
	f.mu.Lock()
	followed := f.sync
	f.sync = nil
	f.mu.Unlock()
	if followed == nil {
		return nil
	}
	return followed.Stop(ctx)
}

// Status describes the followed cluster; nil when there is none. first is the first round of
// copying while it is under way.
func (f *Following) Status() (shown *mirror.Status, first *operation.Status) {
	f.mu.Lock()
	followed := f.sync
	f.mu.Unlock()
	if followed == nil {
		return nil, nil
	}
	now := followed.Status()
	if now.First {
		first = &operation.Status{Kind: operation.Sync, Message: now.Message, Done: now.Done, Total: now.Total}
	}
	return &now, first
}

// Warnings tell users what is wrong with an import from a cluster.
func (f *Following) Warnings() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.warning == "" {
		return nil
	}
	return []string{f.warning}
}

func (f *Following) warn(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.warning = text
}

// importUntilDone retries the import until it succeeds, fails for good, or ctx is done.
func (f *Following) importUntilDone(ctx context.Context) {
	name := f.source.Name()
	backoff := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.3, Steps: 10, Cap: 30 * time.Second}
	for {
		problems, err := f.importOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && len(problems) == 0:
			f.warn("")
			return
		case err == nil:
			f.warn("imported from " + name + ", but " + strings.Join(problems, "; "))
			for _, problem := range problems {
				f.hooks.Logger.Info("Importing from " + name + ": " + problem)
			}
			return
		}
		f.hooks.Logger.Error(err, "Importing from "+name)
		if isFinal(err) {
			f.warn(fmt.Sprintf("importing from %s failed: %v", name, err))
			f.hooks.Changed()
			return
		}
		f.warn(fmt.Sprintf("importing from %s: %v; trying again", name, err))
		f.hooks.Changed()
		select {
		case <-time.After(backoff.Step()):
		case <-ctx.Done():
			return
		}
	}
}

// isFinal reports whether another attempt would fail in the same way: the other cluster does not
// accept the kubeconfig, is not the one that it describes, or is too large.
func isFinal(err error) bool {
	if apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) {
		return true
	}
	if _, ok := errors.AsType[*manifest.LimitError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*transfer.InputError](err); ok {
		return true
	}
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err) // it refuses the client's certificate
	return certificate || alert
}

func (f *Following) importOnce(ctx context.Context) (problems []string, err error) {
	objects := manifest.Collector{Name: f.source.Name()}
	problems, err = f.read(ctx, &objects)
	if err != nil {
		return nil, err
	}
	report, err := f.hooks.Import(ctx, objects.Source())
	if err != nil {
		return nil, err
	}
	if report.FailedTotal > 0 {
		problems = append(problems, fmt.Sprintf("%d objects were rejected; GET /api/v1/import lists them", report.FailedTotal))
	}
	return problems, nil
}

// progressEvery is how many objects are read between two progress reports.
const progressEvery = 250

// read collects all of the other cluster's objects before the import begins.
func (f *Following) read(ctx context.Context, into *manifest.Collector) ([]string, error) {
	message := "reading " + f.source.Name()
	ctx, operation, err := f.hooks.Begin(ctx, message)
	if err != nil {
		return nil, err
	}
	defer operation.End()
	read := 0
	return f.source.Read(ctx, f.hooks.ClientConfig(), f.hooks.Define, func(u *unstructured.Unstructured) error {
		if read++; read%progressEvery == 0 {
			operation.Show(message+": "+u.GetKind(), read, 0)
		}
		return into.Add(u)
	})
}
