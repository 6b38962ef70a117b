package capacity_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// withDevices asks for a device of its own.
func withDevice(p *st.PodWrapper) *st.PodWrapper {
	return p.PodResourceClaims(v1.PodResourceClaim{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpu")})
}

// neededKinds are the pods for which nodes are added.
var neededKinds = append(kinds[:11:11], struct {
	name string
	ties bool
	make func(*st.PodWrapper) *st.PodWrapper
}{"device", true, withDevice}, struct {
	name string
	ties bool
	make func(*st.PodWrapper) *st.PodWrapper
}{"spread over four nodes", true, func(p *st.PodWrapper) *st.PodWrapper {
	return p.SpreadConstraint(1, v1.LabelHostname, v1.DoNotSchedule, st.MakeLabelSelector().Label("app", "a").Obj(), ptr.To[int32](4), nil, nil, nil)
}})

// TestNodesNeededHoldForReal: when the nodes are made, with everything that they bring, and then the pods, the real scheduler places them
// all; with one node less it does not. If further nodes would not help, they do not.
func TestNodesNeededHoldForReal(t *testing.T) {
	rounds := *clusters
	if testing.Short() {
		rounds = min(rounds, len(neededKinds))
	}
	enough, never := 0, 0
	for n := range rounds {
		kind := neededKinds[n%len(neededKinds)]
		random := rand.New(rand.NewPCG(*seed+uint64(n), 43))
		t.Run(fmt.Sprintf("%d: %s", n, kind.name), func(t *testing.T) {
			state := objects(withBrought(random, cluster(random)))
			pod := kind.make(st.MakePod().Namespace("default").Name("more").SchedulerName(v1.DefaultSchedulerName).Label("app", "a").
				Req(map[v1.ResourceName]string{"cpu": []string{"300m", "700m", "1"}[random.IntN(3)], "memory": "1Gi"})).Obj()
			wanted := 5 + random.IntN(20)
			answer, err := capacity.Ask(t.Context(), livetest.Engine(t, livetest.Configuration(t, ranked), state), capacity.Question{
				Pod: pod, NodesNeeded: &capacity.NodesNeeded{Like: fmt.Sprint("n", random.IntN(3)), For: wanted},
			})
			if err != nil {
				t.Fatal(err)
			}
			needed := answer.NodesNeeded
			if len(needed.NotCounted) > 0 || needed.Unknown {
				t.Errorf("%s", needed.NotCounted)
			}
			if got := placedFor(t, state, pod, needed.Like, needed.Nodes, wanted); got != needed.Fits {
				t.Errorf("with %d more nodes like %s, %d pods have a place, not %d", needed.Nodes, needed.Like, got, needed.Fits)
			}
			if needed.Nodes > 0 {
				if got := placedFor(t, state, pod, needed.Like, needed.Nodes-1, wanted); got >= needed.Fits {
					t.Errorf("with %d more nodes like %s, %d pods have a place already", needed.Nodes-1, needed.Like, got)
				}
			}
			if needed.Enough {
				enough++
				return
			}
			never++
			if got := placedFor(t, state, pod, needed.Like, needed.Nodes+4, wanted); got > needed.Fits {
				t.Errorf("further nodes help: %d pods have a place with %d", got, needed.Nodes+4)
			}
			if len(needed.Stopped) == 0 {
				t.Error("nothing stops the next pod")
			}
		})
	}
	if enough == 0 || never == 0 {
		t.Errorf("%d times nodes are enough, %d times they are never", enough, never)
	}
}

// withBrought adds what comes with nodes to a cluster: devices and the pods of a DaemonSet.
func withBrought(random *rand.Rand, state []runtime.Object) []runtime.Object {
	out := append(state,
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}},
		&resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gpu"}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: oneGPU()}},
	)
	for _, o := range state {
		node, ok := o.(*v1.Node)
		if !ok {
			continue
		}
		slice := st.MakeResourceSlice(node.Name, "gpu.example.com")
		for i := range random.IntN(3) {
			slice.Device(fmt.Sprint("gpu-", i))
		}
		if devices := slice.Obj(); len(devices.Spec.Devices) > 0 {
			devices.Spec.Pool.ResourceSliceCount = 1
			out = append(out, devices)
		}
		daemon := st.MakePod().Namespace("default").Name("agent-" + node.Name).UID("agent-" + node.Name).Node(node.Name).SchedulerName(v1.DefaultSchedulerName).
			Req(map[v1.ResourceName]string{"cpu": "200m"}).Obj()
		daemon.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "agent", Controller: ptr.To(true)}}
		out = append(out, daemon)
	}
	return out
}

func oneGPU() resourcev1.ResourceClaimSpec {
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
		Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
	}}}}
}

// objects are a state.
type objects []runtime.Object

var _ newnode.State = objects(nil)

func (s objects) Get(gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	of, err := s.List(gvk)
	for _, o := range of {
		if m, err := meta.Accessor(o); err == nil && m.GetNamespace() == namespace && m.GetName() == name {
			return o, nil
		}
	}
	return nil, errors.Join(err, errors.New("not found"))
}

func (s objects) List(gvk schema.GroupVersionKind) ([]runtime.Object, error) {
	var out []runtime.Object
	for _, o := range s {
		gvks, _, err := scheme.Scheme.ObjectKinds(o)
		if err != nil {
			return nil, err
		}
		if gvks[0] == gvk {
			out = append(out, o)
		}
	}
	return out, nil
}

// placedFor makes the nodes, creates so many pods one by one, and returns how many of them get a node.
func placedFor(t *testing.T, state objects, pod *v1.Pod, like string, nodes, pods int) int {
	t.Helper()
	survey := newnode.NewSurvey(state)
	all, taken := append(objects{}, state...), map[string]bool{}
	var from *v1.Node
	for _, o := range state {
		if node, ok := o.(*v1.Node); ok {
			if taken[node.Name] = true; node.Name == like {
				from = node
			}
		}
	}
	name := like
	for range nodes {
		name = newnode.Name(name, func(name string) bool { return taken[name] || survey.Leftover(name) })
		taken[name] = true
		all = append(all, survey.Of(from).New(name).Objects()...)
	}
	placed := 0
	livetest.Run(t, livetest.Configuration(t, ranked), all, func(ctx context.Context, c *livetest.Cluster) {
		for i := range pods {
			p := pod.DeepCopy()
			p.Name = fmt.Sprint("more-", i)
			claims := len(p.Spec.ResourceClaims) > 0
			if claims {
				p.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: ptr.To(p.Name + "-gpu")}}
			}
			made, err := c.Client.CoreV1().Pods("default").Create(ctx, p, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if claims {
				claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{
					Namespace: "default", Name: p.Name + "-gpu", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(made, v1.SchemeGroupVersion.WithKind("Pod"))},
				}, Spec: oneGPU()}
				if err := schedulertest.Create(ctx, c.Client, claim); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(5 * time.Second)
		}
		c.Settle()
		all, err := c.Client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all.Items {
			if p.Spec.NodeName != "" && strings.HasPrefix(p.Name, "more-") {
				placed++
			}
		}
	})
	return placed
}

// TestAttachLimitsComeWithANewNode: each node like s1 attaches one volume, so three more pods need three more nodes. Without a CSINode
// the limit is not known, which is said.
func TestAttachLimitsComeWithANewNode(t *testing.T) {
	has := map[v1.ResourceName]string{"cpu": "8", "memory": "16Gi", "pods": "20"}
	csiNode := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "s1"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{
		Name: "disks.example.com", NodeID: "s1", Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](1)},
	}}}}
	other := csiNode.DeepCopy()
	other.Name = "s2"
	pod := st.MakePod().Namespace("default").Name("disky").SchedulerName(v1.DefaultSchedulerName).Priority(0).Req(map[v1.ResourceName]string{"cpu": "100m"}).Volume(v1.Volume{
		Name: "v", VolumeSource: v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{
			Spec: v1.PersistentVolumeClaimSpec{
				StorageClassName: ptr.To("limited"), AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
				Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}}},
	}).Obj()
	base := []runtime.Object{
		&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, st.MakeNode().Name("s1").Label(v1.LabelHostname, "s1").Capacity(has).Obj(),
		st.MakeStorageClass().Name("limited").Provisioner("disks.example.com").VolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).Obj(),
	}
	running := pod.DeepCopy()
	running.UID, running.Spec.NodeName = "running", "s1"
	claim := &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "disky-v", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(running, v1.SchemeGroupVersion.WithKind("Pod"))}},
		Spec:       pod.Spec.Volumes[0].Ephemeral.VolumeClaimTemplate.Spec,
	}
	for _, test := range []struct {
		name  string
		more  []runtime.Object
		nodes int
		said  int
	}{
		{"a limit", []runtime.Object{csiNode}, 2, 0}, // s1 takes the first of them
		{"a limit that a pod of the same name uses up", []runtime.Object{csiNode, running, claim}, 3, 0},
		{"no CSINode", []runtime.Object{other}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer, err := capacity.Ask(t.Context(), livetest.Engine(t, livetest.Configuration(t, plain), append(base, test.more...)), capacity.Question{
				Pod: pod, NodesNeeded: &capacity.NodesNeeded{Like: "s1", For: 3},
			})
			if err != nil {
				t.Fatal(err)
			}
			if n := answer.NodesNeeded; !n.Enough || n.Nodes != test.nodes || len(n.NotCounted) != test.said {
				t.Errorf("%+v", n)
			}
		})
	}
}
