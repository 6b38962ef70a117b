package scheduler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// successive returns two schedulers with the default configuration, of which the first has started.
func successive(t *testing.T, server *schedulertest.APIServer) (before, next *scheduler.Scheduler) {
	t.Helper()
	standard, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	options := scheduler.Options{Client: server.Config("scheduler"), Configuration: standard.Internal, Sink: resultstore.New(resultstore.Options{})}
	before, next = scheduler.New(options), scheduler.New(options)
	if err := before.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return before, next
}

// A scheduler that takes over must know the nominations of its predecessor before it
// schedules, or it gives the nominated pod's room to others.
func TestCatchUpWaitsForNominations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := schedulertest.NewAPIServer()
		server.DelayTermination(time.Hour)
		client, err := kubernetes.NewForConfig(server.Config("user"))
		if err != nil {
			t.Fatal(err)
		}
		create := func(pod *st.PodWrapper, priority int32) {
			p := pod.Namespace("default").SchedulerName(v1.DefaultSchedulerName).Priority(priority).Req(map[v1.ResourceName]string{"cpu": "1"}).Obj()
			if err := schedulertest.Create(t.Context(), client, p); err != nil {
				t.Fatal(err)
			}
		}
		if err := schedulertest.Create(t.Context(), client, st.MakeNode().Name("n").Capacity(map[v1.ResourceName]string{"cpu": "1", "pods": "10"}).Obj()); err != nil {
			t.Fatal(err)
		}
		before, next := successive(t, server)
		create(st.MakePod().Name("victim"), 1)
		time.Sleep(time.Second)
		if err := next.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		server.DelayEvents("pods", 2*time.Second)
		create(st.MakePod().Name("preemptor"), 10)
		waitFor(t, func(ctx context.Context) bool {
			p, err := client.CoreV1().Pods("default").Get(ctx, "preemptor", metav1.GetOptions{})
			return err == nil && p.Status.NominatedNodeName == "n"
		})
		if err := before.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := next.CatchUp(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"preemptor"}, next.NominatedTo("n")); diff != "" {
			t.Errorf("nominated pods that the new scheduler knows (-want +got):\n%s", diff)
		}
		if err := next.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour) // goroutines that Kubernetes does not wait for end on their own
	})
}

// It must also know what its predecessor has given to claims, however late it hears of that.
func TestCatchUpWaitsForAllocations(t *testing.T) {
	for kind, of := range map[string]struct{ name, holds string }{
		"persistentvolumes": {"volume", "claim"}, "persistentvolumeclaims": {"claim", "volume"}, "resourceclaims": {"device", "gpu-0"},
	} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := schedulertest.NewAPIServer()
				client, err := kubernetes.NewForConfig(server.Config("user"))
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range allocatable() {
					if err := schedulertest.Create(t.Context(), client, o); err != nil {
						t.Fatal(err)
					}
				}
				before, next := successive(t, server)
				if err := next.Prepare(t.Context()); err != nil {
					t.Fatal(err)
				}
				server.DelayEvents(kind, 5*time.Second)
				pod := st.MakePod().Name("p").Namespace("default").SchedulerName(v1.DefaultSchedulerName).PVC("claim").
					PodResourceClaims(v1.PodResourceClaim{Name: "gpu", ResourceClaimName: ptr.To("device")}).Obj()
				if err := schedulertest.Create(t.Context(), client, pod); err != nil {
					t.Fatal(err)
				}
				waitFor(t, func(ctx context.Context) bool {
					claim, err := client.CoreV1().PersistentVolumeClaims("default").Get(ctx, "claim", metav1.GetOptions{})
					device, errDevice := client.ResourceV1().ResourceClaims("default").Get(ctx, "device", metav1.GetOptions{})
					return err == nil && claim.Spec.VolumeName != "" && errDevice == nil && device.Status.Allocation != nil
				})
				if err := before.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := next.Holds(kind, of.name); got != "" {
					t.Fatalf("the new scheduler has heard of %s too early for this test", got)
				}
				if err := next.CatchUp(t.Context(), before); err != nil {
					t.Fatal(err)
				}
				if got := next.Holds(kind, of.name); got != of.holds {
					t.Errorf("the new scheduler knows that %s has %q, not %q", of.name, got, of.holds)
				}
				if err := next.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Hour) // goroutines that Kubernetes does not wait for end on their own
			})
		})
	}
}

// allocatable returns a node with a volume and a device, and a claim for each.
func allocatable() []runtime.Object {
	size := v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	volume := st.MakePersistentVolume().Name("volume").StorageClassName("local").
		AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}).Capacity(size).
		HostPathVolumeSource(&v1.HostPathVolumeSource{Path: "/volume"}).NodeAffinityIn(v1.LabelHostname, []string{"n"}).Obj()
	volume.Status.Phase = v1.VolumeAvailable
	return []runtime.Object{
		st.MakeNode().Name("n").Label(v1.LabelHostname, "n").Capacity(map[v1.ResourceName]string{"cpu": "100", "pods": "100"}).Obj(),
		st.MakeStorageClass().Name("local").Provisioner("kubernetes.io/no-provisioner").VolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).Obj(),
		volume,
		st.MakePersistentVolumeClaim().Name("claim").Namespace("default").StorageClassName(ptr.To("local")).
			AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}).Resources(v1.VolumeResourceRequirements{Requests: size}).Obj(),
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{{
			CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example"`},
		}}}},
		st.MakeResourceSlice("n", "gpu.example").Devices("gpu-0").Obj(),
		st.MakeResourceClaim().Name("device").Namespace("default").Request("gpu").Obj(),
	}
}

// waitFor waits, in a bubble, for a condition that becomes true by itself.
func waitFor(t *testing.T, met func(context.Context) bool) {
	t.Helper()
	for range 1000 {
		if met(t.Context()) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the condition is not met")
}
