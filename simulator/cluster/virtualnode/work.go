package virtualnode

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
)

// work calls do for the keys of a queue until ctx ends, and returns when all calls have returned.
// It tries a key again after an error, which it reports to failed. Neither a conflict nor a missing
// object is one: a conflict means that there is a newer version, whose event comes, too.
func work(
	ctx context.Context, queue workqueue.TypedRateLimitingInterface[string], workers int,
	do func(ctx context.Context, key string) error, failed func(err error, key string),
) {
	next := func() bool {
		key, shutdown := queue.Get()
		if shutdown {
			return false
		}
		defer queue.Done(key)
		if ctx.Err() != nil {
			return true
		}
		switch err := do(ctx, key); {
		case err == nil, apierrors.IsConflict(err), apierrors.IsNotFound(err):
			queue.Forget(key)
		default:
			if ctx.Err() == nil {
				failed(err, key)
			}
			queue.AddRateLimited(key)
		}
		return true
	}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for next() {
			}
		})
	}
	<-ctx.Done()
	queue.ShutDown()
	running.Wait()
}
