package replay

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/watchfilter"
)

// clusterSource lists and watches a cluster, and makes no other requests.
type clusterSource struct {
	client     dynamic.Interface
	namespaces map[string]bool
	selector   string
}

var _ Source = (*clusterSource)(nil)

// NewSource returns a source that reads a cluster with config's rights and rate limits. Unless it is
// empty, namespaces restricts namespaced objects, and selector restricts pods.
func NewSource(config *rest.Config, namespaces []string, selector string) (Source, error) {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating the source's client: %w", err)
	}
	s := &clusterSource{client: client, selector: selector}
	for _, namespace := range namespaces {
		if s.namespaces == nil {
			s.namespaces = map[string]bool{}
		}
		s.namespaces[namespace] = true
	}
	return s, nil
}

// pageSize is how many objects are requested at a time.
const pageSize = 500

func (s *clusterSource) List(ctx context.Context, kind Kind) ([]*unstructured.Unstructured, string, error) {
	o := s.options(kind)
	o.Limit = pageSize
	var items []*unstructured.Unstructured
	for {
		list, err := s.client.Resource(kind.GVR()).List(ctx, o)
		if err != nil {
			return nil, "", err
		}
		for i := range list.Items {
			items = append(items, &list.Items[i])
		}
		if o.Continue = list.GetContinue(); o.Continue == "" {
			return s.selected(items, kind), list.GetResourceVersion(), nil
		}
	}
}

func (s *clusterSource) options(kind Kind) metav1.ListOptions {
	o := metav1.ListOptions{}
	if kind == podKind {
		o.LabelSelector = s.selector
	}
	return o
}

func (s *clusterSource) selected(items []*unstructured.Unstructured, kind Kind) []*unstructured.Unstructured {
	if s.namespaces == nil || !kind.Namespaced {
		return items
	}
	out := items[:0]
	for _, item := range items {
		if s.namespaces[item.GetNamespace()] {
			out = append(out, item)
		}
	}
	return out
}

func (s *clusterSource) Watch(ctx context.Context, kind Kind, version string) (watch.Interface, error) {
	o := s.options(kind)
	o.ResourceVersion, o.AllowWatchBookmarks = version, true
	w, err := s.client.Resource(kind.GVR()).Watch(ctx, o)
	if err != nil || s.namespaces == nil || !kind.Namespaced {
		return w, err
	}
	return watchfilter.New(w, func(e watch.Event) (watch.Event, bool) {
		object, ok := e.Object.(*unstructured.Unstructured)
		return e, !ok || e.Type == watch.Bookmark || s.namespaces[object.GetNamespace()]
	}), nil
}
