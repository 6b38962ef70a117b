package schedulertest

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Store makes the informers of the kinds hold the objects. Call it before anything else
// uses the factory. The informers need no start: their objects do not change, and a handler
// has heard of all of them when it is added.
func Store(factory informers.SharedInformerFactory, kinds, objects []runtime.Object) error {
	for _, kind := range kinds {
		informer := holder{indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
		for _, o := range objects {
			if reflect.TypeOf(o) != reflect.TypeOf(kind) {
				continue
			}
			if err := informer.indexer.Add(o); err != nil {
				return err
			}
		}
		factory.InformerFor(kind, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return informer })
	}
	return nil
}

type holder struct {
	cache.SharedIndexInformer
	indexer cache.Indexer
}

var (
	_ cache.ResourceEventHandlerRegistration = holder{}
	_ cache.DoneChecker                      = holder{}
)

func (s holder) GetIndexer() cache.Indexer              { return s.indexer }
func (s holder) GetStore() cache.Store                  { return s.indexer }
func (s holder) AddIndexers(added cache.Indexers) error { return s.indexer.AddIndexers(added) }
func (s holder) HasSynced() bool                        { return true }
func (s holder) HasSyncedChecker() cache.DoneChecker    { return s }
func (s holder) Name() string                           { return "held objects" }

func (s holder) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func (s holder) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	for _, o := range s.indexer.List() {
		h.OnAdd(o, true)
	}
	return s, nil
}
