// Package customresource reads custom resources whose definition need not be installed. While the
// API server does not serve a kind, the kind looks like one without objects: nothing waits for it,
// and nothing logs. When the definition is installed, its objects appear.
//
// It serves the scheduler and its plugins, recorded or not. It may import the scheduling framework
// and Kubernetes' client libraries.
package customresource

import (
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// lookAgain is how often a watch of a kind that is not served asks whether it is.
const lookAgain = 500 * time.Millisecond

// NewClient returns a client whose lists and watches treat a kind that is not served as one
// without objects. Its other requests fail as usual. config may be one for protobuf.
func NewClient(config *rest.Config) (dynamic.Interface, error) {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	inner, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for custom resources: %w", err)
	}
	return client{inner}, nil
}

type client struct{ dynamic.Interface }

// Resource implements dynamic.Interface.
func (c client) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	all := c.Interface.Resource(gvr)
	return resource{lister{all}, all}
}

// resource is a kind in all namespaces.
type resource struct {
	lister
	all dynamic.NamespaceableResourceInterface
}

// Namespace implements dynamic.NamespaceableResourceInterface.
func (r resource) Namespace(namespace string) dynamic.ResourceInterface {
	return lister{r.all.Namespace(namespace)}
}

type lister struct{ dynamic.ResourceInterface }

// List implements dynamic.ResourceInterface.
func (l lister) List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	list, err := l.ResourceInterface.List(ctx, options)
	if apierrors.IsNotFound(err) {
		return &unstructured.UnstructuredList{}, nil
	}
	return list, err
}

// Watch implements dynamic.ResourceInterface. A watch of a kind that is not served any more fails
// as expired, so that its reader lists again and learns that the objects have gone. A watch that
// follows such a list waits until the kind is served, and then expires.
func (l lister) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := l.ResourceInterface.Watch(ctx, options)
	switch {
	case !apierrors.IsNotFound(err):
		return w, err
	case options.SendInitialEvents != nil && *options.SendInitialEvents:
		return nil, err // the reader lists instead
	case options.ResourceVersion != "":
		return nil, apierrors.NewResourceExpired("the kind is not served any more")
	}
	return l.await(ctx), nil
}

// await returns a watch that expires when the kind is served.
func (l lister) await(ctx context.Context) watch.Interface {
	ctx, cancel := context.WithCancel(ctx)
	w := &awaiting{events: make(chan watch.Event, 1), stop: cancel}
	go func() {
		defer close(w.events)
		err := wait.PollUntilContextCancel(ctx, lookAgain, false, func(ctx context.Context) (bool, error) {
			_, err := l.ResourceInterface.List(ctx, metav1.ListOptions{Limit: 1})
			return err == nil, nil
		})
		if err == nil {
			w.events <- watch.Event{Type: watch.Error, Object: &metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "the kind is served now",
			}}
		}
	}()
	return w
}

type awaiting struct {
	events chan watch.Event
	stop   context.CancelFunc
}

// Stop implements watch.Interface.
func (a *awaiting) Stop() { a.stop() }

// ResultChan implements watch.Interface.
func (a *awaiting) ResultChan() <-chan watch.Event { return a.events }
