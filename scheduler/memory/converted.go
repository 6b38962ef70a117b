package memory

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

type factory struct {
	informers.SharedInformerFactory
	world     *World
	converted map[schema.GroupVersionResource]*informer
}

// Converted returns the informer of a kind that Kubernetes' client library does not know, with the
// objects that convert makes of the unstructured ones. It leaves out those for which convert fails.
// All calls for a kind share the informer, and the first one's convert. Call it before any use of
// the World.
func (f *factory) Converted(of schema.GroupVersionResource, convert func(*unstructured.Unstructured) (metav1.Object, error)) cache.SharedIndexInformer {
	if i := f.converted[of]; i != nil {
		return i
	}
	i := f.world.dynamic.make()
	f.converted[of] = i
	converted := func(o any) metav1.Object {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			return nil
		}
		object, err := convert(u)
		if err != nil {
			return nil
		}
		return object
	}
	remove := func(o any) {
		if before := i.get(keyOf(o.(metav1.Object))); before != nil {
			i.delete(before)
		}
	}
	// The handlers of an informer in memory fail for no object.
	_, _ = f.world.dynamic.informer(of).AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			if object := converted(o); object != nil {
				i.add(object)
			}
		},
		UpdateFunc: func(_, o any) {
			object := converted(o)
			if object == nil {
				remove(o)
			} else if before := i.get(keyOf(object)); before != nil {
				i.update(before, object)
			} else {
				i.add(object)
			}
		},
		DeleteFunc: remove,
	})
	return i
}
