package controllers

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/dynamic"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	"kube-scheduler-simulator/scheduler/customresource"
)

var definitionResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// customKind runs a controller of a custom kind while the cluster has the definition of the kind.
type customKind struct {
	// name is that of the definition.
	name        string
	definitions cache.SharedIndexInformer
	changed     chan struct{}
	// control runs the controller until ctx ends.
	control func(ctx context.Context)
}

// newCustomKind follows the definitions, whose informer does not run yet.
func newCustomKind(definitions cache.SharedIndexInformer, kind schema.GroupVersionResource, control func(context.Context)) (*customKind, error) {
	k := &customKind{name: kind.Resource + "." + kind.Group, definitions: definitions, changed: make(chan struct{}, 1), control: control}
	note := func(any) {
		select {
		case k.changed <- struct{}{}:
		default:
		}
	}
	_, err := definitions.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, DeleteFunc: note})
	return k, err
}

// run returns when ctx has ended and the controller has returned.
func (k *customKind) run(ctx context.Context) {
	stop := func() {}
	defer func() { stop() }()
	for running := false; ; {
		_, exists, err := k.definitions.GetStore().GetByKey(k.name)
		switch {
		case err != nil || exists == running:
		case exists:
			controlled, cancel := context.WithCancel(ctx)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				k.control(controlled)
			}()
			stop = func() {
				cancel()
				<-ended
			}
			running = true
		default:
			stop()
			stop, running = func() {}, false
		}
		select {
		case <-k.changed:
		case <-ctx.Done():
			return
		}
	}
}

// statusOfPods keeps the status of the objects of a custom kind, of the Go type T, which follows from
// pods.
type statusOfPods[T any, P customresource.Object[T]] struct {
	name   string
	client dynamic.NamespaceableResourceInterface
	pods   coreinformers.PodInformer
	// keyOf returns the key to reconcile when a pod changes; empty if there is none.
	keyOf func(*corev1.Pod) string
	// reconcile gets such a key, or that of an object.
	reconcile func(ctx context.Context, objects cache.SharedIndexInformer, key string) error
}

// control is the control of a customKind.
func (c *statusOfPods[T, P]) control(ctx context.Context) {
	objects := customresource.NewInformer[T, P](c.client)
	r := newReconciler(c.name, 1, func(ctx context.Context, key string) error { return c.reconcile(ctx, objects, key) })
	if err := follow(r, objects, func(P) bool { return true }); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "follow objects", "controller", c.name)
		return
	}
	add := func(obj any) {
		if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = gone.Obj
		}
		if pod, ok := obj.(*corev1.Pod); ok {
			if key := c.keyOf(pod); key != "" {
				r.queue.Add(key)
			}
		}
	}
	handler, err := c.pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add,
	})
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "follow pods", "controller", c.name)
		return
	}
	defer func() { _ = c.pods.Informer().RemoveEventHandler(handler) }()
	var running sync.WaitGroup
	running.Go(func() { objects.RunWithContext(ctx) })
	if cache.WaitForCacheSync(ctx.Done(), objects.HasSynced, handler.HasSynced) {
		r.run(ctx)
	}
	running.Wait()
}
