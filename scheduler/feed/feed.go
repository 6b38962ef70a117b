// Package feed carries the state of a scheduler to its copies: first the whole state, then every change, in the order
// in which the scheduler saw them.
//
// The writer of a Log writes every change to it. When a follower starts or loses track, the writer writes the whole
// state. Neither side may change the objects. Package scheduler writes the log of a running scheduler, and package
// whatif follows it.
//
// It may import Kubernetes' API types, and no package of ours.
package feed

import (
	"context"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Operation is one change of the state. Exactly one field is set, not counting At.
type Operation struct {
	// Set creates or replaces an object: that of its kind, namespace and name. A pod to
	// which the scheduler has given a node has that node, even if the binding is
	// still under way.
	Set runtime.Object
	// Delete removes an object.
	Delete *Ref
	// Allocate notes that a claim is being allocated: what it holds is taken, but the claim does not say
	// so yet. Release ends that.
	Allocate *resourcev1.ResourceClaim
	Release  types.UID
	// Mark notes that the scheduler has taken its snapshot in order to decide about this pod: the
	// decision rests on exactly the operations before the mark, as far as pods and nodes go.
	Mark *v1.Pod
	// At, set beside Mark, is when that was. The record of the decision begins then or later, and before
	// the next mark.
	At time.Time
}

// Ref names an object.
type Ref struct {
	GVK             schema.GroupVersionKind
	Namespace, Name string
}

// Log is a sequence of operations. Its methods may be called from any goroutine.
type Log struct {
	// The log calls followed after a follower starts or stops.
	followed func()

	mu sync.Mutex
	// state writes the whole state. It is nil while the log has no writer.
	state     func(add func(Operation))
	followers []*Follower
}

// NewLog returns an empty log. The log calls followed, without holding locks, after a follower starts or stops. followed
// may be nil.
func NewLog(followed func()) *Log {
	if followed == nil {
		followed = func() {}
	}
	return &Log{followed: followed}
}

// backlog bounds the operations that wait for a follower. When there are more, the follower gets the whole state
// instead.
const backlog = 1 << 16

// Do makes a change of the state and writes it to the log: change calls add with the operations. Nothing else is
// written meanwhile. change must not call the log.
func (l *Log) Do(change func(add func(Operation))) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l.add)
}

func (l *Log) add(op Operation) {
	for _, f := range l.followers {
		f.add(op)
	}
}

// Restart makes state the function that writes the whole state, which is called while nothing else is written. All
// followers get the whole state before anything else. Pass nil when the writer stops.
func (l *Log) Restart(state func(add func(Operation))) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state
	for _, f := range l.followers {
		f.lose()
	}
}

// Lose makes all followers get the whole state before anything else: the log may have missed a change.
func (l *Log) Lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.followers {
		f.lose()
	}
}

// Follow begins to follow the log. marks says whether the follower wants marks.
func (l *Log) Follow(marks bool) *Follower {
	f := &Follower{log: l, marks: marks, lost: true}
	l.mu.Lock()
	l.followers = append(l.followers, f)
	l.mu.Unlock()
	l.followed()
	return f
}

// Followers returns how many follow the log, and how many of them want marks.
func (l *Log) Followers() (all, marks int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.followers {
		if f.marks {
			marks++
		}
	}
	return len(l.followers), marks
}

// Follower reads a log. Its methods may be called from any goroutine.
type Follower struct {
	log   *Log
	marks bool

	// The log's lock guards the following.
	waiting []Operation
	// lost: the follower needs the whole state.
	lost bool
	// arrived is closed when something waits; nil while no caller waits for it.
	arrived chan struct{}
}

func (f *Follower) add(op Operation) {
	if f.lost || op.Mark != nil && !f.marks {
		return
	}
	if len(f.waiting) == backlog {
		f.lose()
		return
	}
	f.waiting = append(f.waiting, op)
	f.tell()
}

func (f *Follower) lose() {
	f.waiting, f.lost = nil, true
	f.tell()
}

func (f *Follower) tell() {
	if f.arrived != nil && (!f.lost || f.log.state != nil) {
		close(f.arrived)
		f.arrived = nil
	}
}

// Drain returns the operations since the last call, at once if there are none. If whole is true, they describe the
// whole state, and nothing of what was before is left. While no source knows the state, Drain waits; the error is then ctx's.
func (f *Follower) Drain(ctx context.Context) (ops []Operation, whole bool, err error) {
	for {
		ops, whole, known := f.take()
		if known {
			return ops, whole, nil
		}
		select {
		case <-f.Arrived():
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

func (f *Follower) take() (ops []Operation, whole, known bool) {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	if !f.lost {
		ops, f.waiting = f.waiting, nil
		return ops, false, true
	}
	if f.log.state == nil {
		return nil, false, false
	}
	f.log.state(func(op Operation) { ops = append(ops, op) })
	f.lost = false
	return ops, true, true
}

// Arrived returns a channel that is closed as soon as Drain has something to return.
func (f *Follower) Arrived() <-chan struct{} {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	if f.arrived == nil {
		f.arrived = make(chan struct{})
	}
	c := f.arrived
	if f.lost || len(f.waiting) > 0 {
		f.tell()
	}
	return c
}

// Close ends following.
func (f *Follower) Close() {
	f.log.mu.Lock()
	f.log.followers = slices.DeleteFunc(f.log.followers, func(other *Follower) bool { return other == f })
	f.log.mu.Unlock()
	f.log.followed()
}
