package customresource

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/watchfilter"
)

// Object is a pointer to the Go type of a custom resource.
type Object[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

// Objects are the objects of a custom kind, as the Go type T. Methods are safe for concurrent use.
// Callers must not change the objects.
type Objects[T any, P Object[T]] struct {
	informer cache.SharedIndexInformer
	// live is nil without an API server.
	live dynamic.NamespaceableResourceInterface
}

// memory is an informer factory of a cluster in memory, about which questions are asked. It has custom resources of its own.
type memory interface {
	// Converted returns the informer of a kind's objects in the form that convert returns.
	Converted(of schema.GroupVersionResource, convert func(*unstructured.Unstructured) (metav1.Object, error)) cache.SharedIndexInformer
}

// Hypothetical reports whether the cluster of a plugin is a copy in memory. States come and go there, so a plugin must
// remember nothing that its informers do not tell. Pods may be placed without being bound.
func Hypothetical(handle fwk.Handle) bool {
	_, ok := handle.SharedInformerFactory().(memory)
	return ok
}

// New returns the objects of a kind in the cluster that handle reaches. The informer belongs to
// handle's factory, which starts it, waits for it and stops it, and plugins of all profiles share
// it: the factory has one informer per Go type. New does no I/O. A handle without a client
// configuration has no objects, except in a cluster in memory, whose objects are all that count.
func New[T any, P Object[T]](handle fwk.Handle, gvr schema.GroupVersionResource) (*Objects[T, P], error) {
	o := &Objects[T, P]{}
	if m, ok := handle.SharedInformerFactory().(memory); ok {
		o.informer = m.Converted(gvr, func(u *unstructured.Unstructured) (metav1.Object, error) { return typed[T, P](u) })
		return o, nil
	}
	if config := handle.KubeConfig(); config != nil {
		c, err := NewClient(config)
		if err != nil {
			return nil, err
		}
		o.live = c.Resource(gvr)
	}
	o.informer = handle.SharedInformerFactory().InformerFor(P(new(T)), func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return NewInformer[T, P](o.live)
	})
	return o, nil
}

// NewInformer returns an informer of a kind, as the Go type T, that does not run yet. live comes from
// NewClient; it is nil without an API server. The informer leaves out objects that are no T, which
// a user's own definition may allow.
func NewInformer[T any, P Object[T]](live dynamic.NamespaceableResourceInterface) cache.SharedIndexInformer {
	lw := none()
	if live != nil {
		lw = listWatch[T, P](live)
	}
	return cache.NewSharedIndexInformerWithOptions(lw, P(new(T)), cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	})
}

// Informer returns the informer of the objects, for event handlers.
func (o *Objects[T, P]) Informer() cache.SharedIndexInformer { return o.informer }

// Cached returns an object as the informer knows it; nil if it does not. The namespace of a
// cluster-scoped object is empty.
func (o *Objects[T, P]) Cached(namespace, name string) P {
	key := name
	if namespace != "" {
		key = namespace + "/" + name
	}
	object, exists, err := o.informer.GetIndexer().GetByKey(key)
	if err != nil || !exists {
		return nil
	}
	found, _ := object.(P)
	return found
}

// getTimeout bounds how long a scheduling cycle may wait for an object.
const getTimeout = 2 * time.Second

// Get is Cached, but asks the API server for an object that the informer does not know: events of
// other kinds, such as of the pods that refer to the object, may arrive before its own. It returns
// nil if the object does not exist.
func (o *Objects[T, P]) Get(ctx context.Context, namespace, name string) (P, error) {
	if found := o.Cached(namespace, name); found != nil || o.live == nil {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, getTimeout)
	defer cancel()
	raw, err := o.live.Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s/%s: %w", namespace, name, err)
	}
	return typed[T, P](raw)
}

// Each calls do for every object that the informer knows.
func (o *Objects[T, P]) Each(do func(P)) {
	for _, object := range o.informer.GetIndexer().List() {
		if found, ok := object.(P); ok {
			do(found)
		}
	}
}

func typed[T any, P Object[T]](raw *unstructured.Unstructured) (P, error) {
	object := P(new(T))
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw.Object, object); err != nil {
		return nil, fmt.Errorf("reading %s %s/%s: %w", raw.GetKind(), raw.GetNamespace(), raw.GetName(), err)
	}
	return object, nil
}

// objectList is a list of objects of any Go type.
type objectList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []runtime.Object
}

// DeepCopyObject implements runtime.Object. Lists are not copied, but their objects are.
func (l *objectList) DeepCopyObject() runtime.Object { return l }

var errNoCluster = errors.New("there is no cluster")

// none has no objects.
func none() *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return &objectList{}, nil },
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			if options.SendInitialEvents != nil {
				return nil, errNoCluster // the reader lists instead
			}
			return watch.NewFake(), nil
		},
	}
}

func listWatch[T any, P Object[T]](live dynamic.NamespaceableResourceInterface) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			raw, err := live.List(ctx, options)
			if err != nil {
				return nil, err
			}
			list := &objectList{ListMeta: metav1.ListMeta{
				ResourceVersion: raw.GetResourceVersion(), Continue: raw.GetContinue(), RemainingItemCount: raw.GetRemainingItemCount(),
			}}
			for i := range raw.Items {
				if object, err := typed[T, P](&raw.Items[i]); err == nil {
					list.Items = append(list.Items, object)
				} else {
					utilruntime.HandleErrorWithContext(ctx, err, "Leaving out an object")
				}
			}
			return list, nil
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := live.Watch(ctx, options)
			if err != nil {
				return nil, err
			}
			return watchfilter.New(w, func(event watch.Event) (watch.Event, bool) {
				raw, ok := event.Object.(*unstructured.Unstructured)
				if !ok {
					return event, true // an error
				}
				object, err := typed[T, P](raw)
				if err != nil {
					utilruntime.HandleErrorWithContext(ctx, err, "Leaving out an object")
					return event, false
				}
				event.Object = object
				return event, true
			}), nil
		},
	}
}
