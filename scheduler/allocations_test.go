package scheduler

import (
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

// An object counts as seen when every handler has processed its version or a later one, not
// when the informer has it.
func TestAnObjectIsSeenWhenAllHandlersHaveProcessedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		volume := func(version string) *v1.PersistentVolume {
			return &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v", UID: "v", ResourceVersion: version}}
		}
		client := fake.NewClientset()
		f := informers.NewSharedInformerFactory(client, 0)
		seen := processedBy(f, &v1.PersistentVolume{}, coreinformers.NewPersistentVolumeInformer)
		busy := make(chan struct{})
		_, err := f.Core().V1().PersistentVolumes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { <-busy }, UpdateFunc: func(_, _ any) { <-busy }, DeleteFunc: func(any) { <-busy },
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		f.Start(stop)
		f.WaitForCacheSync(stop)
		expect := func(when string, version string, want bool) {
			t.Helper()
			synctest.Wait()
			if got := seen(volume(version)); got != want {
				t.Errorf("%s, version %s is seen: %t", when, version, got)
			}
		}
		volumes := client.CoreV1().PersistentVolumes()
		expect("before there is an object", "1", false)
		if _, err := volumes.Create(t.Context(), volume("1"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		expect("while a handler is busy with it", "1", false)
		busy <- struct{}{}
		expect("when the handler is done", "1", true)
		expect("when the handler is done", "2", false)
		if _, err := volumes.Update(t.Context(), volume("2"), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		expect("while a handler is busy with an update", "1", false)
		close(busy)
		expect("after the update", "1", true)
		expect("after the update", "2", true)
		if err := volumes.Delete(t.Context(), "v", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		expect("after the deletion", "2", false)
		close(stop)
		f.Shutdown()
	})
}
