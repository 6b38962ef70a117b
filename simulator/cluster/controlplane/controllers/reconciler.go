package controllers

import (
	"context"
	"errors"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// errNotYet tells a reconciler to try again later although nothing failed.
var errNotYet = errors.New("not yet")

// reconciler calls a function for each added key, never concurrently for the same key. While
// the function returns an error, it is called again with growing delays. A key that is added
// several times while it waits is handled once, so the number of objects bounds the queue.
type reconciler struct {
	name      string
	workers   int
	queue     workqueue.TypedRateLimitingInterface[string]
	reconcile func(ctx context.Context, key string) error
}

func newReconciler(name string, workers int, reconcile func(context.Context, string) error) *reconciler {
	return &reconciler{
		name:    name,
		workers: workers,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)),
		reconcile: reconcile,
	}
}

// follow adds the keys of the informer's objects for which wanted returns true, whenever they
// are created or changed.
func follow[T any](r *reconciler, informer cache.SharedIndexInformer, wanted func(T) bool) error {
	add := func(obj any) {
		typed, ok := obj.(T)
		if !ok || !wanted(typed) {
			return
		}
		key, err := cache.MetaNamespaceKeyFunc(obj)
		if err != nil {
			utilruntime.HandleError(err)
			return
		}
		r.queue.Add(key)
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, obj any) { add(obj) },
	})
	return err
}

// run returns when ctx has ended and every call of reconcile has returned.
func (r *reconciler) run(ctx context.Context) {
	var workers sync.WaitGroup
	for range r.workers {
		workers.Go(func() {
			for r.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	r.queue.ShutDown()
	workers.Wait()
}

func (r *reconciler) next(ctx context.Context) bool {
	key, shutdown := r.queue.Get()
	if shutdown {
		return false
	}
	defer r.queue.Done(key)
	if ctx.Err() != nil {
		return true
	}
	err := r.reconcile(ctx, key)
	if err == nil {
		r.queue.Forget(key)
		return true
	}
	if !errors.Is(err, errNotYet) && ctx.Err() == nil {
		utilruntime.HandleErrorWithContext(ctx, err, "reconcile", "controller", r.name, "key", key)
	}
	r.queue.AddRateLimited(key)
	return true
}
