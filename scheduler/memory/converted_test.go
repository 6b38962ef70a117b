package memory_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// TestConverted: plugins read custom resources as their own types; what is none of the type is left
// out.
func TestConverted(t *testing.T) {
	w := newWorld()
	factory := w.Informers().(interface {
		Converted(schema.GroupVersionResource, func(*unstructured.Unstructured) (metav1.Object, error)) cache.SharedIndexInformer
	})
	convert := func(u *unstructured.Unstructured) (metav1.Object, error) {
		if u.GetLabels()["bad"] != "" {
			return nil, errors.New("not of the type")
		}
		return &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion()}}, nil
	}
	informer := factory.Converted(groups, convert)
	if factory.Converted(groups, convert) != informer {
		t.Error("the plugins of two profiles have two informers")
	}
	seen := watch(t, informer)
	version := func(v, bad string) *unstructured.Unstructured {
		g := group("g")
		g.SetResourceVersion(v)
		g.SetLabels(map[string]string{"bad": bad})
		return g
	}
	set(t, w, version("1", ""))
	w.Commit()
	mark := w.Mark()
	set(t, w, version("2", ""), version("3", "x"), version("4", ""), version("5", "x"))
	w.Delete(groupKind, "default", "g")
	w.Rollback(mark)
	want := events{
		"add g 1 false", "update g 1 to g 2", "delete g 2", "add g 4 false", "delete g 4",
		"add g 4 false", "delete g 4", "add g 2 false", "delete g 2", "add g 1 false",
	}
	if diff := cmp.Diff(want, *seen); diff != "" {
		t.Error(diff)
	}
	if got := informer.GetIndexer().ListKeys(); len(got) != 1 {
		t.Errorf("the informer has %v", got)
	}
}
