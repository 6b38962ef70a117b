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
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
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
	// OutOfTree are plugins beside those of Kubernetes.
	OutOfTree frameworkruntime.Registry
	// Clock is the recorder's; time.Now by default.
	Clock func() time.Time
}

// Scheduler is one kube-scheduler. It starts and stops once.
type Scheduler struct {
	options  Options
	recorder *recorder.Recorder // nil when bare
	own      *ownUpdates

	cancel  context.CancelFunc
	running sync.WaitGroup
	stop    []func()
}

// New returns a scheduler that is not running. It does no I/O.
func New(options Options) *Scheduler {
	s := &Scheduler{options: options, own: newOwnUpdates()}
	if options.Sink != nil {
		s.recorder = recorder.New(options.Sink, options.Clock)
	}
	return s
}

// Start builds the scheduler, waits until it knows the cluster and begins to
// schedule. ctx bounds the start only. After an error nothing is left running.
func (s *Scheduler) Start(ctx context.Context) error { return s.start(ctx, hooks{}) }

// hooks are where a test looks at a scheduler while it starts.
type hooks struct {
	// events takes the place of the recorders that write to the API server.
	events func(name string) events.EventRecorderLogger
	// built gets the scheduler before the informers start.
	built func(*upstream.Scheduler)
	// synced is called when the informers have listed.
	synced func()
}

func (s *Scheduler) start(ctx context.Context, h hooks) (err error) {
	runCtx, cancel := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), klog.FromContext(ctx)))
	s.cancel = cancel
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
		broadcaster.StartRecordingToSink(runCtx.Done())
		s.stop = append(s.stop, broadcaster.Shutdown)
		h.events = broadcaster.NewRecorder
	}

	sched, err := s.build(runCtx, builder{
		client: client, clientConfig: s.options.Client, informers: informerFactory, dynamicInformers: dynamicInformers,
		events: h.events, configuration: s.options.Configuration.DeepCopy(), outOfTree: s.options.OutOfTree, own: s.own,
	})
	if err != nil {
		return fmt.Errorf("building the scheduler: %w", err)
	}
	if h.built != nil {
		h.built(sched)
	}

	s.stop = append(s.stop, informerFactory.Shutdown, dynamicInformers.Shutdown)
	informerFactory.Start(runCtx.Done())
	dynamicInformers.Start(runCtx.Done())
	informerFactory.WaitForCacheSync(ctx.Done())
	dynamicInformers.WaitForCacheSync(ctx.Done())
	if h.synced != nil {
		h.synced()
	}
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		return fmt.Errorf("waiting until the scheduler knows the cluster: %w", err)
	}
	s.running.Go(func() {
		sched.Run(runCtx)
		rejectWaiting(sched)
	})
	return nil
}

// rejectWaiting ends the binding cycles of pods that wait for a permit: they do
// not heed the end of the scheduler by themselves.
func rejectWaiting(sched *upstream.Scheduler) {
	for _, f := range sched.Profiles {
		f.IterateOverWaitingPods(func(p fwk.WaitingPod) { p.Reject("", "the scheduler stops") })
	}
}

func (s *Scheduler) build(ctx context.Context, b builder) (*upstream.Scheduler, error) {
	// The recorder stops with the scheduler, also when that could not be built.
	if s.recorder == nil {
		return b.bare(ctx)
	}
	s.recorder.Start()
	return b.recorded(ctx, s.recorder)
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
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = unknown.Obj
		}
		if pod, ok := obj.(*v1.Pod); ok {
			s.recorder.Forget(pod.UID)
			s.own.forget(pod.UID)
		}
	}})
	if err != nil {
		return fmt.Errorf("watching the scheduler's pods: %w", err)
	}
	return nil
}

// Stop ends the scheduler in the reverse order of its start and waits for it,
// no longer than ctx allows. It does nothing when the scheduler is not running.
func (s *Scheduler) Stop(ctx context.Context) error {
	if s.cancel == nil {
		return nil
	}
	s.cancel()
	s.cancel = nil
	stopped := make(chan error, 1)
	go func() {
		s.running.Wait()
		for i := len(s.stop) - 1; i >= 0; i-- {
			s.stop[i]()
		}
		var err error
		if s.recorder != nil {
			err = s.recorder.Stop(ctx)
		}
		stopped <- err
	}()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
		return errors.Join(errors.New("the scheduler did not stop in time"), ctx.Err())
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
