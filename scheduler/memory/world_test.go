package memory_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"kube-scheduler-simulator/scheduler/memory"
)

var (
	podKind   = v1.SchemeGroupVersion.WithKind("Pod")
	nodeKind  = v1.SchemeGroupVersion.WithKind("Node")
	groupKind = schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"}
	groups    = schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"}
)

func newWorld() *memory.World { return memory.NewWorld(fake.NewClientset()) }

func pod(name, version, node string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), ResourceVersion: version},
		Spec:       v1.PodSpec{NodeName: node},
	}
}

func node(name, version string) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: version}}
}

func group(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(groupKind)
	u.SetNamespace("default")
	u.SetName(name)
	u.SetUID(types.UID(name))
	u.SetResourceVersion("1")
	return u
}

// events is a handler that writes down what it sees.
type events []string

func (e *events) handler() cache.ResourceEventHandler {
	name := func(o any) string {
		accessor := o.(metav1.Object)
		at := ""
		if p, ok := o.(*v1.Pod); ok && p.Spec.NodeName != "" {
			at = " on " + p.Spec.NodeName
		}
		return accessor.GetName() + " " + accessor.GetResourceVersion() + at
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(o any, first bool) { *e = append(*e, fmt.Sprintf("add %s %t", name(o), first)) },
		UpdateFunc: func(before, o any) { *e = append(*e, fmt.Sprintf("update %s to %s", name(before), name(o))) },
		DeleteFunc: func(o any) { *e = append(*e, "delete "+name(o)) },
	}
}

func watch(t *testing.T, informer cache.SharedIndexInformer) *events {
	t.Helper()
	seen := &events{}
	registration, err := informer.AddEventHandler(seen.handler())
	if err != nil || !registration.HasSynced() || !informer.HasSynced() {
		t.Fatalf("%v, not synced", err)
	}
	return seen
}

func set(t *testing.T, w *memory.World, objects ...runtime.Object) {
	t.Helper()
	for _, o := range objects {
		if err := w.Set(o); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEvents: handlers see what they would see in a live cluster, before Set returns.
func TestEvents(t *testing.T) {
	ended := pod("p", "2", "a")
	ended.Status.Phase = v1.PodSucceeded
	another := pod("p", "2", "")
	another.UID = "another"
	for name, test := range map[string]struct {
		first, then runtime.Object
		want        []string
	}{
		"an update":                           {pod("p", "1", ""), pod("p", "2", ""), []string{"update p 1 to p 2"}},
		"a binding":                           {pod("p", "1", ""), pod("p", "2", "a"), []string{"update p 1 to p 2 on a"}},
		"a pod that loses its node":           {pod("p", "1", "a"), pod("p", "2", ""), []string{"delete p 1 on a", "add p 2 false"}},
		"a pod that changes its node":         {pod("p", "1", "a"), pod("p", "2", "b"), []string{"delete p 1 on a", "add p 2 on b false"}},
		"another pod of the same name":        {pod("p", "1", ""), another, []string{"delete p 1", "add p 2 false"}},
		"a version that is not newer":         {pod("p", "2", ""), pod("p", "1", ""), []string{"delete p 2", "add p 1 false"}},
		"a pod that has terminated":           {pod("p", "1", "a"), ended, []string{"delete p 1 on a"}},
		"a node's version that is not newer":  {node("a", "2"), node("a", "1"), []string{"update a 2 to a 1"}},
		"a pod that had terminated at first":  {ended, pod("p", "3", ""), []string{"add p 3 false"}},
		"a pod that is there is created anew": {pod("p", "1", ""), pod("p", "1", ""), []string{"delete p 1", "add p 1 false"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			set(t, w, test.first)
			informer := w.Informers().Core().V1().Pods().Informer()
			if _, isNode := test.first.(*v1.Node); isNode {
				informer = w.Informers().Core().V1().Nodes().Informer()
			}
			seen := watch(t, informer)
			before := len(*seen)
			set(t, w, test.then)
			if diff := cmp.Diff(test.want, []string((*seen)[before:])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHandlersThatComeLate see what exists, and those that go see nothing more.
func TestHandlersThatComeLate(t *testing.T) {
	w := newWorld()
	set(t, w, node("a", "1"))
	informer := w.Informers().Core().V1().Nodes().Informer()
	seen := &events{}
	registration, err := informer.AddEventHandler(seen.handler())
	if err != nil {
		t.Fatal(err)
	}
	set(t, w, node("b", "1"))
	if err := informer.RemoveEventHandler(registration); err != nil {
		t.Fatal(err)
	}
	w.Delete(nodeKind, "", "a")
	if diff := cmp.Diff(events{"add a 1 true", "add b 1 false"}, *seen); diff != "" {
		t.Error(diff)
	}
}

// TestRollback: each mark is a state that returns exactly, with the very same objects.
func TestRollback(t *testing.T) {
	w := newWorld()
	p, a := pod("p", "1", "a"), node("a", "1")
	set(t, w, p, a, group("g"))
	w.Commit()
	seen := watch(t, w.Informers().Core().V1().Pods().Informer())
	start := w.Mark()
	set(t, w, pod("q", "1", ""), pod("p", "2", "a"))
	middle := w.Mark()
	w.Delete(podKind, "default", "p")
	w.Delete(groupKind, "default", "g")
	set(t, w, node("a", "2"), node("b", "1"))

	w.Rollback(middle)
	if got := w.Get(podKind, "default", "p"); got == nil || got.(*v1.Pod).ResourceVersion != "2" || w.Len(podKind) != 2 {
		t.Errorf("at the mark in the middle: %v of %d", got, w.Len(podKind))
	}
	w.Rollback(start)
	if w.Get(podKind, "default", "p") != runtime.Object(p) || w.Get(nodeKind, "", "a") != runtime.Object(a) || w.Get(groupKind, "default", "g") == nil {
		t.Error("other objects are there than before")
	}
	if w.Len(podKind) != 1 || w.Len(nodeKind) != 1 {
		t.Errorf("%d pods and %d nodes", w.Len(podKind), w.Len(nodeKind))
	}
	want := events{
		"add p 1 on a true",
		"add q 1 false", "update p 1 on a to p 2 on a", "delete p 2 on a",
		"add p 2 on a false",
		"delete p 2 on a", "add p 1 on a false", "delete q 1",
	}
	if diff := cmp.Diff(want, *seen); diff != "" {
		t.Error(diff)
	}
}

// TestUnknownKinds: kinds that Kubernetes' client library does not know are kept as they are, for
// dynamic informers.
func TestUnknownKinds(t *testing.T) {
	w := newWorld()
	if w.Read(groupKind) {
		t.Error("nobody reads pod groups yet")
	}
	informer := w.DynamicInformers().ForResource(groups)
	seen := watch(t, informer.Informer())
	set(t, w, group("g"))
	listed, err := informer.Lister().ByNamespace("default").List(labels.Everything())
	if err != nil || len(listed) != 1 || len(w.List(groupKind)) != 1 || !w.Read(groupKind) {
		t.Errorf("%v, listed %v", err, listed)
	}
	if diff := cmp.Diff(events{"add g 1 false"}, *seen); diff != "" {
		t.Error(diff)
	}
	if !w.DynamicInformers().WaitForCacheSync(nil)[groups] {
		t.Error("the informer is not synced")
	}

	typed := &unstructured.Unstructured{}
	typed.SetGroupVersionKind(nodeKind)
	typed.SetName("a")
	set(t, w, typed)
	if _, ok := w.Get(nodeKind, "", "a").(*v1.Node); !ok {
		t.Errorf("an unstructured node is kept as %T", w.Get(nodeKind, "", "a"))
	}
	noKind := &metav1.PartialObjectMetadata{}
	if unknown := (*memory.KindError)(nil); !errors.As(w.Set(noKind), &unknown) {
		t.Errorf("the error is %v", w.Set(noKind))
	}
}

// TestRead: only kinds that somebody reads matter.
func TestRead(t *testing.T) {
	w := newWorld()
	if w.Read(nodeKind) {
		t.Error("nobody reads nodes yet")
	}
	nodes := w.Informers().Core().V1().Nodes().Lister()
	set(t, w, node("a", "1"), node("b", "1"))
	listed, err := nodes.List(labels.Everything())
	if err != nil || len(listed) != 2 || !w.Read(nodeKind) || w.Read(podKind) {
		t.Errorf("%v: %v", err, listed)
	}
}

// TestKindsOfLibraries: a kind that a library adds to client-go's scheme stays a custom resource.
func TestKindsOfLibraries(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "libraries.example.com", Version: "v1", Kind: "Pool"}
	scheme.Scheme.AddKnownTypeWithName(gvk, &v1.Node{}) // as Karpenter does
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetName("a")
	if typed, err := memory.Typed(u); err != nil || typed != runtime.Object(u) {
		t.Errorf("it became a %T, %v", typed, err)
	}
	w := memory.NewWorld(fake.NewClientset())
	if err := w.Set(u); err != nil {
		t.Fatal(err)
	}
	if got := w.Get(gvk, "", "a"); got != runtime.Object(u) {
		t.Errorf("the world has %v", got)
	}
}
