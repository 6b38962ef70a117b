package fit_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

// TestANewNodeComesWithAttachLimits: the scheduler places the pod on the node that was added, and tries it again for the CSINode rather than for the
// node.
func TestANewNodeComesWithAttachLimits(t *testing.T) {
	const driver = "disks.example.com"
	volume := func(name string) []runtime.Object {
		claim := st.MakePersistentVolumeClaim().Namespace("default").Name(name).StorageClassName(ptr.To("limited")).VolumeName(name).
			AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}).Annotation("pv.kubernetes.io/bind-completed", "yes").
			Resources(v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}}).Obj()
		claim.UID, claim.Status.Phase = types.UID("claim-"+name), v1.ClaimBound
		pv := st.MakePersistentVolume().Name(name).StorageClassName("limited").AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}).
			Capacity(v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}).Obj()
		pv.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}
		pv.Spec.ClaimRef = &v1.ObjectReference{Namespace: "default", Name: name, UID: types.UID("claim-" + name)}
		pv.Status.Phase = v1.VolumeBound
		return []runtime.Object{claim, pv}
	}
	pod := func(name string) *st.PodWrapper {
		return st.MakePod().Namespace("default").Name(name).UID(name).SchedulerName(v1.DefaultSchedulerName).Priority(0).Req(map[v1.ResourceName]string{"cpu": "100m"}).PVC(name)
	}
	daemon := pod("there").Node("n1").Obj()
	daemon.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "n1", Controller: ptr.To(true)}}
	daemon.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "mirror"} // so that nothing can be evicted
	q := pendingPod{pod: types.NamespacedName{Namespace: "default", Name: "web"}, state: append(append([]runtime.Object{
		&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
		st.MakeNode().Name("n1").Label(v1.LabelHostname, "n1").Capacity(map[v1.ResourceName]string{"cpu": "4", "memory": "8Gi", "pods": "10"}).Obj(),
		st.MakeStorageClass().Name("limited").Provisioner(driver).VolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).Obj(),
		&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
			{Name: driver, NodeID: "n1", Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](1)}},
		}}},
		daemon, pod("web").Obj(),
	}, volume("there")...), volume("web")...)}
	configuration := livetest.Configuration(t, plainConfiguration)
	answer, err := fit.Ask(t.Context(), livetest.Engine(t, configuration, q.state), fit.Question{PodRef: &q.pod})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"addNode: Add a node like n1: n2. → n2"}, summary(answer)); diff != "" {
		t.Fatal(diff)
	}
	var kinds []string
	for _, c := range answer.Suggestions[0].Changes {
		kinds = append(kinds, fmt.Sprintf("%T", c.Apply))
	}
	if diff := cmp.Diff([]string{"*v1.Node", "*v1.CSINode"}, kinds); diff != "" {
		t.Error(diff)
	}
	holds(t, configuration, q, answer.Suggestions[0])
}

// TestDevicesThatANewNodeMayBringAreNoLastingObstacle: where a pool is shared among nodes, a new node is not said to be without devices.
func TestDevicesThatANewNodeMayBringAreNoLastingObstacle(t *testing.T) {
	slice := func(node string) *resourcev1.ResourceSlice {
		return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "rack-" + node}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: "rack", Generation: 1, ResourceSliceCount: 2},
			Devices: []resourcev1.Device{{Name: "gpu-" + node}},
		}}
	}
	has := map[v1.ResourceName]string{"cpu": "4", "memory": "8Gi", "pods": "10"}
	state := []runtime.Object{
		&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}},
		st.MakeNode().Name("n1").Capacity(has).Obj(), st.MakeNode().Name("n2").Capacity(has).Obj(), slice("n1"), slice("n2"),
		st.MakeResourceClaim().Namespace("default").Name("many").Obj(),
	}
	claim := state[len(state)-1].(*resourcev1.ResourceClaim)
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 2}}}
	name := "many"
	pod := st.MakePod().Namespace("default").Name("web").SchedulerName(v1.DefaultSchedulerName).Priority(0).Req(map[v1.ResourceName]string{"cpu": "100m"}).
		PodResourceClaims(v1.PodResourceClaim{Name: "gpu", ResourceClaimName: &name}).Obj()
	answer, err := fit.Ask(t.Context(), livetest.Engine(t, livetest.Configuration(t, plainConfiguration), state), fit.Question{Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Suggestions) > 0 || len(answer.Incurable) > 0 || answer.Complete || len(answer.LeftOut) == 0 {
		t.Errorf("%v, incurable %v, left out %v", summary(answer), answer.Incurable, answer.LeftOut)
	}
}
