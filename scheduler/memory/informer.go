package memory

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// informer is a shared informer whose handlers run on the goroutine that changes an object. It is
// always synced.
type informer struct {
	indexer cache.Indexer
	// read: a plugin or the scheduler has asked for the objects.
	read atomic.Bool

	mu sync.RWMutex
	// handlers is replaced, never changed.
	handlers []*registration
}

var _ cache.SharedIndexInformer = (*informer)(nil)

func newUnorderedInformer() *informer {
	return &informer{indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
}

func newOrderedInformer() *informer {
	i := newUnorderedInformer()
	i.indexer = orderedIndexer{i.indexer}
	return i
}

// orderedIndexer lists objects by namespace and name.
type orderedIndexer struct{ cache.Indexer }

func (o orderedIndexer) List() []any { return ordered(o.Indexer.List()) }

func (o orderedIndexer) Index(name string, object any) ([]any, error) {
	found, err := o.Indexer.Index(name, object)
	return ordered(found), err
}

func (o orderedIndexer) ByIndex(name, value string) ([]any, error) {
	found, err := o.Indexer.ByIndex(name, value)
	return ordered(found), err
}

func ordered(objects []any) []any {
	slices.SortFunc(objects, func(a, b any) int {
		return strings.Compare(keyOf(a.(metav1.Object)), keyOf(b.(metav1.Object)))
	})
	return objects
}

// give is a constructor as factories expect it.
func (i *informer) give(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return i }

func (i *informer) get(key string) metav1.Object {
	o, exists, err := i.indexer.GetByKey(key)
	if err != nil || !exists {
		return nil
	}
	return o.(metav1.Object)
}

// The store's methods fail only for objects without a name.

func (i *informer) add(o metav1.Object) {
	_ = i.indexer.Add(o)
	for _, r := range i.all() {
		r.handler.OnAdd(o, false)
	}
}

func (i *informer) update(before, o metav1.Object) {
	_ = i.indexer.Update(o)
	for _, r := range i.all() {
		r.handler.OnUpdate(before, o)
	}
}

func (i *informer) delete(before metav1.Object) {
	_ = i.indexer.Delete(before)
	for _, r := range i.all() {
		r.handler.OnDelete(before)
	}
}

func (i *informer) all() []*registration {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.handlers
}

// AddEventHandler shows all objects to the handler before it returns.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.read.Store(true)
	r := &registration{h}
	i.mu.Lock()
	i.handlers = append(slices.Clip(i.handlers), r)
	i.mu.Unlock()
	for _, o := range i.indexer.List() {
		h.OnAdd(o, true)
	}
	return r, nil
}

// AddEventHandlerWithResyncPeriod is AddEventHandler: there is no resync.
func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// RemoveEventHandler does nothing for an unknown handler.
func (i *informer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handlers = slices.DeleteFunc(slices.Clone(i.handlers), func(r *registration) bool { return r == handle })
	return nil
}

func (i *informer) GetStore() cache.Store { return i.GetIndexer() }

func (i *informer) GetIndexer() cache.Indexer {
	i.read.Store(true)
	return i.indexer
}

func (i *informer) AddIndexers(indexers cache.Indexers) error { return i.indexer.AddIndexers(indexers) }

// GetController returns nil: there is nothing to control.
func (i *informer) GetController() cache.Controller { return nil }

func (i *informer) Run(stop <-chan struct{}) { <-stop }

func (i *informer) RunWithContext(ctx context.Context) { <-ctx.Done() }

func (i *informer) HasSynced() bool { return true }

// LastSyncResourceVersion returns no version: nothing was listed.
func (i *informer) LastSyncResourceVersion() string { return "" }

// SetWatchErrorHandler does nothing: nothing is watched.
func (i *informer) SetWatchErrorHandler(cache.WatchErrorHandler) error { return nil }

func (i *informer) SetWatchErrorHandlerWithContext(cache.WatchErrorHandlerWithContext) error {
	return nil
}

// SetTransform does nothing: the caller of Set has transformed the objects.
func (i *informer) SetTransform(cache.TransformFunc) error { return nil }

func (i *informer) IsStopped() bool { return false }

// registration is a handler, which has seen everything.
type registration struct{ handler cache.ResourceEventHandler }

func (*registration) HasSynced() bool { return true }
