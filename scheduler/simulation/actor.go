package simulation

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Actor is a controller of the caller's that acts on the cluster at moments of virtual time, such as
// an autoscaler. An Actor belongs to one Simulation, which calls its methods from its caller's
// goroutine.
type Actor interface {
	// Kinds are the custom kinds that the actor reads, and whether their objects have namespaces.
	Kinds() map[schema.GroupVersionKind]bool
	// Changed gets each change of an object, in order. before or after is nil if there was, or is,
	// no object. It must not change the cluster.
	Changed(gvk schema.GroupVersionKind, before, after runtime.Object)
	// Next returns when the actor wants to act next; the zero time for not at all. awaited says that
	// a settling cluster waits for that. It is asked whenever all immediate consequences have
	// happened, and so must be quick.
	Next() (at time.Time, awaited bool)
	// Act acts once, when the time of Next has come and nothing else is due. Controllers and the
	// scheduler act on what it changes before it is asked again, which may be at the same time.
	Act(ctx context.Context, h Hands) error
}

// noActor never acts: it is the Actor of a simulation without one.
type noActor struct{}

var _ Actor = noActor{}

func (noActor) Kinds() map[schema.GroupVersionKind]bool                         { return nil }
func (noActor) Changed(schema.GroupVersionKind, runtime.Object, runtime.Object) {}
func (noActor) Next() (time.Time, bool)                                         { return time.Time{}, false }
func (noActor) Act(context.Context, Hands) error                                { return nil }

// Delete deletes an object, and what it owns.
func (h Hands) Delete(gvk schema.GroupVersionKind, namespace, name string) error {
	return h.simulation.control.remove(h.simulation.cluster.ref(gvk, namespace, name), metav1.DeleteOptions{})
}

// Store stores an object of a custom kind as it is, with its status, and without what an API server
// checks. One of its name is replaced.
func (h Hands) Store(o runtime.Object) error {
	c := h.simulation.cluster
	typed, gvk, err := c.typed(o)
	if err != nil {
		return err
	}
	if before := c.get(gvk, refOf(gvk, typed).key); before != nil {
		typed.SetUID(before.GetUID())
		typed.SetCreationTimestamp(before.GetCreationTimestamp())
	} else {
		typed.SetUID(c.uid())
		typed.SetCreationTimestamp(c.timeline.stamp())
	}
	return c.put(gvk, typed)
}
