package controlplane

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestPodsAndNodesHaveAShortHistory changes a pod and a node until the API server refuses watches from their first versions. Upstream's
// watch caches keep each change for 75 seconds.
func TestPodsAndNodesHaveAShortHistory(t *testing.T) {
	clustertest.Slow(t)
	core := clustertest.Client(t, sharedControlPlane(t).ClientConfig()).CoreV1()
	pods, nodes := core.Pods("default"), core.Nodes()
	pod, err := pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "changing"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	t.Cleanup(func() {
		if err := pods.Delete(context.Background(), pod.Name, now); err != nil {
			t.Error(err)
		}
	})
	node, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "changing"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := nodes.Delete(context.Background(), node.Name, now); err != nil {
			t.Error(err)
		}
	})

	start, changes := time.Now(), 0
	clustertest.EventuallyWithin(t, 5*history, "the first versions being forgotten", func(ctx context.Context) (bool, error) {
		for range 50 {
			changes++
			patch := fmt.Appendf(nil, `{"metadata":{"labels":{"change":"%d"}}}`, changes)
			if _, err := pods.Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				return false, err
			}
			if _, err := nodes.Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				return false, err
			}
		}
		if forgotten, err := isForgotten(ctx, pods.Watch, pod.ResourceVersion); err != nil || !forgotten {
			return false, err
		}
		return isForgotten(ctx, nodes.Watch, node.ResourceVersion)
	})
	if took := time.Since(start); took < history {
		t.Errorf("a change was forgotten after %v and %d changes, want at least %v", took, changes, history)
	}
}

// isForgotten reports whether a watch from a version has to list again.
func isForgotten(ctx context.Context, start func(context.Context, metav1.ListOptions) (watch.Interface, error), version string) (bool, error) {
	w, err := start(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		if apierrors.IsResourceExpired(err) {
			return true, nil
		}
		return false, err
	}
	defer w.Stop()
	event := <-w.ResultChan()
	return event.Type == watch.Error && apierrors.IsResourceExpired(apierrors.FromObject(event.Object)), nil
}

// timed is what etcd's storage sends to a watch cache.
type timed struct {
	*corev1.Pod
	at time.Time
}

func (t timed) RecordTime() time.Time  { return t.at }
func (t timed) Unwrap() runtime.Object { return t.Pod }

// fakeStorage has watches of its own.
type fakeStorage struct {
	apistorage.Interface
	watch *watch.FakeWatcher
}

func (f fakeStorage) Watch(context.Context, string, apistorage.ListOptions) (watch.Interface, error) {
	return f.watch, nil
}

func TestTimeHurriesInAWatchCache(t *testing.T) {
	inner := watch.NewFakeWithChanSize(2, false)
	start := time.Now()
	w, err := hurrying{fakeStorage{watch: inner}, start}.Watch(t.Context(), "", apistorage.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "changing"}}
	inner.Add(timed{pod, start.Add(history)})
	inner.Modify(pod)

	change := (<-w.ResultChan()).Object.(apistorage.WatchEventWithRecordTime)
	if got, want := change.RecordTime().Sub(start), cacher.DefaultEventFreshDuration; got < want-history || got > want {
		t.Errorf("a change after %v is recorded after %v, want about %v", history, got, want)
	}
	if o, err := meta.Accessor(change); err != nil || o.GetName() != pod.Name || change.Unwrap() != pod {
		t.Errorf("the change is of %v (%v), want the pod", o, err)
	}
	if other := <-w.ResultChan(); other.Object != pod {
		t.Errorf("an object without a time became %v", other.Object)
	}
}

func TestAStoppedWatchLeavesNothing(t *testing.T) {
	inner := watch.NewFakeWithChanSize(2, false)
	w, err := hurrying{fakeStorage{watch: inner}, time.Now()}.Watch(t.Context(), "", apistorage.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	inner.Add(&corev1.Pod{})
	inner.Add(&corev1.Pod{})
	w.Stop()
	w.Stop() // a second time does nothing
	for range w.ResultChan() {
		// The watch closes the channel even if no reader has received the changes.
	}
	if !inner.IsStopped() {
		t.Error("the storage's watch goes on")
	}
}
