package supervisor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/schedulertest"
)

// lag is how much later than other events those arrive that a new scheduler must wait
// for. It is longer than a swap takes otherwise.
const lag = 3 * time.Second

// create creates objects.
func (c *cluster) create(t *testing.T, objects ...runtime.Object) {
	t.Helper()
	for _, o := range objects {
		if err := schedulertest.Create(t.Context(), c.client, o); err != nil {
			t.Fatal(err)
		}
	}
}

// swap applies a configuration that differs from the previous ones.
func (c *cluster) swap(t *testing.T, i int) {
	t.Helper()
	c.apply(t, fmt.Sprintf("%sparallelism: %d\n", header, i+1))
}

// holders notes which object holds what, and fails when two hold the same.
type holders map[string]string

func (h holders) take(t *testing.T, what, holder string) {
	t.Helper()
	if before, taken := h[what]; taken && before != holder {
		t.Errorf("%s was handed out twice, to %s and to %s", what, before, holder)
	}
	h[what] = holder
}

// meanwhile runs do, and swaps the configuration at the same time.
func (c *cluster) meanwhile(t *testing.T, i int, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	c.swap(t, i)
	<-done
}

// A new scheduler must not hand out devices that the old one has just handed out, even
// if it hears of pods sooner than of claims, or never hears of claims.
func TestSwapsHandOutNoDeviceTwice(t *testing.T) {
	const devices, rounds, podsPerRound = 14, 5, 4
	for _, late := range []time.Duration{lag, time.Hour} {
		t.Run(fmt.Sprintf("late by %v", late), func(t *testing.T) {
			inBubble(t, 0, nil, func(t *testing.T, c *cluster) {
				c.create(t,
					st.MakeNode().Name("n").Capacity(map[v1.ResourceName]string{"cpu": "100", "pods": "100"}).Obj(),
					&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{{
						CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example"`},
					}}}},
				)
				slice := st.MakeResourceSlice("n", "gpu.example")
				for i := range devices {
					slice.Device(fmt.Sprintf("gpu-%d", i))
				}
				c.create(t, slice.Obj())
				for i := range rounds * podsPerRound {
					c.create(t, st.MakeResourceClaim().Name(fmt.Sprintf("claim-%02d", i)).Namespace("default").Request("gpu").Obj())
				}
				time.Sleep(time.Second)
				c.server.DelayEvents("resourceclaims", late)
				for round := range rounds {
					c.meanwhile(t, round, func() {
						for i := range podsPerRound {
							claim := fmt.Sprintf("claim-%02d", round*podsPerRound+i)
							c.create(t, st.MakePod().Name("p-"+claim).Namespace("default").SchedulerName(v1.DefaultSchedulerName).
								PodResourceClaims(v1.PodResourceClaim{Name: "gpu", ResourceClaimName: &claim}).Obj())
							time.Sleep(25 * time.Millisecond)
						}
					})
				}
				time.Sleep(time.Minute)

				claims, err := c.client.ResourceV1().ResourceClaims("").List(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				held := holders{}
				for _, claim := range claims.Items {
					if claim.Status.Allocation == nil {
						continue
					}
					for _, r := range claim.Status.Allocation.Devices.Results {
						held.take(t, r.Device, claim.Name)
					}
				}
				if len(held) != devices {
					t.Errorf("%d of %d devices are allocated", len(held), devices)
				}
				c.noConflicts(t)
			})
		})
	}
}

// A new scheduler must not give a claim another volume, or a volume to another claim.
func TestSwapsHandOutNoVolumeTwice(t *testing.T) {
	const pods = 8
	for _, late := range []string{"persistentvolumes", "persistentvolumeclaims"} {
		t.Run("late "+late, func(t *testing.T) {
			inBubble(t, 0, nil, func(t *testing.T, c *cluster) {
				c.create(t,
					st.MakeNode().Name("n").Label(v1.LabelHostname, "n").Capacity(map[v1.ResourceName]string{"cpu": "100", "pods": "100"}).Obj(),
					st.MakeStorageClass().Name("local").Provisioner("kubernetes.io/no-provisioner").VolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).Obj(),
				)
				size := v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
				for i := range pods {
					volume := st.MakePersistentVolume().Name(fmt.Sprintf("volume-%d", i)).StorageClassName("local").
						AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}).Capacity(size).
						HostPathVolumeSource(&v1.HostPathVolumeSource{Path: "/volume"}).NodeAffinityIn(v1.LabelHostname, []string{"n"}).Obj()
					volume.Status.Phase = v1.VolumeAvailable
					c.create(t, volume)
				}
				for i := range pods {
					c.create(t, st.MakePersistentVolumeClaim().Name(fmt.Sprintf("claim-%d", i)).Namespace("default").StorageClassName(ptr.To("local")).
						AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}).Resources(v1.VolumeResourceRequirements{Requests: size}).Obj())
				}
				time.Sleep(time.Second)
				c.server.DelayEvents(late, lag)
				for round := range 4 {
					c.meanwhile(t, round, func() {
						for i := range pods / 4 {
							claim := fmt.Sprintf("claim-%d", round*pods/4+i)
							c.create(t, st.MakePod().Name("p-"+claim).Namespace("default").SchedulerName(v1.DefaultSchedulerName).PVC(claim).Obj())
							time.Sleep(40 * time.Millisecond)
						}
					})
				}
				time.Sleep(5 * time.Minute)

				volumes, err := c.client.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				held := holders{}
				for _, v := range volumes.Items {
					if v.Spec.ClaimRef != nil {
						held.take(t, "the claim "+v.Spec.ClaimRef.Name, v.Name)
					}
				}
				if len(held) != pods {
					t.Errorf("%d of %d claims have a volume", len(held), pods)
				}
				c.noConflicts(t)
			})
		})
	}
}

// noConflicts fails when an attempt ended because the scheduler wrote to an object that
// it knew only in an older version.
func (c *cluster) noConflicts(t *testing.T) {
	t.Helper()
	c.cycles.mu.Lock()
	defer c.cycles.mu.Unlock()
	for _, of := range c.cycles.all {
		for _, cycle := range of {
			if strings.Contains(cycle.Message, "modified") {
				t.Errorf("%s, attempt %d: %s", cycle.Pod.Name, cycle.Attempt, cycle.Message)
			}
		}
	}
}
