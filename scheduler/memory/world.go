// Package memory keeps a cluster in memory, in the form in which a scheduler reads it: as shared
// informers.
//
// The informers of a World are synchronous. Set and Delete call the handlers on the caller's
// goroutine, so when they return, a scheduler on these informers knows the change. A World keeps
// the caller's objects, which must not change.
//
// A World makes no requests and has no goroutines. It knows nothing of what the scheduler decides
// or writes. It may import client-go, and no package of ours. It compiles with the client-go of each
// version of Kubernetes whose scheduler package decide is built with.
package memory

import (
	"fmt"
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"kube-scheduler-simulator/scheduler/builtin"
)

// World is a cluster in memory. Call its methods from one goroutine at a time; the informers may be
// read at any time.
type World struct {
	factory *factory
	dynamic *dynamicFactory
	byType  map[reflect.Type]*kind
	byGVK   map[schema.GroupVersionKind]*kind
	// journal holds what Rollback undoes.
	journal []change
	// follow may be nil.
	follow func(gvk schema.GroupVersionKind, namespace, name string, o runtime.Object)
}

type kind struct {
	gvk schema.GroupVersionKind
	*informer
	objects int
}

type change struct {
	kind   *kind
	key    string
	before metav1.Object
}

// NewWorld returns an empty cluster. Informers passes client to plugins that make informers of
// kinds that Kubernetes' client library does not know; such informers never start.
func NewWorld(client kubernetes.Interface) *World { return newWorld(client, newUnorderedInformer) }

// NewOrderedWorld is NewWorld with informers that list objects by namespace and name, except nodes
// and pods. Others list them at random, and a plugin may take the first one.
func NewOrderedWorld(client kubernetes.Interface) *World { return newWorld(client, newOrderedInformer) }

func newWorld(client kubernetes.Interface, newInformer func() *informer) *World {
	w := &World{
		byType: map[reflect.Type]*kind{},
		byGVK:  map[schema.GroupVersionKind]*kind{},
	}
	w.factory = &factory{informers.NewSharedInformerFactory(client, 0), w, map[schema.GroupVersionResource]*informer{}}
	w.dynamic = &dynamicFactory{world: w, make: newInformer, informers: map[schema.GroupVersionResource]*informer{}}
	for gvk, of := range builtin.Scheme.AllKnownTypes() {
		o, isObject := reflect.New(of).Interface().(metav1.Object)
		if !isObject || gvk.Version == runtime.APIVersionInternal {
			continue
		}
		k := &kind{gvk: gvk, informer: newInformer()}
		if gvk == podKind || gvk == nodeKind {
			k.informer = newUnorderedInformer()
		}
		w.byType[reflect.TypeOf(o)], w.byGVK[gvk] = k, k
		w.factory.InformerFor(o.(runtime.Object), k.give)
	}
	return w
}

// Informers returns the factory of the informers. It has a method Converted, with which package
// customresource reads custom resources.
func (w *World) Informers() informers.SharedInformerFactory { return w.factory }

// DynamicInformers returns the factory of the informers of kinds that Kubernetes' client library
// does not know. They hold the unstructured objects.
func (w *World) DynamicInformers() dynamicinformer.DynamicSharedInformerFactory { return w.dynamic }

var (
	podKind  = v1.SchemeGroupVersion.WithKind("Pod")
	nodeKind = v1.SchemeGroupVersion.WithKind("Node")
)

// KindError means that an object's kind is not known.
type KindError struct{ GVK schema.GroupVersionKind }

func (e *KindError) Error() string { return fmt.Sprintf("unknown kind %s", e.GVK) }

// Set creates or replaces an object: that of the same kind, namespace and name. It keeps o.
//
// The handlers see what they would see in a live cluster. A pod that has terminated is gone,
// because the scheduler does not watch such pods. An object with another UID, and a pod that loses
// its node, is deleted and added, because the API server allows no such update. So is an object
// whose resource version is not newer, except a node, because caches of plugins ignore such
// updates.
func (w *World) Set(o runtime.Object) error {
	k, object, err := w.kindOf(o)
	if err != nil {
		return err
	}
	key := keyOf(object)
	if pod, ok := o.(*v1.Pod); ok && terminated(pod) {
		w.put(k, key, nil)
		return nil
	}
	w.put(k, key, object)
	return nil
}

func terminated(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

func (w *World) kindOf(o runtime.Object) (*kind, metav1.Object, error) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		return w.unstructured(u)
	}
	object, isObject := o.(metav1.Object)
	k := w.byType[reflect.TypeOf(o)]
	if k == nil || !isObject {
		return nil, nil, &KindError{o.GetObjectKind().GroupVersionKind()}
	}
	return k, object, nil
}

func (w *World) unstructured(u *unstructured.Unstructured) (*kind, metav1.Object, error) {
	k := w.kind(u.GroupVersionKind())
	if k == nil {
		return nil, nil, &KindError{u.GroupVersionKind()}
	}
	o, err := Typed(u)
	if err != nil {
		return nil, nil, err
	}
	return k, o.(metav1.Object), nil
}

// Typed returns an object in the form in which a World keeps it: an unstructured object of a kind
// that Kubernetes' client library knows becomes typed. It returns all others as they are.
func Typed(o runtime.Object) (runtime.Object, error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok || !builtin.Is(u.GroupVersionKind()) {
		return o, nil
	}
	typed, err := builtin.Scheme.New(u.GroupVersionKind())
	if err != nil {
		return nil, fmt.Errorf("making a %s: %w", u.GroupVersionKind(), err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
		return nil, fmt.Errorf("reading %s %q: %w", u.GetKind(), u.GetName(), err)
	}
	return typed, nil
}

func (w *World) kind(gvk schema.GroupVersionKind) *kind {
	if k := w.byGVK[gvk]; k != nil {
		return k
	}
	if gvk.Kind == "" || gvk.Version == "" || builtin.Is(gvk) {
		return nil
	}
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	k := &kind{gvk: gvk, informer: w.dynamic.informer(resource)}
	w.byGVK[gvk] = k
	return k
}

// Delete deletes an object, if it exists.
func (w *World) Delete(gvk schema.GroupVersionKind, namespace, name string) {
	if k := w.kind(gvk); k != nil {
		w.put(k, cache.NewObjectName(namespace, name).String(), nil)
	}
}

// Get returns an object, or nil.
func (w *World) Get(gvk schema.GroupVersionKind, namespace, name string) runtime.Object {
	k := w.kind(gvk)
	if k == nil {
		return nil
	}
	if o := k.get(cache.NewObjectName(namespace, name).String()); o != nil {
		return o.(runtime.Object)
	}
	return nil
}

// List returns the objects of a kind in no particular order.
func (w *World) List(gvk schema.GroupVersionKind) []runtime.Object {
	k := w.kind(gvk)
	if k == nil {
		return nil
	}
	var out []runtime.Object
	for _, o := range k.indexer.List() {
		out = append(out, o.(runtime.Object))
	}
	return out
}

// Len returns the number of objects of a kind.
func (w *World) Len(gvk schema.GroupVersionKind) int {
	if k := w.kind(gvk); k != nil {
		return k.objects
	}
	return 0
}

// Kind returns the kind of an object. The error is a *KindError.
func (w *World) Kind(o runtime.Object) (schema.GroupVersionKind, error) {
	k, _, err := w.kindOf(o)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return k.gvk, nil
}

// Read reports whether the scheduler or a plugin has asked for the informer of a kind in order to
// read it.
func (w *World) Read(gvk schema.GroupVersionKind) bool {
	k := w.kind(gvk)
	return k != nil && k.read.Load()
}

// Follow calls do after each later change, before the handlers: with the object as it is now, or with nil if it is gone.
func (w *World) Follow(do func(gvk schema.GroupVersionKind, namespace, name string, o runtime.Object)) {
	w.follow = do
}

// Mark is a state of a World to which Rollback can return.
type Mark int

// Mark returns the mark of the present state.
func (w *World) Mark() Mark { return Mark(len(w.journal)) }

// Rollback undoes all changes since a mark, the latest first.
func (w *World) Rollback(to Mark) {
	undo := slices.Clone(w.journal[to:])
	for _, c := range slices.Backward(undo) {
		w.put(c.kind, c.key, c.before)
	}
	clear(w.journal[to:])
	w.journal = w.journal[:to]
}

// Commit makes all changes so far final. Earlier marks are no longer valid.
func (w *World) Commit() { w.journal = nil }

// put replaces the object with this key; nil deletes it.
func (w *World) put(k *kind, key string, o metav1.Object) {
	before := k.get(key)
	if before == nil && o == nil {
		return
	}
	w.journal = append(w.journal, change{k, key, before})
	if w.follow != nil {
		of, now := before, runtime.Object(nil)
		if o != nil {
			of, now = o, o.(runtime.Object)
		}
		w.follow(k.gvk, of.GetNamespace(), of.GetName(), now)
	}
	switch {
	case before != nil && (o == nil || !updates(before, o)):
		k.delete(before)
		if o == nil {
			k.objects--
			return
		}
		k.add(o)
	case before != nil:
		k.update(before, o)
	default:
		k.objects++
		k.add(o)
	}
}

// updates reports whether the change from a to b is an update, rather than a deletion and an
// addition.
func updates(a, b metav1.Object) bool {
	if a.GetUID() != b.GetUID() {
		return false
	}
	switch a := a.(type) {
	case *v1.Node:
		return true
	case *v1.Pod:
		if a.Spec.NodeName != "" && a.Spec.NodeName != b.(*v1.Pod).Spec.NodeName {
			return false
		}
	}
	return newer(b.GetResourceVersion(), a.GetResourceVersion())
}

func keyOf(o metav1.Object) string {
	return cache.NewObjectName(o.GetNamespace(), o.GetName()).String()
}
