//go:build !kubernetes134 && !kubernetes135

package memory

import "k8s.io/client-go/tools/cache"

// Informers have these methods since Kubernetes 1.36.

func (i *informer) HasSyncedChecker() cache.DoneChecker { return synced{} }

func (*registration) HasSyncedChecker() cache.DoneChecker { return synced{} }

type synced struct{}

func (synced) Name() string { return "cluster in memory" }

var done = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (synced) Done() <-chan struct{} { return done }
