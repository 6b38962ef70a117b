package scheduler

import (
	"sync"

	"k8s.io/klog/v2"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// turns knows whether a pod, or a pod group, is being scheduled, and can see to
// it that no other is after that. Its methods are safe for concurrent use.
type turns struct {
	mu      sync.Mutex
	current bool
	closed  bool
}

// gate makes sched ask before each turn. What it takes out of the queue once no
// more turns are given is not scheduled by it any more.
func (t *turns) gate(sched *upstream.Scheduler, done <-chan struct{}) {
	next := sched.NextEntity
	sched.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		t.end()
		entity, err := next(logger)
		if !t.begin() {
			<-done
			return nil, nil
		}
		return entity, err
	}
}

func (t *turns) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = !t.closed
	return t.current
}

func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = false
}

func (t *turns) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

func (t *turns) underWay() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}
