// Package controlplane runs a Kubernetes control plane inside this process:
// etcd, kube-apiserver and controllers, most of them with the code of
// kube-controller-manager.
//
// It is not a cluster: no kubelet and no scheduler. Two control planes can live
// in one process; what they share is what Kubernetes itself keeps per process
// (feature gates, klog, the metrics registry), and setting those is the caller's,
// before New. So is keeping klog quiet: kube-apiserver logs errors at every start
// that are none. Nothing here writes to stdout.
//
// The package may import Kubernetes and etcd. It never imports scheduler/.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
)

// unwindTimeout bounds the undoing of a start that failed.
const unwindTimeout = 5 * time.Second

// Options say where a control plane keeps its state. Feature gates are not
// among them: they belong to the process, so the caller sets them (on
// k8s.io/apiserver/pkg/util/feature) before New.
type Options struct {
	// DataDir holds etcd's data, if it is our own, the certificates and the kubeconfig. It must
	// exist and be writable; one control plane uses it at a time. A control
	// plane that starts on the directory of an earlier one continues from it.
	DataDir string
	// Etcd is an etcd that runs elsewhere. Default: one of our own, in DataDir.
	Etcd Etcd
	// Durable syncs etcd to disk before a write is acknowledged. Default: off,
	// for directories that are thrown away.
	Durable bool
	// Controllers are those that run, in the syntax of
	// kube-controller-manager's flag: a name, its older name, "-" before one that
	// does not run, and "*" for all of the usual ones. AllControllers has the
	// names. Default: only those without which claims would not bind and
	// deletions not finish.
	Controllers []string
	// VirtualNodes says that somebody else does what kubelets do. Then a new node
	// is tainted not-ready until it is Ready, unless it comes as Ready, if the node lifecycle controller
	// runs, and a pod on a node that is being deleted stays until its node lets it
	// go. Default: new nodes can be used as they are, and deleted pods go at once.
	VirtualNodes bool
	// DefaultStorageClass has a cluster begin with a StorageClass for claims that
	// name none, as local clusters do. Default: it begins without.
	DefaultStorageClass bool
}

// ControlPlane is one embedded control plane. It starts once and stops once.
// All methods may be called from any goroutine.
type ControlPlane struct {
	opts Options

	mu      sync.Mutex // held during Start, Stop and Reset
	started bool
	stopped bool
	// undo holds what Stop has to do, in the order in which it was set up.
	undo []func(context.Context) error

	gate        gate
	startState  *startState
	controllers *controllers

	configMu  sync.Mutex
	config    *rest.Config
	informers informers.SharedInformerFactory

	failMu   sync.Mutex
	stopping bool
	done     chan struct{}
	err      error
}

// New returns a control plane that has not started. It does no I/O.
func New(opts Options) *ControlPlane {
	return &ControlPlane{opts: opts, done: make(chan struct{})}
}

// Start returns when the API server answers ready and the system namespaces
// and priority classes exist, or with an error and everything undone. The
// controllers run by then but may still be reading their first lists. ctx bounds the
// start only: the control plane runs until Stop.
func (c *ControlPlane) Start(ctx context.Context) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started || c.stopped {
		return errors.New("a control plane starts once")
	}
	c.started = true
	defer func() {
		if err == nil {
			return
		}
		undoCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unwindTimeout)
		defer cancel()
		err = errors.Join(err, c.stop(undoCtx))
	}()

	chosen, err := chooseControllers(c.opts.Controllers)
	if err != nil {
		return err
	}
	lock, err := lockDataDir(c.opts.DataDir)
	if err != nil {
		return err
	}
	c.onStop(func(context.Context) error { return lock.Close() })

	certs, err := ensureCertificates(c.path("pki"), time.Now())
	if err != nil {
		return fmt.Errorf("prepare certificates: %w", err)
	}

	etcd, err := c.openEtcd(ctx)
	if err != nil {
		return err
	}
	api, err := c.startServer(ctx, certs, etcd, taintNewNodes(chosen, c.opts))
	if err != nil {
		return err
	}
	if err := writeKubeconfig(c.Kubeconfig(), api.url(), certs); err != nil {
		return err
	}
	c.onStop(func(ctx context.Context) error { return c.controllers.stop(ctx) })
	return c.startControllers()
}

// openEtcd starts an etcd, unless there is one, and finds out how far the start
// state is known.
func (c *ControlPlane) openEtcd(ctx context.Context) (Etcd, error) {
	if len(c.opts.Etcd.Servers) > 0 {
		registry, err := newRegistry(c.opts.Etcd)
		if err != nil {
			return Etcd{}, err
		}
		if err := c.useRegistry(ctx, registry); err != nil {
			return Etcd{}, fmt.Errorf("etcd at %s: %w", strings.Join(c.opts.Etcd.Servers, ", "), registry.explain(err))
		}
		return c.opts.Etcd, nil
	}
	etcd, err := startEtcd(ctx, c.path("etcd"), c.opts.Durable, c.fail)
	if err != nil {
		return Etcd{}, fmt.Errorf("start etcd: %w", err)
	}
	c.onStop(etcd.stop)
	here := Etcd{Servers: []string{etcd.endpoint}}
	return here, c.useRegistry(ctx, registryOf(etcd.server, here.prefix()))
}

func (c *ControlPlane) useRegistry(ctx context.Context, r *registry) (err error) {
	c.onStop(func(context.Context) error { return r.close() })
	c.startState, err = beginStartState(ctx, r)
	return err
}

// startServer returns when the API server is ready and the start state is known
// but for its roles.
func (c *ControlPlane) startServer(ctx context.Context, certs certificates, etcd Etcd, taint bool) (*apiServer, error) {
	api, err := startAPIServer(ctx, serverOptions{certs: certs, etcd: etcd, taintNewNodes: taint, guard: c.gate.guard}, c.fail)
	if err != nil {
		return nil, fmt.Errorf("start kube-apiserver: %w", err)
	}
	c.onStop(api.stop)
	c.setConfig(api.clientConfig())

	if err := api.waitReady(ctx); err != nil {
		return nil, fmt.Errorf("wait for kube-apiserver: %w", err)
	}
	if err := bootstrap(ctx, c.ClientConfig()); err != nil {
		return nil, err
	}
	if c.opts.DefaultStorageClass && c.startState.state == stateBegun {
		if err := createDefaultClass(ctx, c.ClientConfig()); err != nil {
			return nil, err
		}
	}
	if err := c.startState.remember(ctx); err != nil {
		return nil, err
	}
	c.completeStartState(api)
	return api, nil
}

// completeStartState adds to the start state what the API server makes late.
func (c *ControlPlane) completeStartState(api *apiServer) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if api.waitStarted(ctx) == nil {
			c.startState.rememberLate(ctx)
		}
	})
	c.onStop(func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
}

// taintNewNodes: without the controller that takes the taint away again, new
// nodes are not tainted.
func taintNewNodes(chosen map[string]bool, opts Options) bool {
	return opts.VirtualNodes && chosen[names.NodeLifecycleController]
}

// startControllers starts them, anew after a reset.
func (c *ControlPlane) startControllers() error {
	chosen, err := chooseControllers(c.opts.Controllers)
	if err != nil {
		return err
	}
	c.controllers = &controllers{config: c.ClientConfig(), chosen: chosen, virtualNodes: c.opts.VirtualNodes}
	if err := c.controllers.start(); err != nil {
		return fmt.Errorf("start controllers: %w", err)
	}
	c.setInformers(c.controllers.informers.typed)
	return nil
}

// Stop stops the controllers, the API server and etcd, in this order, and
// removes what is not worth keeping. It returns when everything has ended or
// ctx has, then with an error that says what is still running. Clients should
// have gone before: what watches is cut off after a moment. Only the first call
// does something. A Stop during Start waits for the Start.
func (c *ControlPlane) Stop(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop(ctx)
}

func (c *ControlPlane) stop(ctx context.Context) error {
	c.stopped = true
	c.failMu.Lock()
	c.stopping = true
	c.failMu.Unlock()

	var errs []error
	for _, undo := range slices.Backward(c.undo) {
		errs = append(errs, undo(ctx))
	}
	c.undo = nil
	return errors.Join(errs...)
}

func (c *ControlPlane) onStop(f func(context.Context) error) {
	c.undo = append(c.undo, f)
}

// ClientConfig returns a configuration for clients in this process: over
// loopback, with the rights of system:masters, without client-side throttling
// worth mentioning, and in protobuf, which serves built-in kinds only. For
// custom resources use a dynamic client, or set ContentType to JSON. Each call
// returns a copy. It is nil until Start has brought up the API server.
func (c *ControlPlane) ClientConfig() *rest.Config {
	c.configMu.Lock()
	defer c.configMu.Unlock()
	if c.config == nil {
		return nil
	}
	return rest.CopyConfig(c.config)
}

func (c *ControlPlane) setConfig(config *rest.Config) {
	c.configMu.Lock()
	defer c.configMu.Unlock()
	c.config = config
}

// Informers returns the informers that the controllers share, for others in this
// process that watch pods or nodes: one copy serves all. Managed fields and the
// annotations with scheduling results are left out. Objects belong to the cache:
// whoever changes one copies it. They end in Stop, and in Reset. It is nil until Start has
// returned.
func (c *ControlPlane) Informers() informers.SharedInformerFactory {
	c.configMu.Lock()
	defer c.configMu.Unlock()
	return c.informers
}

func (c *ControlPlane) setInformers(shared informers.SharedInformerFactory) {
	c.configMu.Lock()
	defer c.configMu.Unlock()
	c.informers = shared
}

// Kubeconfig returns the path of the file that gives other processes the
// rights of an administrator. It is written during Start, and again by every
// later start on the same directory: the port differs each time.
func (c *ControlPlane) Kubeconfig() string {
	return c.path("kubeconfig")
}

// Done is closed when etcd or the API server ended without Stop. Stop does not
// close it.
func (c *ControlPlane) Done() <-chan struct{} {
	return c.done
}

// Err says why Done is closed; nil while it is not.
func (c *ControlPlane) Err() error {
	c.failMu.Lock()
	defer c.failMu.Unlock()
	return c.err
}

// fail notes that a part ended by itself. Only the first failure counts, and
// none while stopping.
func (c *ControlPlane) fail(err error) {
	c.failMu.Lock()
	defer c.failMu.Unlock()
	if c.stopping || c.err != nil {
		return
	}
	c.err = err
	close(c.done)
}

func (c *ControlPlane) path(name string) string {
	return filepath.Join(c.opts.DataDir, name)
}

// lockDataDir keeps two control planes off one directory. etcd has a lock of
// its own, but waits for it without end.
func lockDataDir(dir string) (*fileutil.LockedFile, error) {
	lock, err := fileutil.TryLockFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("data directory %s is in use by another control plane", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	return lock, nil
}

// waitUntil returns nil when done is closed and an error that names what when
// ctx ends first.
func waitUntil(ctx context.Context, done <-chan struct{}, what string) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", what, context.Cause(ctx))
	}
}
