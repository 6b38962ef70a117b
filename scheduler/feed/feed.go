// Package feed carries the state of a scheduler to its copies: first the whole state, then every
// change, in the order in which the scheduler saw them.
//
// The writer of a Log writes every change to it. When a follower starts or loses track, the writer
// writes the whole state. Neither side may change the objects. Package scheduler writes the log of
// a running scheduler, and package whatif follows it.
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
	// Set creates or replaces the object of its kind, namespace and name. A pod has the node that
	// the scheduler gave it, even while it is being bound.
	Set runtime.Object
	// Delete removes an object.
	Delete *Ref
	// Allocate notes that a claim is being allocated: what it holds is taken, but the claim does
	// not say so yet. Release ends that.
	Allocate *resourcev1.ResourceClaim
	Release  types.UID
	// Mark notes that the scheduler has taken its snapshot for a decision about this pod. As to
	// pods and nodes, the decision rests on exactly the operations before the mark.
	Mark *v1.Pod
	// At, set beside Mark, is when that was. The decision's record begins then or later, before the
	// next mark.
	At time.Time
}

// Ref names an object.
type Ref struct {
	GVK             schema.GroupVersionKind
	Namespace, Name string
}

// Log is a sequence of operations. Any goroutine may call its methods.
type Log struct {
	followed func()

	mu sync.Mutex
	// state writes the whole state. nil while the log has no writer.
	state     func(add func(Operation))
	followers []*Follower
}

// NewLog returns an empty log. The log calls followed, without holding locks, after a follower
// starts or stops. followed may be nil.
func NewLog(followed func()) *Log {
	if followed == nil {
		followed = func() {}
	}
	return &Log{followed: followed}
}

// backlog bounds the operations that wait for a follower. Beyond it, the follower gets the whole
// state instead.
const backlog = 1 << 16

// Do makes a change of the state and writes it to the log: change calls add with the operations.
// No other goroutine writes while change runs, and change must not call the log.
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

// Restart sets the function that writes the whole state. The log calls it with all other writers
// locked out, and gives all followers the whole state before anything else. A writer that stops
// passes nil.
func (l *Log) Restart(state func(add func(Operation))) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state
	for _, f := range l.followers {
		f.lose()
	}
}

// Lose makes all followers get the whole state before anything else: the log may have missed a
// change.
func (l *Log) Lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.followers {
		f.lose()
	}
}

// Follow begins to follow the log. With marks, the follower gets the marks, too.
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

// Follower reads a log. Any goroutine may call its methods.
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

// Drain returns the operations since the last call, at once if there are none. whole: they describe
// the whole state, which replaces everything earlier. While no source knows the state, Drain waits;
// the error is ctx's.
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
