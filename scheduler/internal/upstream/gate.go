package upstream

import (
	"sync"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Gate lets a scheduler take turns, each for a pod or a pod group, until Close. The zero value is
// open. Its methods are safe for concurrent use.
type Gate struct {
	mu     sync.Mutex
	busy   bool
	closed bool
}

// Close prevents further turns. The current turn continues. The scheduler drops an entity that it
// takes out of the queue after Close.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

func (g *Gate) Busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.busy
}

// guard makes sched ask g before each turn. The scheduler calls NextEntity when its
// turn is over, and skips a turn if NextEntity returns nil. When the gate is
// closed, NextEntity waits for done, so that the scheduler does not spin.
func (g *Gate) guard(sched *scheduler.Scheduler, done <-chan struct{}) {
	next := sched.NextEntity
	sched.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		g.endTurn()
		entity, err := next(logger)
		if !g.beginTurn() {
			<-done
			return nil, nil
		}
		return entity, err
	}
}

func (g *Gate) beginTurn() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy = !g.closed
	return g.busy
}

func (g *Gate) endTurn() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy = false
}
