package customresource

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

var things = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}

// kind is what an API server knows of a kind that may not be served.
type kind struct {
	dynamic.NamespaceableResourceInterface

	mu      sync.Mutex
	served  bool
	objects []unstructured.Unstructured
	watches []*watch.FakeWatcher
	version string
}

func (k *kind) Namespace(string) dynamic.ResourceInterface { return k }

func (k *kind) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.served {
		return nil, apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{}, "", "404 page not found", 0, true)
	}
	list := &unstructured.UnstructuredList{Items: k.objects}
	list.SetResourceVersion(k.version)
	return list, nil
}

func (k *kind) Watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.served {
		return nil, apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{}, "", "404 page not found", 0, true)
	}
	if options.SendInitialEvents != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)
	}
	w := watch.NewFake()
	k.watches = append(k.watches, w)
	return w, nil
}

func (k *kind) Resource(schema.GroupVersionResource) dynamic.NamespaceableResourceInterface { return k }

// serve serves the kind with objects of those names, or stops serving it.
func (k *kind) serve(served bool, version string, names ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.served, k.version, k.objects = served, version, nil
	for _, name := range names {
		k.objects = append(k.objects, unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "resourceVersion": version}}})
	}
	for _, w := range k.watches {
		w.Stop()
	}
	k.watches = nil
}

// TestAnInformerOfAKindThatIsNotServed: it has synced at once, without objects and without a word in
// the log; it learns of the objects when the kind is served, and that they have gone when it is not
// served any more.
func TestAnInformerOfAKindThatIsNotServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
		server := &kind{}
		informer := dynamicinformer.NewFilteredDynamicInformer(client{server}, things, "", 0, nil, nil).Informer()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			informer.RunWithContext(ctx)
		}()
		count := func() int {
			time.Sleep(time.Minute)
			synctest.Wait()
			return len(informer.GetStore().List())
		}
		time.Sleep(time.Second)
		if !informer.HasSynced() {
			t.Fatal("the informer waits for a kind that is not served")
		}
		for _, step := range []struct {
			what   string
			served bool
			names  []string
		}{
			{what: "not served yet"},
			{what: "served", served: true, names: []string{"a", "b"}},
			{what: "not served any more"},
			{what: "served again", served: true, names: []string{"c"}},
		} {
			server.serve(step.served, "7", step.names...)
			if got := count(); got != len(step.names) {
				t.Errorf("%s: %d objects, want %d", step.what, got, len(step.names))
			}
		}
		cancel()
		<-ended
		for _, entry := range logger.GetSink().(ktesting.Underlier).GetBuffer().Data() {
			if entry.Type == ktesting.LogError {
				t.Errorf("logged: %s", entry.Message)
			}
		}
	})
}
