// Package follow gives a scheduler plugin a view of objects that does not lag behind the events
// that wake its pods.
//
// Two watches deliver the change of an object: the scheduler's, which wakes the pods that a plugin
// rejected, and the plugin's own, from which it learns what changed. If the first is ahead, the
// plugin would reject the pod again because of the old state, until the next event.
//
// The package may import the scheduling framework and client-go.
package follow

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

const (
	// patience is how long Wait waits for the plugin's watch. It is at most a millisecond late,
	// unless the machine is very busy or the connection broke.
	patience = time.Second
	// startup is how long Wait waits for the objects that exist when the scheduler starts.
	startup = 10 * time.Second
	// remembered bounds the handled events that a View remembers.
	remembered = 4096
)

// View is what a plugin knows of objects from its event handlers. Any goroutine may call its
// methods.
type View struct {
	registered []cache.ResourceEventHandlerRegistration

	mu sync.Mutex
	// handled are the latest events that the handlers have seen; ring[next] is the oldest once the
	// ring is full.
	handled map[event]bool
	ring    []event
	next    int
	// awaited are events that woke pods and that the handlers have not seen.
	awaited map[event]bool
	// changed is closed when an awaited event has been handled.
	changed chan struct{}
}

// event identifies an event: an object has another resourceVersion in each.
type event struct{ uid, resourceVersion string }

// NewView returns a view without objects.
func NewView() *View {
	return &View{handled: map[event]bool{}, awaited: map[event]bool{}, changed: make(chan struct{})}
}

// Handlers are a plugin's event handlers for objects of one type. They are called one at a
// time. A nil function ignores the event.
type Handlers[T metav1.Object] struct {
	// Added also gets whether the object existed when the informer started.
	Added   func(object T, initially bool)
	Updated func(before, after T)
	Deleted func(object T)
}

// Follow registers handlers for the objects of an informer. Call it before the informer
// starts, and before any other method of v.
func Follow[T metav1.Object](v *View, informer cache.SharedIndexInformer, h Handlers[T]) error {
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initially bool) {
			if object, ok := obj.(T); ok && h.Added != nil {
				h.Added(object, initially)
			}
			v.note(obj)
		},
		UpdateFunc: func(before, after any) {
			b, okBefore := before.(T)
			a, okAfter := after.(T)
			if okBefore && okAfter && h.Updated != nil {
				h.Updated(b, a)
			}
			v.note(after)
		},
		DeleteFunc: func(obj any) {
			obj = withoutTombstone(obj)
			if object, ok := obj.(T); ok && h.Deleted != nil {
				h.Deleted(object)
			}
			v.note(obj)
		},
	})
	if err != nil {
		return fmt.Errorf("following objects: %w", err)
	}
	v.registered = append(v.registered, registration)
	return nil
}

func withoutTombstone(obj any) any {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return obj
}

func eventOf(obj any) (event, bool) {
	object, ok := obj.(metav1.Object)
	if !ok {
		return event{}, false
	}
	return event{string(object.GetUID()), object.GetResourceVersion()}, true
}

func (v *View) note(obj any) {
	at, ok := eventOf(obj)
	if !ok {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.ring) < remembered {
		v.ring = append(v.ring, at)
	} else {
		delete(v.handled, v.ring[v.next])
		v.ring[v.next] = at
		v.next = (v.next + 1) % remembered
	}
	v.handled[at] = true
	if v.awaited[at] {
		delete(v.awaited, at)
		close(v.changed)
		v.changed = make(chan struct{})
	}
}

// Wake is a queueing hint. Every event wakes the pod, as without a hint, and the next Wait waits
// until the handlers have seen the event. The queue calls Wake under its lock.
func (v *View) Wake(_ klog.Logger, _ *v1.Pod, before, after any) (fwk.QueueingHint, error) {
	if after == nil {
		after = withoutTombstone(before)
	}
	if at, ok := eventOf(after); ok {
		v.mu.Lock()
		defer v.mu.Unlock()
		if !v.handled[at] {
			v.awaited[at] = true
		}
	}
	return fwk.Queue, nil
}

// Wait returns when the handlers have seen every object that existed when the scheduler
// started, and every event that woke a pod. It gives up on events after a
// second, because a watch may skip some. The error says that the objects are not known.
func (v *View) Wait(ctx context.Context) error {
	for _, r := range v.registered {
		if err := synced(ctx, r.HasSyncedChecker().Done()); err != nil {
			return err
		}
	}
	changed := v.behind()
	if changed == nil {
		return nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for changed != nil {
		select {
		case <-changed:
			changed = v.behind()
		case <-timer.C:
			v.giveUp()
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func synced(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	timer := time.NewTimer(startup)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return fmt.Errorf("the cluster's objects are not known after %v", startup)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// behind returns a channel that is closed when the view has changed; nil if it is not
// behind.
func (v *View) behind() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.awaited) == 0 {
		return nil
	}
	return v.changed
}

func (v *View) giveUp() {
	v.mu.Lock()
	defer v.mu.Unlock()
	clear(v.awaited)
}
