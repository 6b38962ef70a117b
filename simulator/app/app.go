// Package app puts the simulator together: control plane, recorded scheduler,
// results, annotations and web server. It is the only package that imports both
// trees, simulator/ and scheduler/.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/scheduler/supervisor"
	"kube-scheduler-simulator/simulator/controlplane"
	"kube-scheduler-simulator/simulator/server"
	"kube-scheduler-simulator/simulator/transfer"
	"kube-scheduler-simulator/simulator/virtualnode"
	"kube-scheduler-simulator/web"
)

// KubernetesVersion is the version of everything that is embedded.
const KubernetesVersion = "v1.37.1"

// Run runs a simulator until ctx is done or a part of it fails. When everything
// is up it writes one line to out, which begins with "ready: ". What it returns
// after ctx is done is what went wrong while stopping.
func Run(ctx context.Context, options Options, out io.Writer) error {
	s, err := newSimulator(options)
	if err != nil {
		return err
	}
	return s.run(ctx, out)
}

// newSimulator returns one that has not started; what it holds goes with run.
func newSimulator(options Options) (*simulator, error) {
	p, err := options.prepare()
	if err != nil {
		return nil, err
	}
	s := &simulator{options: options, prepared: p, failed: make(chan error, 1)}
	s.operations.changed = s.publish
	s.replays = &replays{simulator: s}
	s.store = resultstore.New(resultstore.Options{
		MemoryBytes: options.ResultsMemory,
		DiskBytes:   options.ResultsDisk,
		Dir:         s.resultsDir(),
		Durable:     !p.temporary,
		Logger:      options.Logger,
	})
	s.onStop(func(context.Context) error { return p.close() })
	return s, nil
}

// run is Run.
func (s *simulator) run(ctx context.Context, out io.Writer) error {
	err := s.start(ctx)
	if err == nil {
		fmt.Fprintf(out, "ready: http://%s kubeconfig %s\n", s.prepared.listener.Addr(), s.controlPlane.Kubeconfig())
		played := s.reportReplay(ctx)
		select {
		case <-ctx.Done():
		case err = <-played:
		case err = <-s.failed:
		case <-s.controlPlane.Done():
			err = fmt.Errorf("the control plane ended: %w", s.controlPlane.Err())
		}
	} else if ctx.Err() != nil {
		err = nil // stopped while starting
	}
	return errors.Join(err, s.stop())
}

// controlPlane is where the cluster is.
type controlPlane interface {
	// ClientConfig has the rights of an administrator.
	ClientConfig() *rest.Config
	// Kubeconfig is a file for other programs.
	Kubeconfig() string
	// Done is closed when it has ended by itself, Err says why.
	Done() <-chan struct{}
	Err() error
}

// simulator is one that is running.
type simulator struct {
	options  Options
	prepared *prepared
	store    *resultstore.Store

	web          *server.Server
	controlPlane controlPlane
	// embedded is the control plane when it is our own, external when it is not; the
	// other is nil.
	embedded   *controlplane.ControlPlane
	external   *controlplane.External
	nodes      *virtualnode.Nodes // nil when there are none
	scheduler  *supervisor.Scheduler
	operations operations
	// annotations is nil when none are written.
	annotations *annotation.Writer
	replays     *replays
	following   following
	snapshot    *transfer.Snapshot

	mu      sync.Mutex // over what publish reads
	phase   server.Phase
	message string

	failed chan error
	undo   []func(context.Context) error
}

// onStop adds a step to stop, which runs the latest first.
func (s *simulator) onStop(f func(context.Context) error) { s.undo = append(s.undo, f) }

func (s *simulator) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var errs []error
	for i := len(s.undo) - 1; i >= 0; i-- {
		errs = append(errs, s.undo[i](ctx))
	}
	return errors.Join(errs...)
}

// start brings everything up, the page first. What it started is in undo.
func (s *simulator) start(ctx context.Context) error {
	s.serve()
	s.setStatus(server.Starting, "the control plane is starting")

	if err := s.startControlPlane(ctx); err != nil {
		return err
	}
	if err := s.store.Start(ctx); err != nil {
		return fmt.Errorf("opening the results: %w", err)
	}
	s.onStop(s.store.Stop)
	if err := s.runNodes(ctx); err != nil {
		return err
	}
	s.onStop(s.stopNodes)

	s.setStatus(server.Starting, "the scheduler is starting")
	s.scheduler = supervisor.New(supervisor.Options{
		Client:    s.controlPlane.ClientConfig(),
		Sink:      s.store,
		OutOfTree: s.prepared.registry,
		Parse: func(document []byte) (*config.Configuration, error) {
			return parseConfiguration(document, s.prepared.registry)
		},
		Initial: s.prepared.configuration,
		TieSeed: s.options.TieSeed,
		Dir:     s.configurationDir(),
		Logger:  s.options.Logger,
		Changed: s.publish,
	})
	if err := s.scheduler.Start(ctx); err != nil {
		return fmt.Errorf("starting the scheduler: %w", err)
	}
	s.onStop(s.scheduler.Stop)

	if err := s.annotate(); err != nil {
		return err
	}
	s.snapshot = s.newSnapshot()
	s.onStop(s.operations.close)
	if err := s.web.SetBackend(s.backend()); err != nil {
		return fmt.Errorf("attaching the web server: %w", err)
	}
	if err := s.importAtStart(ctx); err != nil {
		return err
	}
	s.setStatus(server.Running, "")
	s.onStop(s.replays.stop)
	if err := s.startReplay(); err != nil {
		return err
	}
	s.onStop(func(context.Context) error {
		s.setStatus(server.Stopping, "the simulator is stopping")
		return nil
	})
	// It stops before the status says so, and cannot take that back.
	s.watchHealth()
	s.returnMemory()
	if err := s.startSource(); err != nil {
		return err
	}
	return nil
}

// backend is what the web server fronts.
func (s *simulator) backend() server.Backend {
	b := server.Backend{
		ClientConfig:  s.controlPlane.ClientConfig(),
		Results:       s.store,
		Held:          s.scheduler.PreEnqueueRejections,
		Queues:        scheduler.Queues,
		Configuration: configuration{s.scheduler},
		Replay:        s.replays,
		Transfer:      transfer{s.snapshot, s},
		FeatureGates:  featureGates(),
	}
	if s.embedded != nil {
		b.Reset = s.resetAll
	}
	return b
}

// startControlPlane starts one of our own, unless there is one to be used.
func (s *simulator) startControlPlane(ctx context.Context) error {
	if s.options.Kubeconfig != "" {
		return s.connect(ctx)
	}
	s.embedded = controlplane.New(controlplane.Options{
		DataDir:      s.prepared.dataDir,
		Etcd:         controlplane.Etcd(s.options.Etcd),
		Durable:      !s.prepared.temporary,
		Controllers:  s.options.Controllers,
		VirtualNodes: !s.options.NoVirtualNodes,

		DefaultStorageClass: true,
	})
	s.controlPlane = s.embedded
	if err := s.embedded.Start(ctx); err != nil {
		return fmt.Errorf("starting the control plane: %w", err)
	}
	s.onStop(s.embedded.Stop)
	return s.finishReset(ctx)
}

// runNodes begins to do for the nodes what kubelets would do.
func (s *simulator) runNodes(ctx context.Context) error {
	if s.embedded == nil || s.options.NoVirtualNodes || s.replays.playsHere() {
		s.nodes = nil
		return nil
	}
	s.nodes = virtualnode.New(virtualnode.Options{
		ClientConfig: s.embedded.ClientConfig(),
		Informers:    s.embedded.Informers(),
		Stages:       s.prepared.stages,
		Devices:      s.prepared.devices,
	})
	if err := s.nodes.Start(ctx); err != nil {
		return fmt.Errorf("starting the virtual nodes: %w", err)
	}
	return nil
}

func (s *simulator) stopNodes(ctx context.Context) error {
	if s.nodes == nil {
		return nil
	}
	return s.nodes.Stop(ctx)
}

// returnMemory gives what starting has used back to the system, once: an idle
// simulator would otherwise hold it for long.
func (s *simulator) returnMemory() {
	timer := time.AfterFunc(settled, debug.FreeOSMemory)
	s.onStop(func(context.Context) error {
		timer.Stop()
		return nil
	})
}

// settled is when the work that goes on behind the start is over.
const settled = 3 * time.Second

// serve answers requests from now on; what needs the control plane says that it
// is starting.
func (s *simulator) serve() {
	s.web = server.New(server.Options{
		Token:    s.prepared.token,
		Assets:   web.FS(),
		Logger:   s.options.Logger,
		Version:  KubernetesVersion,
		Gatherer: legacyregistry.DefaultGatherer,
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.web.Serve(s.prepared.listener); err != nil {
			s.failed <- fmt.Errorf("serving the web: %w", err)
		}
	}()
	s.onStop(func(ctx context.Context) error {
		err := s.web.Shutdown(ctx)
		<-done
		return err
	})
}

// annotate begins to write results to the pods' annotations.
func (s *simulator) annotate() error {
	if s.options.AnnotationBytes == 0 {
		return nil
	}
	client, err := kubernetes.NewForConfig(s.controlPlane.ClientConfig())
	if err != nil {
		return fmt.Errorf("making the annotation writer's client: %w", err)
	}
	w := annotation.NewWriter(client, s.store, s.options.AnnotationBytes, clock.RealClock{})
	s.annotations = w
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), s.options.Logger))
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	unsubscribe := s.store.Subscribe(w.Note)
	s.onStop(func(context.Context) error {
		unsubscribe()
		cancel()
		running.Wait()
		return nil
	})
	return nil
}

// setStatus says how far the simulator has come, and publishes it.
func (s *simulator) setStatus(phase server.Phase, message string) {
	s.mu.Lock()
	s.phase, s.message = phase, message
	s.mu.Unlock()
	s.publish()
}

// operation is what is done to the whole cluster: one that nothing else may happen
// beside or, without one, a replay that plays.
func (s *simulator) operation() *server.Operation {
	if o := s.operations.status(); o != nil {
		return o
	}
	if o := s.replays.operation(); o != nil {
		return o
	}
	_, first := s.following.status()
	return first
}

// publish tells the server what the simulator and its scheduler are doing.
func (s *simulator) publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := server.Status{
		Ready: s.phase == server.Running, Phase: s.phase, Message: s.message,
		Scheduler: server.SchedulerStatus{Phase: s.phase, Message: s.message},
		Operation: s.operation(), Replay: s.replays.current() != nil,
	}
	if s.scheduler != nil {
		state := s.scheduler.State()
		status.Scheduler.Profiles, status.Scheduler.Revision = state.Profiles, state.Revision
		if state.Swapping && s.phase == server.Running {
			status.Ready = false
			status.Scheduler.Phase, status.Scheduler.Message = server.Starting, "another configuration takes over"
		}
		if state.Warning != "" {
			status.Warnings = append(status.Warnings, state.Warning)
		}
	}
	if s.external != nil {
		status.ControlPlane = server.External
		state := s.external.State()
		status.Warnings = append(status.Warnings, state.Warnings...)
		if state.Unreachable != "" && s.phase == server.Running {
			status.Ready, status.Message = false, state.Unreachable
		}
	}
	if ok, why := s.store.Health(); !ok {
		status.Warnings = append(status.Warnings, why)
	}
	status.Sync, _ = s.following.status()
	status.Warnings = append(status.Warnings, s.following.warnings()...)
	s.web.SetStatus(status)
}

// healthEvery is how soon a warning shows, and how soon it goes.
const healthEvery = time.Second

// watchHealth keeps the status's warnings and the revisions' counts up to date.
func (s *simulator) watchHealth() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		wait.UntilWithContext(ctx, func(context.Context) {
			s.scheduler.Save()
			s.publish()
		}, healthEvery)
	})
	s.onStop(func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
}

// configuration answers the server's questions for the scheduler's.
type configuration struct{ *supervisor.Scheduler }

var _ server.Configuration = configuration{}

// Current returns the user's document.
func (c configuration) Current() ([]byte, error) {
	current := c.Configuration()
	if current == nil {
		return nil, config.ErrNotRunning
	}
	return current.YAML, nil
}

// Default returns Kubernetes' default, written out.
func (c configuration) Default() ([]byte, error) {
	standard, err := config.Default()
	if err != nil {
		return nil, err
	}
	return standard.YAML, nil
}
