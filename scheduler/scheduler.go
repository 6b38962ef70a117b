// Package scheduler runs the real kube-scheduler in this process, with every
// plugin recorded. It is usable as a library and knows nothing of the simulator
// around it.
//
// It makes no scheduling decisions. Package internal/upstream plugs it into
// Kubernetes' scheduler, and package recorder records. It may import the Kubernetes
// scheduler and the packages below this one.
package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"kube-scheduler-simulator/scheduler/customresource"
	"kube-scheduler-simulator/scheduler/guard"
	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/recorder/comparison"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/sharedpods"
	"kube-scheduler-simulator/scheduler/tieseed"
)

// Options say what to run. The zero value of a field means its default.
type Options struct {
	// Client reaches the API server. It is required.
	Client *rest.Config
	// Configuration must be defaulted and validated; see package config. It is
	// required; New copies it.
	Configuration *config.KubeSchedulerConfiguration
	// Sink receives the finished cycles. Without one the scheduler runs bare,
	// as Kubernetes builds it, for comparison.
	Sink recorder.Sink
	// Revision numbers the configuration; the cycles of this scheduler carry it.
	Revision int
	// OutOfTree are plugins in addition to those of Kubernetes.
	OutOfTree frameworkruntime.Registry
	// Clock is the recorder's clock; time.Now by default.
	Clock func() time.Time
	// The recorder calls Panicked, from one goroutine, after a call of a plugin or an extender has
	// panicked for the first time; Panics then lists it. It may be nil.
	Panicked func()
	// TieSeed decides among nodes that share the best total, and makes one worker search the nodes
	// in their order. A second run with the same seed and the same operations in the same order
	// makes the same decisions, except in the cases that tieseed.Seed lists. nil leaves ties to
	// chance, as Kubernetes does.
	TieSeed *int64
	// Feed hands out the state of this scheduler while it runs. It requires a Sink, and may be nil.
	Feed *Feed
	// SharedPods lets the pod informer share pods with other informers of the same API server. It
	// requires a Sink, and may be nil.
	SharedPods *sharedpods.Pool
}

// Scheduler is one kube-scheduler. It starts and stops once. Call its methods from
// one goroutine, unless their comments say otherwise.
type Scheduler struct {
	options  Options
	recorder *recorder.Recorder // nil when bare
	own      *ownUpdates
	bindings *bindings
	seen     *seenObjects
	gate     upstream.Gate
	// tee is nil while the scheduler has no follower.
	tee atomic.Pointer[tee]

	// Build sets these. The listers are nil when bare.
	sched            *kubescheduler.Scheduler
	informers        informers.SharedInformerFactory
	dynamicInformers dynamicinformer.DynamicSharedInformerFactory
	pods             corelisters.PodLister
	claims           corelisters.PersistentVolumeClaimLister
	allocations      []allocation

	runCtx  context.Context
	cancel  context.CancelFunc
	ran     bool
	running sync.WaitGroup
	stop    []func()
}

// New returns a scheduler that is not running. It does no I/O.
func New(options Options) *Scheduler {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	s := &Scheduler{options: options, own: newOwnUpdates(), seen: newSeenObjects()}
	if options.Sink != nil {
		s.bindings = newBindings()
		s.recorder = recorder.New(&sink{Sink: options.Sink, revision: options.Revision, bindings: s.bindings, seen: s.seen}, comparison.InTree{}, options.Clock)
		if options.Panicked != nil {
			s.recorder.OnPanic(options.Panicked)
		}
	}
	return s
}

// Start is Prepare and Run.
func (s *Scheduler) Start(ctx context.Context) error { return s.start(ctx, hooks{}) }

// Build creates the scheduler and its plugins from the configuration. It makes no request to the
// API server, so it can check a configuration: Plugins then returns the plugins that would run. It
// returns a *BuildError for a configuration that cannot be built. After an error nothing is left
// running; otherwise call Stop. ctx provides the logger; cancelling it has no effect.
func (s *Scheduler) Build(ctx context.Context) error { return s.build(ctx, hooks{}) }

// Prepare calls Build and then waits until the scheduler knows the cluster. It schedules nothing
// yet, so another scheduler may still run. ctx bounds only Prepare. After an error nothing is left
// running.
func (s *Scheduler) Prepare(ctx context.Context) error { return s.prepare(ctx, hooks{}) }

// hooks let a test look at a scheduler while it starts.
type hooks struct {
	// events replaces the recorders that write to the API server.
	events func(name string) events.EventRecorderLogger
	// built gets the scheduler before the informers start.
	built func(*kubescheduler.Scheduler)
	// synced is called when the informers have listed.
	synced func()
}

func (s *Scheduler) start(ctx context.Context, h hooks) error {
	if err := s.prepare(ctx, h); err != nil {
		return err
	}
	s.Run()
	return nil
}

func (s *Scheduler) prepare(ctx context.Context, h hooks) error {
	if err := s.build(ctx, h); err != nil {
		return err
	}
	if err := s.sync(ctx, h); err != nil {
		_ = s.Stop(ctx)
		return err
	}
	return nil
}

func (s *Scheduler) build(ctx context.Context, h hooks) (err error) {
	s.runCtx, s.cancel = context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), klog.FromContext(ctx)))
	defer func() {
		if err != nil {
			_ = s.Stop(ctx)
		}
	}()

	client, dynamicClient, err := newClients(s.options.Client)
	if err != nil {
		return err
	}
	s.informers = kubescheduler.NewInformerFactory(client, 0, nil)
	if err := s.watchPods(s.informers); err != nil {
		return err
	}
	s.dynamicInformers = dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
	if h.events == nil {
		// Kubernetes' adapter would first ask the API server whether it serves
		// events.k8s.io; every supported version does.
		broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
		broadcaster.StartRecordingToSink(s.runCtx.Done())
		s.stop = append(s.stop, broadcaster.Shutdown)
		h.events = profile.NewRecorderFactory(broadcaster)
	}

	parts := upstream.Parts{
		Client: client, ClientConfig: s.options.Client, Informers: s.informers, DynamicInformers: s.dynamicInformers,
		Events: h.events, Configuration: s.options.Configuration.DeepCopy(), OutOfTree: s.options.OutOfTree,
	}
	if s.options.TieSeed != nil {
		parts.Configuration.Parallelism = tieseed.Parallelism
		parts.BreakTie = tieseed.Seed(*s.options.TieSeed).Choose
	}
	if s.sched, err = s.assemble(parts); err != nil {
		return &BuildError{Err: err}
	}
	if h.built != nil {
		h.built(s.sched)
	}
	return nil
}

// assemble turns panics into errors. One in a factory names the plugin; what a factory returned may
// also make Kubernetes panic later.
func (s *Scheduler) assemble(parts upstream.Parts) (sched *kubescheduler.Scheduler, err error) {
	guarded := guard.New("a plugin or the scheduler", func(*guard.Panic, *v1.Pod) {})
	defer guarded.Err("the build of the scheduler", nil, &err)
	if s.recorder == nil {
		return upstream.Build(s.runCtx, parts, nil, nil)
	}
	// Start the recorder even if the scheduler could not be built, because Stop
	// stops it.
	s.recorder.Start()
	return upstream.Build(s.runCtx, parts, &observer{Recorder: s.recorder, own: s.own, seen: s.seen, tee: &s.tee}, &s.gate)
}

func (s *Scheduler) sync(ctx context.Context, h hooks) error {
	s.stop = append(s.stop, s.informers.Shutdown, s.dynamicInformers.Shutdown)
	s.informers.Start(s.runCtx.Done())
	s.dynamicInformers.Start(s.runCtx.Done())
	s.informers.WaitForCacheSync(ctx.Done())
	s.dynamicInformers.WaitForCacheSync(ctx.Done())
	if h.synced != nil {
		h.synced()
	}
	if err := s.sched.WaitForHandlersSync(ctx); err != nil {
		return fmt.Errorf("waiting until the scheduler knows the cluster: %w", err)
	}
	return nil
}

// Run starts to schedule, after Prepare, and returns at once.
func (s *Scheduler) Run() {
	s.ran = true
	if s.recorder != nil {
		s.options.Feed.begin(s)
	}
	s.running.Go(func() {
		s.sched.Run(s.runCtx)
		rejectWaiting(s.sched)
	})
}

// rejectWaiting ends the binding cycles of pods that wait for a permit. They do not
// notice that the scheduler ends.
func rejectWaiting(sched *kubescheduler.Scheduler) {
	for _, f := range sched.Profiles {
		f.IterateOverWaitingPods(func(p fwk.WaitingPod) { p.Reject("", "the scheduler stops") })
	}
}

// Plugins returns the plugins of each profile's framework by scheduler name: every extension point
// with its plugins in calling order, with their weights. Any goroutine may call it once Build or
// Prepare has succeeded.
func (s *Scheduler) Plugins() map[string]*config.Plugins {
	out := make(map[string]*config.Plugins, len(s.sched.Profiles))
	for name, f := range s.sched.Profiles {
		out[name] = f.ListPlugins()
	}
	return out
}

// Panics returns the calls of plugins and extenders that panicked since Build, at most
// result.MaxPanics of them, by plugin and call. The scheduler treats each such call as failed and
// goes on. Any goroutine may call Panics. It returns nil for a bare scheduler.
func (s *Scheduler) Panics() []result.Panic {
	if s.recorder == nil {
		return nil
	}
	return s.recorder.Panics()
}

// BuildError says that a scheduler cannot be built with its configuration.
type BuildError struct{ Err error }

func (e *BuildError) Error() string { return "building the scheduler: " + e.Err.Error() }

func (e *BuildError) Unwrap() error { return e.Err }

// drainTimeout is how long Stop lets unfinished cycles run. It cancels longer ones, such as that of
// a claim that waits for its volume, and they roll back.
const drainTimeout = time.Second

// Stop lets unfinished cycles run for up to a second, then stops the scheduler in
// the reverse order of its start and waits for it, at most as long as ctx allows.
// It does nothing if the scheduler was not built.
func (s *Scheduler) Stop(ctx context.Context) error {
	if s.cancel == nil {
		return nil
	}
	s.options.Feed.end(s)
	if s.ran && s.recorder != nil {
		drainCtx, cancel := context.WithTimeout(ctx, drainTimeout)
		_ = s.drain(drainCtx) // the cycles that remain are cancelled below
		cancel()
	}
	s.cancel()
	s.cancel = nil
	stopped := make(chan error, 1)
	go func() { stopped <- s.end(ctx) }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
		return errors.Join(errors.New("the scheduler did not stop in time"), ctx.Err())
	}
}

func (s *Scheduler) drain(ctx context.Context) error {
	s.gate.Close()
	return wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(context.Context) (bool, error) {
		if s.gate.Busy() {
			return false, nil
		}
		rejectWaiting(s.sched)
		return s.recorder.Idle(), nil
	})
}

func (s *Scheduler) end(ctx context.Context) (err error) {
	s.running.Wait()
	switch {
	case s.ran && s.recorder != nil:
		err = s.drain(ctx) // cancelled binding cycles roll back
	case !s.ran && s.sched != nil:
		err = s.sched.Profiles.Close()
	}
	for i := len(s.stop) - 1; i >= 0; i-- {
		s.stop[i]()
	}
	if s.sched != nil {
		s.emptyQueue(klog.FromContext(ctx))
	}
	if s.recorder != nil {
		err = errors.Join(err, s.recorder.Stop(ctx))
	}
	return err
}

// emptyQueue removes leftover pods, which the process-wide queue gauges would otherwise count twice
// after a handover. Call it when nothing adds pods to the queue any more.
func (s *Scheduler) emptyQueue(logger klog.Logger) {
	queue := s.sched.SchedulingQueue
	pods, _ := queue.PendingPods()
	for _, pod := range pods {
		queue.Delete(logger, pod)
	}
}

func newClients(config *rest.Config) (kubernetes.Interface, dynamic.Interface, error) {
	config = rest.AddUserAgent(rest.CopyConfig(config), "kube-scheduler")
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making the scheduler's client: %w", err)
	}
	// Plugins register events of custom resources whose definition may be missing, and the
	// scheduler waits for all informers.
	dynamicClient, err := customresource.NewClient(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making the scheduler's dynamic client: %w", err)
	}
	return client, dynamicClient, nil
}
