package kubecontrollers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// TestAllNodesAreListedSeldom: the first look at all nodes is immediate, the next ones wait, and the end of the controller ends the wait.
func TestAllNodesAreListedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		if err := nodes.Add(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		lister := &pacedLister{NodeLister: corelisters.NewNodeLister(nodes), ended: ctx.Done()}
		start := time.Now()
		list := func(want time.Duration) {
			t.Helper()
			if listed, err := lister.List(labels.Everything()); err != nil || len(listed) != 1 {
				t.Fatalf("%d nodes, %v", len(listed), err)
			}
			if took := time.Since(start); took != want {
				t.Errorf("listed after %v, not %v", took, want)
			}
		}
		list(0)
		if _, err := lister.Get("n"); err != nil || time.Since(start) != 0 {
			t.Errorf("one node waits for %v, with %v", time.Since(start), err)
		}
		list(topologyInterval)
		time.Sleep(10 * time.Second)
		list(topologyInterval + 10*time.Second)
		cancel()
		list(topologyInterval + 10*time.Second)
	})
}
