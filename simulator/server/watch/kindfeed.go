package watch

import (
	"context"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// feedKey names a list. An empty namespace means all namespaces.
type feedKey struct {
	schema.GroupVersionResource
	namespace string
}

// kindFeed is the feed of the objects of one kind. It is the store of a reflector, which fills it.
type kindFeed struct {
	feed
	key feedKey
	log klog.Logger

	// feed.mu guards objects, which are by key.
	objects map[string]*object

	// The hub sets both: stop ends run, and forget makes the next subscription ask the API server
	// again.
	stop, forget func()
}

func newKindFeed(h *Hub, key feedKey) *kindFeed {
	f := &kindFeed{feed: newFeed(h.clock, h.limits), key: key, log: h.log, objects: map[string]*object{}}
	f.list = f.sorted
	return f
}

// run reflects the kind until ctx ends, the API server refuses the kind, or the feed has no readers
// and retire agrees.
func (f *kindFeed) run(ctx context.Context, client func(context.Context) rest.Interface, retire func() bool) {
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, f.log))
	defer cancel()
	var reflecting sync.WaitGroup
	defer reflecting.Wait()
	reflecting.Go(func() {
		if c := client(ctx); c != nil {
			f.reflect(ctx, c)
		}
	})
	f.pump(ctx, retire)
	cancel()
}

func (f *kindFeed) reflect(ctx context.Context, client rest.Interface) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source := &apiSource{client: client, key: f.key, refused: func(err *apierrors.StatusError) {
		f.forget()
		f.end(&refusal{Code: int(err.ErrStatus.Code), Message: err.ErrStatus.Message})
		cancel()
	}}
	var asking sync.WaitGroup
	defer asking.Wait()
	asking.Go(func() { f.askWhileSilent(ctx, source) })
	defer cancel()
	// A reflector logs the end of each watch at level 0, and all of them end when the API server
	// stops.
	quiet := f.log.V(2)
	cache.NewReflectorWithOptions(source, nil, f, cache.ReflectorOptions{
		Logger:          &quiet,
		Name:            "watch-hub",
		TypeDescription: f.key.GroupVersionResource.String(),
		Backoff: &wait.Backoff{
			Duration: f.limits.retry, Cap: f.limits.retryMax, Factor: 2, Jitter: 0.5, Steps: 10,
		},
	}).RunWithContext(klog.NewContext(ctx, quiet))
}

// askWhileSilent ends the feed with the API server's error if the kind cannot be listed: the
// reflector repeats a list that fails with a server error forever, and readers would wait without a
// word. The conversion webhook of a CustomResourceDefinition, for example, may be broken.
func (f *kindFeed) askWhileSilent(ctx context.Context, source *apiSource) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.clock.After(f.limits.silence):
		}
		if f.isOpen() {
			return
		}
		source.ask(ctx)
	}
}

// sorted is feed.list.
func (f *kindFeed) sorted() [][]byte {
	items := make([][]byte, 0, len(f.objects))
	for _, key := range sortedKeys(f.objects) {
		items = append(items, f.objects[key].json)
	}
	return items
}

// Add and the methods that follow implement cache.ReflectorStore.
func (f *kindFeed) Add(item any) error { return f.Update(item) }

func (f *kindFeed) Update(item any) error {
	o := item.(*object)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.upsert(o)
	return nil
}

// The caller of upsert holds mu.
func (f *kindFeed) upsert(o *object) {
	old, ok := f.objects[o.key()]
	f.objects[o.key()] = o
	switch {
	case !ok:
		f.append(added, o.json)
	case old.uid != o.uid:
		f.append(deleted, old.json)
		f.append(added, o.json)
	case old.resourceVersion != o.resourceVersion:
		f.append(modified, o.json)
	}
}

func (f *kindFeed) Delete(item any) error {
	o := item.(*object)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.objects[o.key()]; ok {
		delete(f.objects, o.key())
		f.append(deleted, o.json)
	}
	return nil
}

// Replace takes the whole list. After the first list, readers get only the differences, so they do
// not notice that the watch was interrupted.
func (f *kindFeed) Replace(items []any, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.open {
		for _, item := range items {
			o := item.(*object)
			f.objects[o.key()] = o
		}
		f.setOpen()
		return nil
	}
	present := make(map[string]*object, len(items))
	for _, item := range items {
		o := item.(*object)
		present[o.key()] = o
	}
	for _, key := range sortedKeys(f.objects) {
		if _, ok := present[key]; !ok {
			gone := f.objects[key]
			delete(f.objects, key)
			f.append(deleted, gone.json)
		}
	}
	for _, key := range sortedKeys(present) {
		f.upsert(present[key])
	}
	return nil
}

func (f *kindFeed) Resync() error { return nil }

func sortedKeys(objects map[string]*object) []string {
	return slices.Sorted(maps.Keys(objects))
}

var _ cache.ReflectorStore = (*kindFeed)(nil)
