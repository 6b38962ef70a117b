// Package app puts the simulator together: control plane, recorded scheduler, results, annotations,
// replay, mirror and web server. It starts and stops them in order, lets one operation at a time
// act on the whole cluster, and resets it.
//
// It is the composition root: it may import every package that it assembles, from simulator/,
// scheduler/ and web. Only the command line imports it.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/scheduler/sharedpods"
	"kube-scheduler-simulator/scheduler/supervisor"
	"kube-scheduler-simulator/simulator/batch/kueue/visibility"
	"kube-scheduler-simulator/simulator/batch/operators"
	"kube-scheduler-simulator/simulator/batch/sessions"
	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/cluster/controlplane/external"
	"kube-scheduler-simulator/simulator/cluster/definitions"
	"kube-scheduler-simulator/simulator/cluster/virtualnode"
	"kube-scheduler-simulator/simulator/elsewhere/mirror/following"
	"kube-scheduler-simulator/simulator/elsewhere/redact"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/host/version"
	"kube-scheduler-simulator/simulator/lesson"
	"kube-scheduler-simulator/simulator/past/branch"
	"kube-scheduler-simulator/simulator/past/playback"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/scenarios/runs"
	"kube-scheduler-simulator/simulator/server"
	"kube-scheduler-simulator/web"
)

// Run runs a simulator until ctx is done or a part fails. Once everything is up it writes one line
// to out, which begins with "ready: ". It returns the errors of stopping after ctx is done, and
// otherwise only the error of the start or of the part.
func Run(ctx context.Context, options Options, out io.Writer) error {
	s, err := newSimulator(ctx, options)
	if err != nil {
		return err
	}
	return s.run(ctx, out)
}

// newSimulator starts nothing. run releases what it holds.
func newSimulator(ctx context.Context, options Options) (*simulator, error) {
	p, err := options.prepare(ctx)
	if err != nil {
		return nil, err
	}
	s := &simulator{options: options, prepared: p, feed: scheduler.NewFeed(), failed: make(chan error, 1)}
	s.operations.Changed = s.publish
	s.store = resultstore.New(resultstore.Options{
		MemoryBytes: options.ResultsMemory,
		DiskBytes:   options.ResultsDisk,
		Dir:         s.resultsDir(),
		Durable:     !p.temporary,
		Logger:      options.Logger,
	})
	s.redactor = redact.New(nil)
	s.queueing = s.newQueueing()
	s.autoscaler = s.newAutoscaler()
	s.inactive = s.newInactive()
	s.replays = s.newReplays()
	s.following = s.newFollowing()
	s.timeline = s.newTimeline()
	s.onStopOf("removing files", keptForFiles, func(ctx context.Context) error { return ends(ctx, p.close) })
	return s, nil
}

func (s *simulator) run(ctx context.Context, out io.Writer) error {
	started := make(chan error, 1)
	go func() { started <- s.start(ctx) }()
	var err error
	select {
	case err = <-started:
	case <-ctx.Done():
		return s.startStopped(started)
	}
	if err == nil {
		fmt.Fprintf(out, "ready: %s kubeconfig %s\n", s.prepared.address(), s.controlPlane.Kubeconfig())
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
	stopped := s.stop(time.Now().Add(s.stopTimeout()))
	if err != nil {
		return err // the cause, without what follows from it
	}
	return stopped
}

// controlPlane is the cluster's control plane, our own or an external one.
type controlPlane interface {
	// ClientConfig has administrator rights.
	ClientConfig() *rest.Config
	// Kubeconfig is a path, for other programs.
	Kubeconfig() string
	// Done is closed when the control plane ends without being stopped; Err says why.
	Done() <-chan struct{}
	Err() error
}

type simulator struct {
	options  Options
	prepared *prepared
	store    *resultstore.Store

	web          *server.Server
	controlPlane controlPlane
	// embedded is our own control plane, external another one. One of them is nil.
	embedded   *controlplane.ControlPlane
	external   *external.ControlPlane
	nodes      atomic.Pointer[virtualnode.Nodes] // nil when there are none
	queueing   *queueing
	autoscaler *autoscaler
	// operators is nil while their controllers stay out.
	operators atomic.Pointer[operators.Operators]
	scheduler *supervisor.Scheduler
	feed      *scheduler.Feed
	// The informers of the scheduler and of the controllers share these pods.
	sharedPods sharedpods.Pool
	hypotheses *hypotheses
	sessions   *sessions.Service
	runs       *runs.Runs
	upgrades   versionsAsked
	// branches is nil in a branch.
	branches  *branch.Branches
	classroom *lesson.Classroom
	// queues counts events since the latest reset.
	queues     scheduler.QueueReader
	operations operation.Turns
	// annotations is nil when no annotations are written.
	annotations *annotation.Writer
	replays     *playback.Session
	following   *following.Following
	transfers   *transfer.Cluster
	// redactor replaces names alike in everything that this program hands on.
	redactor    *redact.Redactor
	inactive    *inactive
	definitions *definitions.Cluster
	timeline    *timeline.Timeline
	// While held, a reset keeps all writes out, those of definitions too.
	held atomic.Bool

	// interrupted describes an import that did not end; nil if there was none.
	interrupted atomic.Pointer[string]
	// emptied: the running import has emptied the cluster.
	emptied atomic.Bool

	mu      sync.Mutex // guards phase and message
	phase   server.Phase
	message string

	failed chan error
	undo   []step

	// inventory is the data directory's at the start; nil when it had none.
	inventory *datadir.Inventory
	// started identifies this start; empty before the inventory is written.
	started string
}

// start starts the web server first. Each step adds its own undo.
func (s *simulator) start(ctx context.Context) error {
	s.serve()
	s.setStatus(server.Starting, "the control plane is starting")

	if err := s.checkInventory(ctx); err != nil {
		return err
	}
	if err := s.checkKept(ctx); err != nil {
		return err
	}
	if err := s.openBranches(); err != nil {
		return err
	}
	if err := s.startControlPlane(ctx); err != nil {
		return err
	}
	var err error
	if s.definitions, err = definitions.NewCluster(s.controlPlane.ClientConfig()); err != nil {
		return err
	}
	if err := s.mayReplay(); err != nil {
		return err
	}
	if err := s.findInterrupted(); err != nil {
		return err
	}
	s.timeline.Start()
	s.onStopOf("the time line", keptForTimeline, s.timeline.Stop)
	if err := s.store.Start(ctx); err != nil {
		return fmt.Errorf("opening the results: %w", advised(err))
	}
	s.onStopOf("writing the last results", keptForResults, s.store.Stop)
	if err := s.runNodes(ctx); err != nil {
		return err
	}
	s.onStopOf("the virtual nodes", 0, s.stopNodes)
	if err := s.runOperators(ctx); err != nil {
		return err
	}
	s.onStopOf("the controllers of jobs", 0, s.stopOperators)
	if err := s.startQueues(ctx); err != nil {
		return err
	}
	if err := s.startKarpenter(ctx); err != nil {
		return err
	}
	s.startExampleExtender()

	paused, err := s.watchCrashes()
	if err != nil {
		return err
	}
	// Before the scheduler, so that it ends after it and learns of every result.
	write, err := s.annotate()
	if err != nil {
		return err
	}
	s.setStatus(server.Starting, "the scheduler is starting")
	s.scheduler = supervisor.New(supervisor.Options{
		Client:     s.controlPlane.ClientConfig(),
		Sink:       s.store,
		Feed:       s.feed,
		SharedPods: &s.sharedPods,
		OutOfTree:  s.prepared.registry,
		Parse:      s.parse,
		Initial:    s.prepared.configuration,
		Paused:     paused,
		TieSeed:    s.options.TieSeed,
		Dir:        s.configurationDir(),
		Logger:     s.options.Logger,
		Prepare:    s.installNeeded,
		Running:    s.tidyDefinitions,
		Changed:    s.configurationChanged,
	})
	if err := s.scheduler.Start(ctx); err != nil {
		return fmt.Errorf("starting the scheduler: %w", advised(err))
	}
	s.onStopOf("the scheduler", keptForScheduler, s.within(schedulerShare, s.scheduler.Stop))
	s.keepInventory()
	s.startRuns()
	s.startUpgrades()
	if err := s.startSessions(ctx); err != nil {
		return err
	}
	if err := s.startHypotheses(ctx); err != nil {
		return fmt.Errorf("preparing answers to hypotheses: %w", err)
	}
	if err := s.startLessons(); err != nil {
		return fmt.Errorf("preparing the lessons: %w", err)
	}

	s.transfers = s.newTransfers()
	s.inactive.recount(ctx)
	s.onStopOf("an import or a reset", 0, s.operations.Close)
	if err := s.web.SetBackend(s.backend()); err != nil {
		return fmt.Errorf("attaching the web server: %w", err)
	}
	if err := s.importAtStart(ctx); err != nil {
		return err
	}
	s.setStatus(server.Running, "")
	write()
	s.onStopOf("the replay", 0, s.replays.Stop)
	if err := s.startReplay(ctx); err != nil {
		return err
	}
	s.watchHealth()
	s.returnMemory()
	s.onStopOf("reading from another cluster", 0, s.following.Stop)
	if err := s.following.Start(); err != nil {
		return err
	}
	s.onStopOf("answering requests", 0, s.quiesce)
	return nil
}

// quiesce is the first step of a stop: from then on no request acts on what the next steps stop.
func (s *simulator) quiesce(ctx context.Context) error {
	s.setStatus(server.Stopping, "the simulator is stopping")
	s.operations.Cancel()
	if s.branches != nil {
		s.branches.Quit()
	}
	ctx, cancel := context.WithTimeout(ctx, quiesceTimeout)
	defer cancel()
	s.web.Quiesce(ctx)
	return nil
}

func (s *simulator) backend() server.Backend {
	b := server.Backend{
		ClientConfig:  s.controlPlane.ClientConfig(),
		Results:       s.store,
		Configuration: configuration{s.scheduler},
		Replay:        s.replays,
		Transfer:      exclusiveTransfer{Cluster: s.transfers, simulator: s},
		Placements:    s.placements(),
		Inactive:      s.inactive,
		Definitions:   userDefinitions{s.definitions, s},
		FeatureGates:  process.Gates(),

		PreEnqueueRejections: s.scheduler.PreEnqueueRejections,
		Waiting:              s.scheduler.Waiting,
		TryNow:               s.scheduler.TryNow,
		Queues:               s.queues.Queues,

		Kueue:      s.queueing,
		Karpenter:  s.autoscaler,
		Hypotheses: s.hypotheses.doors,
		Shadow:     s.hypotheses,
		Sessions:   s.sessions,
		Runs:       s.runs,
		Upgrades:   s.upgrades,
		Agents:     s.agents(),
		Play:       s.play,
		Lessons:    s.classroom,
		Redactor:   s.redactor,
		Timeline:   s.timeline,
	}
	if s.branches != nil {
		b.Branches = s.comparedBranches()
	}
	if s.embedded != nil {
		b.ClientConfig = s.embedded.UserClientConfig()
		b.Reset = s.resetByUser
	}
	return b
}

func (s *simulator) startControlPlane(ctx context.Context) error {
	if s.options.Kubeconfig != "" {
		return s.connect(ctx)
	}
	s.embedded = controlplane.New(controlplane.Options{
		DataDir:      s.prepared.dataDir,
		Etcd:         s.options.Etcd,
		Durable:      !s.prepared.temporary,
		Controllers:  s.options.Controllers,
		VirtualNodes: !s.options.NoVirtualNodes,
		RegisterNode: s.registerNode,
		SharedPods:   &s.sharedPods,

		DefaultStorageClass: true,
		Outbound:            s.options.Outbound,
		Version:             version.Get().Kubernetes,
		Handlers:            map[string]http.Handler{visibility.Prefix: s.visibility()},
		Webhooks:            s.queueing.webhooks(),
		EtcdChecked:         s.inventory.Describes(s.lastStart()),
		UserWrote:           s.userWrote,
		Logger:              s.options.Logger,
	})
	s.controlPlane = s.embedded
	if err := s.embedded.Start(ctx); err != nil {
		return fmt.Errorf("starting the control plane: %w", err)
	}
	s.onStopOf("the control plane", keptForControlPlane, s.embedded.Stop)
	return s.finishReset(ctx)
}

func (s *simulator) runNodes(ctx context.Context) error {
	if s.embedded == nil || s.options.NoVirtualNodes || s.replays.Exclusive() {
		s.nodes.Store(nil)
		return nil
	}
	nodes := virtualnode.New(virtualnode.Options{
		ClientConfig: s.embedded.ClientConfig(),
		Informers:    s.embedded.Informers(),
		Stages:       s.prepared.stages,
		Devices:      s.prepared.devices,
		NUMA:         s.prepared.numa,
	})
	s.nodes.Store(nodes)
	if err := nodes.Start(ctx); err != nil {
		return fmt.Errorf("starting the virtual nodes: %w", err)
	}
	return nil
}

func (s *simulator) stopNodes(ctx context.Context) error {
	if nodes := s.nodes.Load(); nodes != nil {
		return nodes.Stop(ctx)
	}
	return nil
}

func (s *simulator) registerNode(node metav1.Object) *corev1.NodeCondition {
	if nodes := s.nodes.Load(); nodes != nil {
		return nodes.Register(node)
	}
	return nil
}

// returnMemory returns the memory that only the start needed to the operating system, once. An idle
// simulator would otherwise keep it for a long time.
func (s *simulator) returnMemory() {
	timer := time.AfterFunc(settleTime, debug.FreeOSMemory)
	s.onStopOf("returning memory", 0, func(ctx context.Context) error { return within(ctx, func() { timer.Stop() }) })
}

// settleTime is how long background work continues after the start.
const settleTime = 3 * time.Second

// serve starts the web server. Routes that need the control plane answer that it is starting until
// the backend is set.
func (s *simulator) serve() {
	s.web = server.New(server.Options{
		Token:   s.prepared.token,
		Assets:  web.FS(),
		Logger:  s.options.Logger,
		Version: process.Kubernetes(), Emulated: process.Emulated(), Emulatable: process.Emulatable(),
		Gatherer: legacyregistry.DefaultGatherer,
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.web.Serve(s.prepared.listener); err != nil {
			s.failed <- fmt.Errorf("serving the web: %w", err)
		}
	}()
	s.onStopOf("the web server", keptForWeb, func(ctx context.Context) error {
		err := s.web.Shutdown(ctx)
		return errors.Join(err, within(ctx, func() { <-done }))
	})
}

func (s *simulator) parse(document []byte) (*config.Configuration, error) {
	return parseConfiguration(document, s.prepared.registry, s.options.Outbound)
}

func (s *simulator) setStatus(phase server.Phase, message string) {
	s.mu.Lock()
	s.phase, s.message = phase, message
	s.mu.Unlock()
	s.publish()
}

// operation returns an exclusive operation, else a replay that is playing, else the first round of
// a mirror, else nil.
func (s *simulator) operation() *operation.Status {
	if o := s.operations.Status(); o != nil {
		return o
	}
	if o := s.replays.Operation(); o != nil {
		return o
	}
	_, first := s.following.Status()
	return first
}

func (s *simulator) publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := server.Status{
		Ready: s.phase == server.Running, Phase: s.phase, Message: s.message,
		Scheduler: server.SchedulerStatus{Phase: s.phase, Message: s.message},
		Operation: s.operation(), Replay: s.replays.Loaded(), Inactive: s.inactive.counted(),
	}
	if s.scheduler != nil {
		state := s.scheduler.State()
		status.Scheduler.Profiles, status.Scheduler.Revision = state.Profiles, state.Revision
		if state.Swapping && s.phase == server.Running {
			status.Ready = false
			status.Scheduler.Phase, status.Scheduler.Message = server.Starting, "a new configuration is being applied"
		}
		if state.Paused != "" && s.phase == server.Running {
			status.Ready = false
			status.Scheduler.Phase, status.Scheduler.Message = server.Paused, state.Paused
			status.Warnings = append(status.Warnings, state.Paused)
		}
		status.Warnings = append(status.Warnings, state.Warnings...)
	}
	if s.external != nil {
		status.ControlPlane = server.External
		state := s.external.State()
		status.Warnings = append(status.Warnings, state.Warnings...)
		if state.Unreachable != "" && s.phase == server.Running {
			status.Ready, status.Message = false, state.Unreachable
		}
	}
	if s.embedded != nil {
		if full := s.embedded.StorageWarning(); full != "" {
			status.Warnings = append(status.Warnings, full)
		}
	}
	if ok, why := s.store.Health(); !ok {
		status.Warnings = append(status.Warnings, why)
	}
	if why := s.interrupted.Load(); why != nil {
		status.Warnings = append(status.Warnings, *why)
	}
	status.Warnings = append(status.Warnings, process.Troubles()...)
	status.Warnings = append(status.Warnings, s.timeline.Warnings()...)
	status.Sync, _ = s.following.Status()
	status.Warnings = append(status.Warnings, s.following.Warnings()...)
	s.web.SetStatus(status)
}

// healthInterval is how soon a warning appears and disappears.
const healthInterval = time.Second

func (s *simulator) watchHealth() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		save := loggingFailures(s.options.Logger, s.scheduler.Save)
		tellStorage := s.tellingStorage()
		wait.UntilWithContext(ctx, func(context.Context) {
			save()
			tellStorage()
			s.publish()
		}, healthInterval)
	})
	s.onStopOf("watching the health", 0, func(ctx context.Context) error {
		cancel()
		return within(ctx, running.Wait)
	})
}

// tellingStorage returns a function that logs when the storage of our own cluster becomes full, and
// when it has room again.
func (s *simulator) tellingStorage() func() {
	warned := false
	return func() {
		if s.embedded == nil {
			return
		}
		switch warning := s.embedded.StorageWarning(); {
		case warning != "" && !warned:
			s.options.Logger.Info("Warning: " + warning)
		case warning == "" && warned:
			s.options.Logger.Info("The storage of the cluster has room again")
		default:
			return
		}
		warned = !warned
	}
}

// loggingFailures logs only the first of consecutive failures, so that a lasting one does not fill
// the log.
func loggingFailures(log klog.Logger, save func() error) func() {
	failing := false
	return func() {
		err := save()
		if err != nil && !failing {
			log.Error(err, "Cannot save the revisions' counts")
		}
		failing = err != nil
	}
}

type configuration struct{ *supervisor.Scheduler }

var _ server.Configuration = configuration{}

func (c configuration) Current() ([]byte, error) {
	current := c.Configuration()
	if current == nil {
		return nil, config.ErrNotRunning
	}
	return current.YAML, nil
}

func (c configuration) Default() ([]byte, error) {
	standard, err := config.Default()
	if err != nil {
		return nil, err
	}
	return standard.YAML, nil
}

// runOperators starts the controllers of kinds of jobs that are not Kubernetes' own.
func (s *simulator) runOperators(ctx context.Context) error {
	s.operators.Store(nil)
	if s.embedded == nil || s.follows() || s.replays.Exclusive() {
		return nil
	}
	all := operators.New(operators.Options{ClientConfig: s.embedded.ClientConfig(), Logger: s.options.Logger})
	if err := all.Start(ctx); err != nil {
		return fmt.Errorf("starting the controllers of jobs: %w", err)
	}
	s.operators.Store(all)
	return nil
}

func (s *simulator) stopOperators(ctx context.Context) error {
	if all := s.operators.Load(); all != nil {
		return all.Stop(ctx)
	}
	return nil
}
