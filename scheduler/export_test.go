package scheduler

import (
	"context"
	"fmt"
	"testing/synctest"

	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	upstream "k8s.io/kubernetes/pkg/scheduler"
)

// StartObserved is Start with two differences, for tests: events go to the given
// recorders instead of the API server, and attach gets the scheduler before the
// informers start. It must be called in a bubble of testing/synctest.
func (s *Scheduler) StartObserved(ctx context.Context, recorders func(string) events.EventRecorderLogger, attach func(*upstream.Scheduler)) (err error) {
	runCtx, cancel := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), klog.FromContext(ctx)))
	s.cancel = cancel
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
	dynamicInformers := dynamicinformer.NewDynamicSharedInformerFactory(clients.Dynamic, 0)
	b := builder{
		client: clients.Kubernetes, clientConfig: s.options.Client, informers: informerFactory, dynamicInformers: dynamicInformers,
		events: recorders, configuration: s.options.Configuration.DeepCopy(), outOfTree: s.options.OutOfTree,
		own: s.own,
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
	attach(sched)

	s.stop = append(s.stop, informerFactory.Shutdown, dynamicInformers.Shutdown)
	informerFactory.Start(runCtx.Done())
	dynamicInformers.Start(runCtx.Done())
	informerFactory.WaitForCacheSync(ctx.Done())
	dynamicInformers.WaitForCacheSync(ctx.Done())
	// The handlers are asked every 100 ms; the first time when all have done.
	synctest.Wait()
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		return err
	}
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		sched.Run(runCtx)
	}()
	return nil
}
