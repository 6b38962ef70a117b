package scheduler

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Change is a write or a deletion of an object in the API, of which the scheduler
// will learn through a watch.
type Change struct {
	UID types.UID
	// ResourceVersion is that of the write; empty for a deletion.
	ResourceVersion string
	Deleted         bool
	// Certain means that the scheduler watches such objects in any case. It watches
	// nodes, bound pods and the pods of its own profiles. It watches other kinds
	// only when a plugin asks for their events.
	Certain bool
}

// seenObjects are the objects whose latest events the scheduler's event handlers
// have dealt with. Its methods are safe for concurrent use.
type seenObjects struct {
	mu sync.Mutex
	// versions are the latest ones, by UID, of the objects that exist.
	versions map[types.UID]string
	bound    map[types.UID]bool
	// unseenBindings are those that the scheduler has made and not yet seen.
	unseenBindings map[types.UID]bool
}

func newSeenObjects() *seenObjects {
	return &seenObjects{versions: map[types.UID]string{}, bound: map[types.UID]bool{}, unseenBindings: map[types.UID]bool{}}
}

// note takes the old and the new object of an event. Either may be nil.
func (o *seenObjects) note(oldObj, newObj any) {
	deleted := newObj == nil
	obj := newObj
	if deleted {
		obj = oldObj
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return // an event without an object
	}
	uid := accessor.GetUID()
	o.mu.Lock()
	defer o.mu.Unlock()
	if deleted {
		delete(o.versions, uid)
		delete(o.bound, uid)
		delete(o.unseenBindings, uid)
		return
	}
	o.versions[uid] = accessor.GetResourceVersion()
	if pod, ok := obj.(*v1.Pod); ok && pod.Spec.NodeName != "" {
		o.bound[uid] = true
		delete(o.unseenBindings, uid)
	}
}

// leftQueue takes a pod that was removed from the queue: it was deleted, unless it
// is known to be bound.
func (o *seenObjects) leftQueue(pod *v1.Pod) {
	o.mu.Lock()
	bound := o.bound[pod.UID]
	o.mu.Unlock()
	if !bound {
		o.note(pod, nil)
	}
}

// expectBinding notes a binding that the scheduler has made.
func (o *seenObjects) expectBinding(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, exists := o.versions[uid]; exists && !o.bound[uid] {
		o.unseenBindings[uid] = true
	}
}

// expectedBindings returns how many bindings the scheduler has made and not seen.
func (o *seenObjects) expectedBindings() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.unseenBindings)
}

// has reports whether the scheduler has seen c, or a later change of the object.
func (o *seenObjects) has(c Change) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	version, exists := o.versions[c.UID]
	if c.Deleted {
		return !exists
	}
	if !exists {
		return false
	}
	if version == c.ResourceVersion {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(version, c.ResourceVersion)
	return err == nil && order > 0
}
