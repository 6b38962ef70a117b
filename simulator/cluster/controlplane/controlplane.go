// Package controlplane runs a Kubernetes control plane inside this process: etcd, kube-apiserver
// and the controllers of package controllers. It also remembers the initial state of a cluster and
// resets the cluster to it. Package external is the alternative: a control plane that runs
// elsewhere.
//
// It is not a cluster: it has no kubelet and no scheduler. Two control planes can live in one
// process. They share Kubernetes' process-wide state (feature gates, klog, the metrics registry),
// which the caller sets before New. The caller also silences klog, because kube-apiserver logs
// harmless errors at every start. Nothing here writes to stdout.
//
// The package may import Kubernetes, etcd, simulator/host/connections, simulator/cluster/objects,
// simulator/cluster/outbound and its own subpackages. Of scheduler/, it imports sharedpods only;
// its controllers also import those packages that read custom resources.
package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/sharedpods"
	"kube-scheduler-simulator/simulator/cluster/controlplane/controllers"
	"kube-scheduler-simulator/simulator/cluster/controlplane/internal/etcddata"
	"kube-scheduler-simulator/simulator/cluster/outbound"
	"kube-scheduler-simulator/simulator/host/datadir"
)

const unwindTimeout = 5 * time.Second

// Options configure a control plane. The process has the feature gates, which the caller sets
// before New.
type Options struct {
	// DataDir holds the certificates, the kubeconfig and our own etcd. It must exist and be
	// writable, and one control plane uses it at a time. The next one continues from it.
	DataDir string
	// Etcd is an etcd that runs elsewhere. Default: our own, in DataDir.
	Etcd Etcd
	// Durable syncs etcd to disk before a write is acknowledged. Default: off,
	// for directories that are thrown away.
	Durable bool
	// Controllers that run; see controllers.Choose for the syntax and the default.
	Controllers []string
	// VirtualNodes says that another component does the work of kubelets. Then a new node is
	// tainted not-ready until it is Ready, if the node lifecycle controller runs, and a pod that is
	// being deleted stays until its node confirms. Default: new nodes are usable, and deleted pods
	// disappear, at once.
	VirtualNodes bool
	// RegisterNode completes the metadata of a new node without a Ready condition, and returns that condition, or nil. The node
	// lifecycle controller removes the not-ready taint of a node without that condition. It must
	// not block.
	RegisterNode func(node metav1.Object) *corev1.NodeCondition
	// DefaultStorageClass creates a default StorageClass in a new cluster, as local clusters
	// do. Default: there is none.
	DefaultStorageClass bool
	// SharedPods lets the controllers' pod informer share pods with other informers. It may be nil.
	SharedPods *sharedpods.Pool
	// Outbound says which webhooks and API servers of APIServices the API server may call. Default:
	// those on loopback addresses.
	Outbound outbound.Policy
	// Version is the version of Kubernetes that clients see, such as v1.37.2. Default: the
	// minor version that the program was built from.
	Version string
	// EtcdChecked says that the caller has compared our own etcd's files with checksums from an
	// orderly stop. Otherwise Start reads them, which takes seconds per gigabyte.
	EtcdChecked bool
	// EtcdQuota bounds our own etcd's database in bytes. Default: 8 GiB.
	EtcdQuota int64
	// Handlers answer authorized requests to paths that begin so, before the API server does.
	Handlers map[string]http.Handler
	// Webhooks stands in for the webhooks of a program whose kinds are served here.
	Webhooks Webhooks
	// UserWrote is called for each request by which a user changed objects, before its answer is
	// complete. It must not block.
	UserWrote func(UserWrite)
	// Logger receives problems that do not prevent the start. The zero value discards them.
	Logger klog.Logger
}

// Webhooks does in this process what the webhooks of another program would do, without a port or a
// certificate.
type Webhooks struct {
	// Register adds the admission plugins Plugins, which run in this order just before webhooks that change
	// objects.
	Register func(*admission.Plugins)
	Plugins  []string
	// Conversion answers the requests to the conversion webhook behind Service.
	Conversion         http.RoundTripper
	Namespace, Service string
	// Uncached are versions of the kinds, such as kueue.x-k8s.io/v1beta1, that few clients read.
	Uncached []string
}

func (w Webhooks) answers(namespace, service string) bool {
	return w.Conversion != nil && namespace == w.Namespace && service == w.Service
}

// ControlPlane is one embedded control plane. It starts once and stops once.
// All methods may be called from any goroutine.
type ControlPlane struct {
	opts Options

	// turn has capacity 1. Start, Stop and Reset fill it while they run, and guard what follows.
	turn    chan struct{}
	started bool
	stopped bool
	// undo holds the steps of Stop, in the order of the start. The first ones, as many as early
	// says, are those of etcd.
	undo    []func(context.Context) error
	early   int
	halt    chan struct{}
	halting sync.Once

	gate        gate
	storage     *storage // of our own etcd
	startState  *startState
	controllers *controllers.Controllers

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
	return &ControlPlane{opts: opts, turn: make(chan struct{}, 1), done: make(chan struct{}), halt: make(chan struct{})}
}

func (c *ControlPlane) take(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *ControlPlane) release() { <-c.turn }

// Start returns when the API server answers ready and the system namespaces
// and priority classes exist, or with an error and everything undone. The
// controllers run by then but may still be reading their first lists. ctx bounds the
// start only: the control plane runs until Stop.
func (c *ControlPlane) Start(ctx context.Context) (err error) {
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.release()
	if c.started || c.stopped {
		return errors.New("a control plane starts once")
	}
	c.started = true
	defer func() {
		if err == nil {
			return
		}
		// A part may say in words of its own that its time was up, as etcd does.
		if late := ctx.Err(); late != nil && !errors.Is(err, late) {
			err = fmt.Errorf("%w: %w", late, err)
		}
		undoCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unwindTimeout)
		defer cancel()
		_ = c.stop(undoCtx) // its errors would only follow from err
	}()

	chosen, err := controllers.Choose(c.opts.Controllers)
	if err != nil {
		return err
	}
	lock, err := datadir.Lock(c.opts.DataDir)
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
	c.early = len(c.undo)
	api, err := c.startServer(ctx, certs, etcd, c.opts.VirtualNodes && chosen.TaintsNodes())
	if err != nil {
		return err
	}
	if err := writeKubeconfig(c.Kubeconfig(), api.url(), certs); err != nil {
		return err
	}
	c.onStop(func(ctx context.Context) error { return c.controllers.Stop(ctx) })
	return c.startControllers()
}

// openEtcd also reads how much of the start state is known.
func (c *ControlPlane) openEtcd(ctx context.Context) (Etcd, error) {
	if len(c.opts.Etcd.Servers) > 0 {
		return c.opts.Etcd, c.connectToEtcd(ctx)
	}
	if !c.opts.EtcdChecked {
		if err := etcddata.Check(ctx, c.path("etcd"), readObject); err != nil {
			return Etcd{}, err
		}
	}
	etcd, err := startEtcd(ctx, etcdOptions{dataDir: c.path("etcd"), durable: c.opts.Durable, quota: cmp.Or(c.opts.EtcdQuota, etcdQuota)}, c.fail)
	if err != nil {
		return Etcd{}, fmt.Errorf("start etcd: %w", err)
	}
	c.onStop(etcd.stop)
	if err := c.tendStorage(ctx, etcd); err != nil {
		return Etcd{}, err
	}
	here := Etcd{Servers: []string{etcd.endpoint}}
	return here, c.useRegistry(ctx, registryOf(etcd.server, here.prefix()))
}

func (c *ControlPlane) connectToEtcd(ctx context.Context) error {
	r, err := newRegistry(c.opts.Etcd)
	if err != nil {
		return err
	}
	where := strings.Join(c.opts.Etcd.Servers, ", ")
	c.onStop(func(context.Context) error { return r.close() })
	owner, err := own(ctx, r, c.opts.DataDir, c.fail)
	if err != nil {
		return fmt.Errorf("etcd at %s: %w", where, r.explain(err))
	}
	c.onStop(owner.release)
	if c.startState, err = beginStartState(ctx, r); err != nil {
		return fmt.Errorf("etcd at %s: %w", where, r.explain(err))
	}
	return nil
}

func (c *ControlPlane) useRegistry(ctx context.Context, r *registry) (err error) {
	c.onStop(func(context.Context) error { return r.close() })
	c.startState, err = beginStartState(ctx, r)
	return err
}

func (c *ControlPlane) guard(next http.Handler) http.Handler {
	return noteUserWrites(c.opts.UserWrote, c.revision, c.gate.guard(next))
}

// revision is the latest of our own etcd; 0 for another one.
func (c *ControlPlane) revision() int64 {
	if c.storage == nil {
		return 0
	}
	return c.storage.etcd.Server.KV().Rev()
}

// startServer waits for the start state, except for the default roles.
func (c *ControlPlane) startServer(ctx context.Context, certs certificates, etcd Etcd, taint bool) (*apiServer, error) {
	api, err := startAPIServer(ctx, serverOptions{Options: c.opts, certs: certs, etcd: etcd, taintNewNodes: taint, guard: c.guard}, c.fail)
	if err != nil {
		return nil, fmt.Errorf("start kube-apiserver: %w", err)
	}
	c.onStop(api.stop)
	c.setConfig(api.clientConfig())

	if err := api.waitReady(ctx); err != nil {
		return nil, fmt.Errorf("wait for kube-apiserver: %w", err)
	}
	if err := bootstrap(ctx, c.ClientConfig(), c.startState.state == stateBegun, c.opts.Logger); err != nil {
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
	c.completeStartState()
	return api, nil
}

// completeStartState does not delay the start: the administrators' group, to which the kubeconfig and the
// clients in this process belong, needs no default role.
func (c *ControlPlane) completeStartState() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		bootstrapRoles(ctx, c.ClientConfig(), c.opts.Logger)
		if ctx.Err() == nil {
			c.startState.rememberLate(ctx)
		}
	})
	c.onStop(func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
}

// A reset calls startControllers again.
func (c *ControlPlane) startControllers() error {
	chosen, err := controllers.Choose(c.opts.Controllers)
	if err != nil {
		return err
	}
	c.controllers = controllers.New(c.ClientConfig(), chosen, c.opts.VirtualNodes, c.opts.SharedPods)
	if err := c.controllers.Start(); err != nil {
		return fmt.Errorf("start controllers: %w", err)
	}
	c.setInformers(c.controllers.Informers())
	return nil
}

// Stop stops the controllers, the API server and etcd, in this order, and removes temporary files.
// When ctx ends first, the error says what is still running. Clients should have disconnected:
// watches are cut off after a moment. Only the first call has an effect. It waits for a Start,
// interrupts a Reset, and returns nil when a part has ended without Stop, which Err explains.
func (c *ControlPlane) Stop(ctx context.Context) error {
	c.halting.Do(func() { close(c.halt) })
	if err := c.take(ctx); err != nil {
		return fmt.Errorf("stop the control plane while it starts or is reset: %w", err)
	}
	defer c.release()
	return c.stop(ctx)
}

// Stop keeps this for etcd, whatever delays the parts that stop before it.
const keptForEtcd = 600 * time.Millisecond

func (c *ControlPlane) stop(ctx context.Context) error {
	c.stopped = true
	c.failMu.Lock()
	c.stopping = true
	failed := c.err != nil
	c.failMu.Unlock()

	early := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		early, cancel = context.WithDeadline(ctx, deadline.Add(-keptForEtcd))
		defer cancel()
	}
	var errs []error
	for i, undo := range slices.Backward(c.undo) {
		within := early
		if i < c.early {
			within = ctx
		}
		errs = append(errs, undo(within))
	}
	c.undo = nil
	if failed {
		// The rest cannot stop in order, and Err has the cause.
		return nil
	}
	return errors.Join(errs...)
}

func (c *ControlPlane) onStop(f func(context.Context) error) {
	c.undo = append(c.undo, f)
}

// ClientConfig returns a copy of a configuration for clients in this process: over loopback, with
// the rights of system:masters, almost without throttling, and in protobuf, which works only for
// built-in kinds. For custom resources use a dynamic client, or set ContentType to JSON. It is nil
// until Start has started the API server.
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

// Informers returns those that the controllers share. They leave out managed fields and the
// annotations with scheduling results. Copy an object before changing it. They end in Stop and in
// Reset. It is nil until Start has returned.
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

// Kubeconfig returns the path of the file that gives other processes the rights of an
// administrator. Each Start rewrites it, because the port differs.
func (c *ControlPlane) Kubeconfig() string {
	return c.path("kubeconfig")
}

// Done is closed when etcd or the API server has ended without Stop.
func (c *ControlPlane) Done() <-chan struct{} {
	return c.done
}

// Err says why Done is closed; nil while it is not.
func (c *ControlPlane) Err() error {
	c.failMu.Lock()
	defer c.failMu.Unlock()
	return c.err
}

// fail keeps only the first failure, and ignores those during a stop.
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

func waitUntil(ctx context.Context, done <-chan struct{}, what string) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", what, context.Cause(ctx))
	}
}
