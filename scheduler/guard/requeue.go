package guard

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// EnqueueExtensions guards EventsToRegister, whose panic becomes its error, and the hints. The
// queue requeues a pod after a hint's error, and looks at every pod after a PreQueueingHintFn's.
func (g *Guard) EnqueueExtensions(p fwk.EnqueueExtensions) fwk.EnqueueExtensions {
	return enqueueExtensions{p, g}
}

type enqueueExtensions struct {
	fwk.EnqueueExtensions
	g *Guard
}

func (p enqueueExtensions) EventsToRegister(ctx context.Context) (_ []fwk.ClusterEventWithHint, err error) {
	defer p.g.Err("EventsToRegister", nil, &err)
	events, err := p.EnqueueExtensions.EventsToRegister(ctx)
	out := make([]fwk.ClusterEventWithHint, len(events))
	for i, event := range events {
		out[i] = event
		if event.QueueingHintFn != nil {
			out[i].QueueingHintFn = p.hint(event.QueueingHintFn)
		}
		if event.PreQueueingHintFn != nil {
			out[i].PreQueueingHintFn = p.preHint(event.PreQueueingHintFn)
		}
	}
	return out, err
}

func (p enqueueExtensions) hint(inner fwk.QueueingHintFn) fwk.QueueingHintFn {
	return func(logger klog.Logger, pod *v1.Pod, oldObj, newObj any) (hint fwk.QueueingHint, err error) {
		defer func() {
			if value := recover(); value != nil {
				hint, err = fwk.Queue, p.g.caught("QueueingHintFn", pod, value)
			}
		}()
		return inner(logger, pod, oldObj, newObj)
	}
}

func (p enqueueExtensions) preHint(inner fwk.PreQueueingHintFn) fwk.PreQueueingHintFn {
	return func(logger klog.Logger, oldObj, newObj any) (_ fwk.PreQueueingHintResult, err error) {
		defer p.g.Err("PreQueueingHintFn", nil, &err)
		return inner(logger, oldObj, newObj)
	}
}
