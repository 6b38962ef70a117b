package whatif

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/memory"
)

// Source is where an engine gets its state from: Objects, or the feed of a running scheduler.
type Source interface {
	// Follow begins to follow the state. ctx bounds only the call.
	Follow(ctx context.Context) (*feed.Follower, error)
}

// Objects returns a state that does not change. The engine keeps the objects and does not change them; the caller must
// not either. Objects without a UID or a resource version, as in an export, get one of the engine's. Kinds that are not known are left out.
func Objects(objects []runtime.Object) Source {
	log := feed.NewLog(nil)
	ops := sorted(identified(objects))
	log.Restart(func(add func(feed.Operation)) {
		for _, op := range ops {
			add(op)
		}
	})
	return fixed{log}
}

type fixed struct{ log *feed.Log }

func (f fixed) Follow(context.Context) (*feed.Follower, error) { return f.log.Follow(false), nil }

// identified returns the objects with UIDs and resource versions.
func identified(objects []runtime.Object) []runtime.Object {
	out := slices.Clone(objects)
	pods := map[types.NamespacedName]types.UID{}
	for i, o := range out {
		if typed, err := memory.Typed(o); err == nil {
			o, out[i] = typed, typed
		}
		accessor, ok := o.(metav1.Object)
		if !ok {
			continue
		}
		if accessor.GetUID() == "" || accessor.GetResourceVersion() == "" {
			out[i] = o.DeepCopyObject()
			accessor = accessorOf(out[i])
			accessor.SetUID(cmp.Or(accessor.GetUID(), types.UID(fmt.Sprintf("%T/%s/%s", o, accessor.GetNamespace(), accessor.GetName()))))
			accessor.SetResourceVersion(cmp.Or(accessor.GetResourceVersion(), "1"))
		}
		if _, ok := o.(*v1.Pod); ok {
			pods[types.NamespacedName{Namespace: accessor.GetNamespace(), Name: accessor.GetName()}] = accessor.GetUID()
		}
	}
	for i, o := range out {
		if claim, ok := o.(*resourcev1.ResourceClaim); ok {
			out[i] = withUsers(claim, pods)
		}
	}
	return out
}

// withUsers returns the claim with the UIDs of the pods that use it. An export leaves them out.
func withUsers(claim *resourcev1.ResourceClaim, pods map[types.NamespacedName]types.UID) *resourcev1.ResourceClaim {
	unknown := func(user resourcev1.ResourceClaimConsumerReference) bool { return user.UID == "" }
	if !slices.ContainsFunc(claim.Status.ReservedFor, unknown) {
		return claim
	}
	claim = claim.DeepCopy()
	for i := range claim.Status.ReservedFor {
		user := &claim.Status.ReservedFor[i]
		user.UID = cmp.Or(user.UID, pods[types.NamespacedName{Namespace: claim.Namespace, Name: user.Name}])
	}
	return claim
}

// sorted returns the operations that create objects, in an order that does not depend on theirs: the nodes come before the pods.
func sorted(objects []runtime.Object) []feed.Operation {
	objects = slices.Clone(objects)
	rank := func(o runtime.Object) int {
		switch o.(type) {
		case *v1.Pod:
			return 2
		case *v1.Node:
			return 1
		}
		return 0
	}
	name := func(o runtime.Object) string {
		accessor := accessorOf(o)
		return accessor.GetNamespace() + "/" + accessor.GetName()
	}
	slices.SortStableFunc(objects, func(a, b runtime.Object) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(name(a), name(b)))
	})
	ops := make([]feed.Operation, len(objects))
	for i, o := range objects {
		ops[i].Set = o
	}
	return ops
}
