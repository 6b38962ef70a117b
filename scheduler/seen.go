package scheduler

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Change is a write or a deletion of an API object that the scheduler sees through a watch.
type Change struct {
	UID types.UID
	// ResourceVersion is the version that was written; empty for a deletion.
	ResourceVersion string
	Deleted         bool
	// Certain means that the scheduler always watches such objects: nodes, bound
	// pods and the pods of its own profiles. It watches other kinds only if a
	// plugin asks for their events.
	Certain bool
}

// seenObjects are the objects whose latest events the scheduler's event handlers
// have processed. Its methods are safe for concurrent use.
type seenObjects struct {
	mu sync.Mutex
	// versions are the latest resource versions of the existing objects, by UID.
	versions map[types.UID]string
	bound    map[types.UID]bool
	// unseenBindings are the bindings that the scheduler made but has not seen yet.
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

// leftQueue notes that a pod left the queue, and reports whether it was deleted: it was, unless it
// is known to be bound.
func (o *seenObjects) leftQueue(pod *v1.Pod) (deleted bool) {
	o.mu.Lock()
	bound := o.bound[pod.UID]
	o.mu.Unlock()
	if !bound {
		o.note(pod, nil)
	}
	return !bound
}

func (o *seenObjects) expectBinding(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, exists := o.versions[uid]; exists && !o.bound[uid] {
		o.unseenBindings[uid] = true
	}
}

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
