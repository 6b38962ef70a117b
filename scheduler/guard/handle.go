package guard

import (
	"context"
	"sync/atomic"

	"k8s.io/client-go/util/workqueue"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Handle returns h with a Parallelizer that passes a worker's panic on to the goroutine that called
// Until, where the guard of the plugin's call catches it. The handle is a framework.Framework if h
// is.
func Handle(h fwk.Handle) fwk.Handle {
	if f, ok := h.(framework.Framework); ok {
		return &frameworkHandle{f}
	}
	return &handle{h}
}

type handle struct{ fwk.Handle }

func (h *handle) Parallelizer() fwk.Parallelizer { return parallelizer{h.Handle.Parallelizer()} }

type frameworkHandle struct{ framework.Framework }

func (h *frameworkHandle) Parallelizer() fwk.Parallelizer {
	return parallelizer{h.Framework.Parallelizer()}
}

type parallelizer struct{ fwk.Parallelizer }

// workerPanic is the value with which Until panics after a worker has.
type workerPanic struct{ value, stack string }

// String shows when no guard recovers from the panic.
func (p *workerPanic) String() string { return p.value + "\n" + p.stack }

// Until starts no pieces after a panic, and panics itself when the others have ended.
func (p parallelizer) Until(ctx context.Context, pieces int, do workqueue.DoWorkPieceFunc, operation string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var first atomic.Pointer[workerPanic]
	p.Parallelizer.Until(ctx, pieces, func(piece int) {
		defer func() {
			if value := recover(); value != nil {
				first.CompareAndSwap(nil, &workerPanic{text(value), stack()})
				cancel()
			}
		}()
		do(piece)
	}, operation)
	if p := first.Load(); p != nil {
		panic(p)
	}
}
