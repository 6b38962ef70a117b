package memory

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/dynamic/dynamiclister"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

type dynamicFactory struct {
	world *World
	make  func() *informer

	mu        sync.Mutex
	informers map[schema.GroupVersionResource]*informer
}

var _ dynamicinformer.DynamicSharedInformerFactory = (*dynamicFactory)(nil)

func (f *dynamicFactory) informer(of schema.GroupVersionResource) *informer {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.informers[of]
	if i == nil {
		i = f.make()
		f.informers[of] = i
	}
	return i
}

func (f *dynamicFactory) ForResource(of schema.GroupVersionResource) informers.GenericInformer {
	return &genericInformer{of, f.informer(of)}
}

// Start does nothing: the informers need no goroutines.
func (*dynamicFactory) Start(<-chan struct{}) {}

func (*dynamicFactory) Shutdown() {}

func (f *dynamicFactory) WaitForCacheSync(<-chan struct{}) map[schema.GroupVersionResource]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[schema.GroupVersionResource]bool{}
	for of := range f.informers {
		out[of] = true
	}
	return out
}

type genericInformer struct {
	of       schema.GroupVersionResource
	informer *informer
}

func (i *genericInformer) Informer() cache.SharedIndexInformer { return i.informer }

func (i *genericInformer) Lister() cache.GenericLister {
	return dynamiclister.NewRuntimeObjectShim(dynamiclister.New(i.informer.GetIndexer(), i.of))
}
