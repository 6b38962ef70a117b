package simulation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"kube-scheduler-simulator/scheduler/builtin"
	"kube-scheduler-simulator/scheduler/memory"
)

// object is an object of the cluster. It never changes.
type object interface {
	runtime.Object
	metav1.Object
}

type ref struct {
	gvk schema.GroupVersionKind
	// key is namespace/name, or the name.
	key string
}

func refOf(gvk schema.GroupVersionKind, o metav1.Object) ref { return ref{gvk, keyOf(o)} }

func keyOf(o metav1.Object) string {
	return cache.NewObjectName(o.GetNamespace(), o.GetName()).String()
}

func (r ref) namespaceAndName() (namespace, name string) {
	namespace, name, _ = cache.SplitMetaNamespaceKey(r.key)
	return namespace, name
}

// cluster keeps the objects, and shows them to the scheduler through world.
type cluster struct {
	world    *memory.World
	timeline *timeline
	objects  map[schema.GroupVersionKind]map[string]object
	// owned holds the objects with an owner, by the owner's UID.
	owned map[types.UID]map[ref]bool
	// custom are the kinds of Options.Beside, and whether they have namespaces.
	custom map[schema.GroupVersionKind]bool
	// version is the latest resource version, and made the number of UIDs.
	version, made int64
	shared        sharing
	// changed is called after each change. before or after is nil when there was, or is, no object.
	changed func(r ref, before, after object)
}

func newCluster(t *timeline) *cluster {
	return &cluster{timeline: t, objects: map[schema.GroupVersionKind]map[string]object{}, owned: map[types.UID]map[ref]bool{}, shared: sharing{}}
}

// get returns an object, or nil.
func (c *cluster) get(gvk schema.GroupVersionKind, key string) object { return c.objects[gvk][key] }

func find[T object](c *cluster, gvk schema.GroupVersionKind, namespace, name string) (T, bool) {
	o, ok := c.get(gvk, cache.NewObjectName(namespace, name).String()).(T)
	return o, ok
}

func (c *cluster) list(gvk schema.GroupVersionKind) []object {
	out := slices.Collect(maps.Values(c.objects[gvk]))
	slices.SortFunc(out, func(a, b object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return out
}

func all[T object](c *cluster, gvk schema.GroupVersionKind) []T {
	var out []T
	for _, o := range c.list(gvk) {
		out = append(out, o.(T))
	}
	return out
}

// ownedBy returns the objects of a kind that an owner controls, the oldest first.
func ownedBy[T object](c *cluster, owner types.UID, gvk schema.GroupVersionKind) []T {
	var out []T
	for r := range c.owned[owner] {
		if r.gvk != gvk {
			continue
		}
		if o := c.get(gvk, r.key).(T); metav1.GetControllerOfNoCopy(o).UID == owner {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b T) int {
		return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), cmp.Compare(a.GetUID(), b.GetUID()))
	})
	return out
}

func (c *cluster) count() int {
	n := 0
	for _, of := range c.objects {
		n += len(of)
	}
	return n
}

// put gives o the next resource version, and keeps o.
func (c *cluster) put(gvk schema.GroupVersionKind, o object) error {
	c.timeline.tick()
	c.version++
	o.SetResourceVersion(strconv.FormatInt(c.version, 10))
	r := refOf(gvk, o)
	before := c.objects[gvk][r.key]
	if c.objects[gvk] == nil {
		c.objects[gvk] = map[string]object{}
	}
	c.objects[gvk][r.key] = o
	for _, owner := range o.GetOwnerReferences() {
		if c.owned[owner.UID] == nil {
			c.owned[owner.UID] = map[ref]bool{}
		}
		c.owned[owner.UID][r] = true
	}
	if err := c.world.Set(o); err != nil {
		return fmt.Errorf("%s %s: %w", gvk.Kind, r.key, err)
	}
	c.world.Commit()
	c.changed(r, before, o)
	return nil
}

func (c *cluster) remove(r ref) {
	before := c.objects[r.gvk][r.key]
	if before == nil {
		return
	}
	c.timeline.tick()
	c.version++
	delete(c.objects[r.gvk], r.key)
	for _, owner := range before.GetOwnerReferences() {
		delete(c.owned[owner.UID], r)
		if len(c.owned[owner.UID]) == 0 {
			delete(c.owned, owner.UID)
		}
	}
	namespace, name := r.namespaceAndName()
	c.world.Delete(r.gvk, namespace, name)
	c.world.Commit()
	c.changed(r, before, nil)
}

// show shows all objects to a new world: nodes before pods, and the oldest pod first, because the
// queue takes them in this order.
func (c *cluster) show() error {
	rank := func(gvk schema.GroupVersionKind) int {
		return slices.Index([]schema.GroupVersionKind{nodeKind, podKind}, gvk)
	}
	gvks := slices.SortedFunc(maps.Keys(c.objects), func(a, b schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.String(), b.String()))
	})
	for _, gvk := range gvks {
		objects := c.list(gvk)
		slices.SortStableFunc(objects, func(a, b object) int { return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time) })
		for _, o := range objects {
			c.timeline.tick()
			if err := c.world.Set(o); err != nil {
				return err
			}
		}
	}
	c.world.Commit()
	return nil
}

// uid returns the next UID, in the form of an API server's.
func (c *cluster) uid() types.UID {
	c.made++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", c.made))
}

// typed returns a copy of o of the type of its kind, and the kind. The error is one of an API
// server.
func (c *cluster) typed(o runtime.Object) (object, schema.GroupVersionKind, error) {
	gvk := o.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		kinds, _, err := builtin.Scheme.ObjectKinds(o)
		if err != nil || len(kinds) == 0 {
			return nil, gvk, apierrors.NewBadRequest(fmt.Sprintf("an object of type %T has no kind", o))
		}
		gvk = kinds[0]
	}
	if u, ok := o.(*unstructured.Unstructured); ok && builtin.Is(gvk) {
		into, err := builtin.Scheme.New(gvk)
		if err != nil {
			return nil, gvk, err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, into, true); err != nil {
			return nil, gvk, apierrors.NewBadRequest(fmt.Sprintf("%s %q: %v", gvk.Kind, u.GetName(), err))
		}
		into.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		return into.(object), gvk, nil
	}
	copied, ok := o.DeepCopyObject().(object)
	if !ok {
		return nil, gvk, apierrors.NewBadRequest(fmt.Sprintf("a %T is not an object", o))
	}
	if _, ok := copied.(*unstructured.Unstructured); !ok {
		copied.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return copied, gvk, nil
}

func resourceOf(gvk schema.GroupVersionKind) schema.GroupResource {
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	return plural.GroupResource()
}

func notFound(r ref) error { return apierrors.NewNotFound(resourceOf(r.gvk), r.key) }

func patched(before object, kind types.PatchType, patch []byte) (object, error) {
	original, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	result, err := memory.Patched(original, before, kind, patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	after := memory.Like(before).(object)
	if err := json.Unmarshal(result, after); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return after, nil
}

func podStatusPatched(before *v1.Pod, kind types.PatchType, patch []byte) (*v1.Pod, error) {
	after, err := patched(&v1.Pod{Status: before.Status}, kind, patch)
	if err != nil {
		return nil, err
	}
	pod := *before
	pod.Status = after.(*v1.Pod).Status
	return &pod, nil
}
