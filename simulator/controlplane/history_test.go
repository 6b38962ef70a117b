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
	"k8s.io/client-go/kubernetes"

	"kube-scheduler-simulator/simulator/clustertest"
)

// TestPodsHaveAShortHistory changes a pod until the API server refuses a watch from its first version. Upstream's
// watch cache keeps each change for 75 seconds.
func TestPodsHaveAShortHistory(t *testing.T) {
	clustertest.Slow(t)
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	pods := client.CoreV1().Pods("default")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "changing"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}},
	}
	created, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		now := int64(0)
		if err := pods.Delete(context.Background(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Error(err)
		}
	})

	start, changes := time.Now(), 0
	clustertest.EventuallyWithin(t, 5*history, "the first version being forgotten", func(ctx context.Context) (bool, error) {
		for range 50 {
			changes++
			patch := fmt.Sprintf(`{"metadata":{"labels":{"change":"%d"}}}`, changes)
			if _, err := pods.Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				return false, err
			}
		}
		return isForgotten(ctx, client, created.ResourceVersion)
	})
	if took := time.Since(start); took < history {
		t.Errorf("a change was forgotten after %v and %d changes, want at least %v", took, changes, history)
	}
}

// isForgotten reports whether a watch of pods from a version has to list again.
func isForgotten(ctx context.Context, client kubernetes.Interface, version string) (bool, error) {
	w, err := client.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{ResourceVersion: version})
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
