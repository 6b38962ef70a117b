// Package scheduler runs the real kube-scheduler in this process, with every
// plugin recorded. It is usable as a library and knows nothing of the simulator
// around it.
//
// It may import the Kubernetes scheduler and the packages below it.
package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// Options say what to run. The zero value of a field means its default.
type Options struct {
	// Client reaches the API server. It is required.
	Client *rest.Config
	// Configuration is defaulted and validated; see package config. It is
	// required, and copied.
	Configuration *config.KubeSchedulerConfiguration
	// Sink receives the finished cycles. Without one the scheduler runs bare,
	// as upstream builds it, for comparison.
	Sink recorder.Sink
	// Revision numbers the configuration; the cycles of this scheduler carry it.
	Revision int
	// OutOfTree are plugins beside those of Kubernetes.
	OutOfTree frameworkruntime.Registry
	// Clock is the recorder's; time.Now by default.
	Clock func() time.Time
	// TieSeed decides among nodes that share the best total, and makes the search
	// for nodes go through them one by one, so that a second run that does the
	// same in the same order decides the same; see seededTies for what it does
	// not cover. nil leaves it to chance, as Kubernetes does.
	TieSeed *int64
}

// Scheduler is one kube-scheduler. It starts and stops once. Its methods are
// called from one goroutine, but for those that say otherwise.
type Scheduler struct {
	options  Options
	recorder *recorder.Recorder // nil when bare
	own      *ownUpdates
	bindings *bindings
	known    *known
	turns    turns

	// sched and the listers are there once Prepare has succeeded.
	sched  *upstream.Scheduler
	pods   corelisters.PodLister
	claims corelisters.PersistentVolumeClaimLister

	runCtx  context.Context
	cancel  context.CancelFunc
	ran     bool
	running sync.WaitGroup
	stop    []func()
}

// New returns a scheduler that is not running. It does no I/O.
func New(options Options) *Scheduler {
	s := &Scheduler{options: options, own: newOwnUpdates(), known: newKnown()}
	if options.Sink != nil {
		s.bindings = newBindings()
		s.recorder = recorder.New(&sink{Sink: options.Sink, revision: options.Revision, bindings: s.bindings, known: s.known}, options.Clock)
	}
	return s
}

// Start is Prepare and Run.
func (s *Scheduler) Start(ctx context.Context) error { return s.start(ctx, hooks{}) }

// Prepare builds the scheduler and waits until it knows the cluster. It schedules
// nothing yet, so that another may still do so. ctx bounds Prepare only. After an
// error nothing is left running.
func (s *Scheduler) Prepare(ctx context.Context) error { return s.prepare(ctx, hooks{}) }

// hooks are where a test looks at a scheduler while it starts.
type hooks struct {
	// events takes the place of the recorders that write to the API server.
	events func(name string) events.EventRecorderLogger
	// built gets the scheduler before the informers start.
	built func(*upstream.Scheduler)
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

func (s *Scheduler) prepare(ctx context.Context, h hooks) (err error) {
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
	informerFactory := upstream.NewInformerFactory(client, 0, nil)
	if err := s.shapePods(informerFactory); err != nil {
		return err
	}
	dynamicInformers := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
	if h.events == nil {
		broadcaster := events.NewEventBroadcasterAdapter(client)
		broadcaster.StartRecordingToSink(s.runCtx.Done())
		s.stop = append(s.stop, broadcaster.Shutdown)
		h.events = broadcaster.NewRecorder
	}

	configuration := s.options.Configuration.DeepCopy()
	if s.options.TieSeed != nil {
		configuration.Parallelism = seededParallelism
	}
	sched, err := s.build(s.runCtx, builder{
		client: client, clientConfig: s.options.Client, informers: informerFactory, dynamicInformers: dynamicInformers,
		events: h.events, configuration: configuration, outOfTree: s.options.OutOfTree, own: s.own,
		known: s.known, tieSeed: s.options.TieSeed,
	})
	if err != nil {
		return &BuildError{Err: err}
	}
	s.sched = sched
	if h.built != nil {
		h.built(sched)
	}

	s.stop = append(s.stop, informerFactory.Shutdown, dynamicInformers.Shutdown)
	informerFactory.Start(s.runCtx.Done())
	dynamicInformers.Start(s.runCtx.Done())
	informerFactory.WaitForCacheSync(ctx.Done())
	dynamicInformers.WaitForCacheSync(ctx.Done())
	if h.synced != nil {
		h.synced()
	}
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		return fmt.Errorf("waiting until the scheduler knows the cluster: %w", err)
	}
	return nil
}

// Run begins to schedule, after Prepare, and returns at once.
func (s *Scheduler) Run() {
	s.ran = true
	s.running.Go(func() {
		s.sched.Run(s.runCtx)
		rejectWaiting(s.sched)
	})
}

// rejectWaiting ends the binding cycles of pods that wait for a permit: they do
// not heed the end of the scheduler by themselves.
func rejectWaiting(sched *upstream.Scheduler) {
	for _, f := range sched.Profiles {
		f.IterateOverWaitingPods(func(p fwk.WaitingPod) { p.Reject("", "the scheduler stops") })
	}
}

// Plugins returns the plugins of each profile as its framework has them, by
// scheduler name: every extension point with its plugins in the order in which
// they are called, with their weights. It may be called from any goroutine once
// Prepare has succeeded.
func (s *Scheduler) Plugins() map[string]*config.Plugins {
	out := make(map[string]*config.Plugins, len(s.sched.Profiles))
	for name, f := range s.sched.Profiles {
		out[name] = f.ListPlugins()
	}
	return out
}

// BuildError says that a scheduler cannot be built as it is configured.
type BuildError struct{ Err error }

func (e *BuildError) Error() string { return "building the scheduler: " + e.Err.Error() }

func (e *BuildError) Unwrap() error { return e.Err }

func (s *Scheduler) build(ctx context.Context, b builder) (sched *upstream.Scheduler, err error) {
	defer func() {
		// Plugins of others may not be ready for every argument.
		if r := recover(); r != nil {
			err = fmt.Errorf("a plugin panicked: %v", r)
		}
	}()
	// The recorder stops with the scheduler, also when that could not be built.
	if s.recorder == nil {
		return b.bare(ctx)
	}
	s.recorder.Start()
	if sched, err = b.recorded(ctx, s.recorder); err != nil {
		return nil, err
	}
	s.turns.gate(sched, ctx.Done())
	return sched, nil
}

// shapePods keeps what the scheduler need not see out of its pod informer: the
// managed fields, as upstream does, and our own annotations, which must not
// bring a pod back into the queue.
func (s *Scheduler) shapePods(f informers.SharedInformerFactory) error {
	informer := f.Core().V1().Pods().Informer()
	if s.recorder == nil {
		return nil
	}
	err := informer.SetTransform(func(obj any) (any, error) {
		if pod, ok := obj.(*v1.Pod); ok {
			s.own.observe(pod)
			pod.ManagedFields = nil
			annotation.Strip(pod)
		}
		return obj, nil
	})
	if err != nil {
		return fmt.Errorf("shaping the scheduler's pods: %w", err)
	}
	s.pods, s.claims = f.Core().V1().Pods().Lister(), f.Core().V1().PersistentVolumeClaims().Lister()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			if pod, ok := obj.(*v1.Pod); ok && pod.Spec.NodeName != "" {
				s.bindings.seen(pod.UID)
			}
		},
		DeleteFunc: func(obj any) {
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			if pod, ok := obj.(*v1.Pod); ok {
				s.recorder.Forget(pod.UID)
				s.own.forget(pod.UID)
				s.bindings.seen(pod.UID)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watching the scheduler's pods: %w", err)
	}
	s.bindings.bound = func(pod result.Pod) bool {
		known, err := s.pods.Pods(pod.Namespace).Get(pod.Name)
		return err != nil || known.UID != pod.UID || known.Spec.NodeName != ""
	}
	return nil
}

// drainTimeout is how long Stop lets cycles finish that have begun. What takes
// longer, such as a claim that waits for its volume, is cut and rolled back.
const drainTimeout = time.Second

// Stop lets the cycles finish that have begun, within a second, ends the
// scheduler in the reverse order of its start and waits for it, no longer than
// ctx allows. It does nothing when the scheduler is not running.
func (s *Scheduler) Stop(ctx context.Context) error {
	if s.cancel == nil {
		return nil
	}
	if s.ran && s.recorder != nil {
		drainCtx, cancel := context.WithTimeout(ctx, drainTimeout)
		_ = s.drain(drainCtx) // what is left over is cut
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

// drain takes no more pods and waits until no cycle is under way.
func (s *Scheduler) drain(ctx context.Context) error {
	s.turns.close()
	return wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(context.Context) (bool, error) {
		if s.turns.underWay() {
			return false, nil
		}
		rejectWaiting(s.sched)
		return s.recorder.Idle(), nil
	})
}

// end waits for what was told to end.
func (s *Scheduler) end(ctx context.Context) (err error) {
	s.running.Wait()
	switch {
	case s.ran && s.recorder != nil:
		err = s.drain(ctx) // binding cycles that were cut roll back
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

// emptyQueue takes the pods that were left off the queue's gauges, which all
// schedulers of the process share: its successor has counted them too. Nothing is
// added any more when it is called.
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
	// The dynamic client is for kinds that have no protobuf.
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making the scheduler's dynamic client: %w", err)
	}
	return client, dynamicClient, nil
}
