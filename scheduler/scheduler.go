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
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/recorder"
)

// Options say what to run. The zero value of a field means its default.
type Options struct {
	// Client reaches the API server. It is required, unless Clients are given.
	Client *rest.Config
	// Clients are used instead of clients made from Client.
	Clients *Clients
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

// Clients are what a scheduler talks to the API server with.
type Clients struct {
	Kubernetes kubernetes.Interface
	Dynamic    dynamic.Interface
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
func (s *Scheduler) Start(ctx context.Context) (err error) {
	runCtx, cancel := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), klog.FromContext(ctx)))
	s.cancel = cancel
	defer func() {
		if err != nil {
			_ = s.Stop(ctx)
		}
	}()

	clients := s.options.Clients
	if clients == nil {
		if clients, err = newClients(s.options.Client); err != nil {
			return err
		}
	}

	informerFactory := upstream.NewInformerFactory(clients.Kubernetes, 0, nil)
	if err := s.shapePods(informerFactory); err != nil {
		return err
	}
	dynamicInformers := dynamicinformer.NewFilteredDynamicSharedInformerFactory(clients.Dynamic, 0, v1.NamespaceAll, nil)

	broadcaster := events.NewEventBroadcasterAdapter(clients.Kubernetes)
	broadcaster.StartRecordingToSink(runCtx.Done())
	s.stop = append(s.stop, broadcaster.Shutdown)

	b := builder{
		client: clients.Kubernetes, clientConfig: s.options.Client, informers: informerFactory, dynamicInformers: dynamicInformers,
		events: broadcaster.NewRecorder, configuration: s.options.Configuration.DeepCopy(), outOfTree: s.options.OutOfTree, own: s.own,
	}
	var sched *upstream.Scheduler
	if s.recorder == nil {
		sched, err = b.bare(runCtx)
	} else {
		sched, err = b.recorded(runCtx, s.recorder)
		s.recorder.Start()
	}
	if err != nil {
		return fmt.Errorf("building the scheduler: %w", err)
	}

	s.stop = append(s.stop, informerFactory.Shutdown, dynamicInformers.Shutdown)
	informerFactory.Start(runCtx.Done())
	dynamicInformers.Start(runCtx.Done())
	syncCtx, cancelSync := context.WithCancel(ctx)
	defer cancelSync()
	informerFactory.WaitForCacheSync(syncCtx.Done())
	dynamicInformers.WaitForCacheSync(syncCtx.Done())
	if err := sched.WaitForHandlersSync(syncCtx); err != nil {
		return fmt.Errorf("waiting until the scheduler knows the cluster: %w", err)
	}

	s.running.Add(1)
	go func() {
		defer s.running.Done()
		sched.Run(runCtx)
	}()
	return nil
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

func newClients(config *rest.Config) (*Clients, error) {
	config = rest.AddUserAgent(rest.CopyConfig(config), "kube-scheduler")
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the scheduler's client: %w", err)
	}
	// The dynamic client is for kinds that have no protobuf.
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the scheduler's dynamic client: %w", err)
	}
	return &Clients{Kubernetes: client, Dynamic: dynamicClient}, nil
}
