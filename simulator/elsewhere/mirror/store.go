package mirror

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// follower holds the prepared objects of a stream, and the state of its connection. A reflector
// fills it.
type follower struct {
	stream  stream
	prepare func(kind, *unstructured.Unstructured) *prepared
	// changed gets the key of each object that may have changed.
	changed func(key string)
	// heard is called when the connection is lost or comes back.
	heard func()

	mu      sync.Mutex
	objects map[string]*prepared
	// listed: the first list has arrived.
	listed bool
	// refused says why the source refuses the stream, which may change.
	refused string
	// down says why the source is silent; empty when it is not.
	down string
}

var (
	_ cache.ReflectorStore           = (*follower)(nil)
	_ cache.ListerWatcherWithContext = (*follower)(nil)
)

type condition struct {
	listed        bool
	refused, down string
	objects       int
}

func (f *follower) condition() condition {
	f.mu.Lock()
	defer f.mu.Unlock()
	return condition{f.listed, f.refused, f.down, len(f.objects)}
}

func (f *follower) get(key string) *prepared {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.objects[key]
}

func (f *follower) keys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]string, 0, len(f.objects))
	for key := range f.objects {
		out = append(out, key)
	}
	return out
}

// run lists and watches until ctx ends.
func (f *follower) run(ctx context.Context) {
	backoff := reconnect()
	expected := &unstructured.Unstructured{}
	expected.SetGroupVersionKind(f.stream.GroupVersionKind)
	r := cache.NewReflectorWithOptions(f, expected, f, cache.ReflectorOptions{Name: "mirror of " + f.stream.name(), Backoff: &backoff})
	r.WatchListPageSize = pageSize
	r.RunWithContext(ctx)
}

// A reflector calls Add and the other methods of a store.
func (f *follower) Add(obj any) error { return f.put(obj) }

func (f *follower) Update(obj any) error { return f.put(obj) }

func (f *follower) put(obj any) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("the source sends a %T", obj)
	}
	// A redacted object has another name, so only the prepared object knows its key.
	p := f.prepare(f.stream.kind, u)
	if p == nil {
		return nil
	}
	f.mu.Lock()
	f.objects[p.key()] = p
	f.mu.Unlock()
	f.changed(p.key())
	return nil
}

func (f *follower) Delete(obj any) error {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("the source deletes a %T", obj)
	}
	p := f.prepare(f.stream.kind, u)
	if p == nil {
		return nil
	}
	f.mu.Lock()
	delete(f.objects, p.key())
	f.mu.Unlock()
	f.changed(p.key())
	return nil
}

func (f *follower) Replace(list []any, _ string) error {
	next := make(map[string]*prepared, len(list))
	for _, obj := range list {
		u, ok := obj.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("the source lists a %T", obj)
		}
		if p := f.prepare(f.stream.kind, u); p != nil {
			next[p.key()] = p
		}
	}
	f.mu.Lock()
	before := f.objects
	f.objects, f.listed, f.refused = next, true, ""
	f.mu.Unlock()
	for key := range next {
		f.changed(key)
	}
	for key := range before {
		if next[key] == nil {
			f.changed(key)
		}
	}
	f.heard()
	return nil
}

// Without a change there is nothing to do.
func (f *follower) Resync() error { return nil }

func (f *follower) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := f.stream.list(ctx, options)
	f.note(ctx, err)
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (f *follower) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := f.stream.watch(ctx, options)
	f.note(ctx, err)
	return w, err
}

// List and Watch are for callers older than the reflector.
func (f *follower) List(options metav1.ListOptions) (runtime.Object, error) {
	return f.ListWithContext(context.Background(), options)
}

func (f *follower) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return f.WatchWithContext(context.Background(), options)
}

// IsWatchListSemanticsUnSupported makes the reflector list pages instead of one stream with
// everything.
func (f *follower) IsWatchListSemanticsUnSupported() bool { return true }

func (f *follower) note(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	before, refusedBefore := f.down, f.refused
	switch {
	case err == nil:
		f.down, f.refused = "", ""
	case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
		// The source answers, and the reflector lists again next.
	case apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		f.refused = err.Error()
		f.down = ""
	default:
		f.down = plain(err).Error()
	}
	changed := (before == "") != (f.down == "") || (refusedBefore == "") != (f.refused == "")
	f.mu.Unlock()
	if changed {
		f.heard()
	}
}
