package newnode

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/standin"
)

// objects are a state.
type objects []runtime.Object

var _ State = objects(nil)

func (s objects) Get(gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	of, _ := s.List(gvk)
	for _, o := range of {
		if m, err := meta.Accessor(o); err == nil && m.GetNamespace() == namespace && m.GetName() == name {
			return o, nil
		}
	}
	return nil, errors.New("not found")
}

func (s objects) List(gvk schema.GroupVersionKind) ([]runtime.Object, error) {
	var out []runtime.Object
	for _, o := range s {
		kind := o.GetObjectKind().GroupVersionKind()
		if gvks, _, err := scheme.Scheme.ObjectKinds(o); err == nil {
			kind = gvks[0]
		}
		if kind == gvk {
			out = append(out, o)
		}
	}
	return out, nil
}

func slice(name, driver, pool string, of, count int, at func(*resourcev1.ResourceSliceSpec)) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
		Driver: driver, Pool: resourcev1.ResourcePool{Name: pool, Generation: 3, ResourceSliceCount: int64(of)},
	}}
	for i := range count {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("gpu-", i), Taints: []resourcev1.DeviceTaint{{Key: "unhealthy", Effect: "NoSchedule"}}})
	}
	at(&s.Spec)
	return s
}

func on(node string) func(*resourcev1.ResourceSliceSpec) {
	return func(s *resourcev1.ResourceSliceSpec) { s.NodeName = &node }
}

func selecting(key, value string) func(*resourcev1.ResourceSliceSpec) {
	return func(s *resourcev1.ResourceSliceSpec) {
		s.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}}}}}}
	}
}

func capacity(class string, free string, topology map[string]string) *storagev1.CSIStorageCapacity {
	return &storagev1.CSIStorageCapacity{
		ObjectMeta: metav1.ObjectMeta{Namespace: "csi", Name: class + "-on-g1"}, StorageClassName: class,
		NodeTopology: &metav1.LabelSelector{MatchLabels: topology}, Capacity: ptr.To(resource.MustParse(free)), MaximumVolumeSize: ptr.To(resource.MustParse(free)),
	}
}

func class(name, provisioner string) *storagev1.StorageClass {
	return st.MakeStorageClass().Name(name).Provisioner(provisioner).Obj()
}

func daemon(name, node string) *v1.Pod {
	p := st.MakePod().Namespace("kube-system").Name(name).UID(name).Node(node).Req(map[v1.ResourceName]string{"cpu": "1"}).Obj()
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: name, UID: types.UID(name), Controller: ptr.To(true)}}
	return p
}

// TestEverythingThatANodeBrings: a new node has what drivers, the kubelet, agents and DaemonSets bring to the node like it, and nothing
// that is shared among nodes or that the state does not tell. That is said.
func TestEverythingThatANodeBrings(t *testing.T) {
	node := st.MakeNode().Name("g1").Label(v1.LabelHostname, "g1").Label("zone", "a").Capacity(map[v1.ResourceName]string{"cpu": "4"}).Obj()
	waiting := daemon("waits", "")
	waiting.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
		NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{"g1"}}}}},
	}}}
	// One that leaves, and the one that follows it.
	leaving := daemon("leaves", "g1")
	leaving.OwnerReferences[0].UID, leaving.DeletionTimestamp = "waits", &metav1.Time{}
	// Its DaemonSet makes another pod when it is gone.
	restarting := daemon("restarts", "g1")
	restarting.OwnerReferences[0].UID, restarting.DeletionTimestamp = "logs", &metav1.Time{}
	monitor := daemon("monitor", "g1")
	monitor.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "all", ResourceClaimName: ptr.To("monitor-all")}}
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "monitor-all", UID: "old"}, Status: resourcev1.ResourceClaimStatus{
		Allocation: &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
			{Driver: "gpu.example.com", Pool: "g1", Device: "gpu-0"}, {Driver: "net.example.com", Pool: "fabric", Device: "gpu-0"},
		}}},
	}}
	virtual := slice("g1-fpga-0", "fpga.example.com", "g1", 1, 1, on("g1"))
	virtual.Labels = map[string]string{standin.LabelVirtualDriver: "true"}
	volume := st.MakePersistentVolume().Name("used").StorageClassName("lvm").Capacity(v1.ResourceList{v1.ResourceStorage: resource.MustParse("3Gi")}).NodeAffinityIn(v1.LabelHostname, []string{"g1"}).Obj()
	state := objects{
		node, st.MakeNode().Name("g2").Obj(),
		slice("g1-gpu-abc", "gpu.example.com", "g1", 2, 2, on("g1")), slice("g1-gpu-def", "gpu.example.com", "g1", 2, 1, on("g1")),
		virtual,
		slice("rack-g1", "rack.example.com", "rack", 2, 1, on("g1")), slice("rack-g2", "rack.example.com", "rack", 2, 1, on("g2")),
		slice("half", "half.example.com", "half", 2, 1, on("g1")),
		slice("tied", "tied.example.com", "tied", 1, 1, selecting(v1.LabelHostname, "g1")), slice("zonal", "zonal.example.com", "zonal", 1, 1, selecting("zone", "a")),
		slice("fabric", "net.example.com", "fabric", 1, 1, func(s *resourcev1.ResourceSliceSpec) { s.AllNodes = ptr.To(true) }),
		&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "g1", UID: "1"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
			{Name: "disks", NodeID: "g1", TopologyKeys: []string{"zone"}, Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](2)}},
		}}},
		capacity("lvm", "5Gi", map[string]string{v1.LabelHostname: "g1"}), capacity("zonal", "5Gi", map[string]string{"zone": "a"}), volume,
		class("lvm", "lvm.example.com"), class("zonal", "zonal.example.com"), class("silent", "silent.example.com"), class("static", "kubernetes.io/no-provisioner"),
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "lvm.example.com"}, Spec: storagev1.CSIDriverSpec{StorageCapacity: ptr.To(true)}},
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "silent.example.com"}, Spec: storagev1.CSIDriverSpec{StorageCapacity: ptr.To(true)}},
		st.MakePersistentVolume().Name("disk").StorageClassName("static").NodeAffinityIn(v1.LabelHostname, []string{"g1"}).Obj(),
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "topology.node.k8s.io/v1alpha2", "kind": "NodeResourceTopology", "metadata": map[string]any{"name": "g1", "uid": "1"},
			"zones": []any{map[string]any{"name": "node-0", "resources": []any{map[string]any{"name": "cpu", "allocatable": "4", "available": "1"}}}},
		}},
		waiting, leaving, restarting, monitor, claim, daemon("elsewhere", "g2"),
	}
	sample := NewSurvey(state).Of(node)
	got := []string{}
	n := sample.New("new")
	for _, o := range n.Objects() {
		got = append(got, said(o))
	}
	want := []string{
		"ResourceSlice new-fpga-0: 1 of fpga.example.com/new on new",
		"ResourceSlice new-gpu-abc: 2 of gpu.example.com/new on new",
		"ResourceSlice new-gpu-def: 1 of gpu.example.com/new on new",
		"CSIStorageCapacity new-lvm-on-g1: 8Gi 8Gi map[kubernetes.io/hostname:new]",
		"NodeResourceTopology new: 4",
		"Node new: new",
		"CSINode new: disks 2 new",
		"ResourceClaim monitor-all-on-new: new/gpu-0 fabric/gpu-0 for monitor-on-new",
		"Pod monitor-on-new on new with monitor-all-on-new", "Pod restarts-on-new on new", "Pod waits-on-new on new",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// A virtual node publishes the fpga itself, and DaemonSets make their pods.
	created := []string{}
	for _, o := range n.ToCreate() {
		created = append(created, said(o))
	}
	if diff := cmp.Diff(want[1:7], created); diff != "" {
		t.Errorf("to create: -want +got:\n%s", diff)
	}
	var unknown []string
	for _, u := range sample.Unknown(&v1.Pod{}) {
		unknown = append(unknown, u.Plugin+": "+explain.Statement{Operands: u.Says}.String())
	}
	slices.Sort(unknown)
	wantUnknown := []string{
		"DynamicResources: The devices of rack.example.com in the pool rack are not tied to g1 alone. What a new node like it adds to them is not known, and was not counted.",
		"DynamicResources: The devices of tied.example.com in the pool tied are not tied to g1 alone. What a new node like it adds to them is not known, and was not counted.",
		"DynamicResources: g1 has not published all of its devices of half.example.com in the pool half. Those of a new node like it are not known, and were not counted.",
		"VolumeBinding: No CSIStorageCapacity reports how much storage of the class silent a new node like g1 reaches. It is not known, and was not counted.",
		"VolumeBinding: g1 has local volumes of the class static. Those of a new node like it are not known, and were not counted.",
	}
	if diff := cmp.Diff(wantUnknown, unknown); diff != "" {
		t.Errorf("unknown: -want +got:\n%s", diff)
	}
}

// said is an object in a line.
func said(o runtime.Object) string {
	switch o := o.(type) {
	case *v1.Node:
		return "Node " + o.Name + ": " + o.Labels[v1.LabelHostname]
	case *resourcev1.ResourceSlice:
		return fmt.Sprintf("ResourceSlice %s: %d of %s/%s on %s", o.Name, len(o.Spec.Devices), o.Spec.Driver, o.Spec.Pool.Name, *o.Spec.NodeName)
	case *storagev1.CSINode:
		return fmt.Sprintf("CSINode %s: %s %d %s", o.Name, o.Spec.Drivers[0].Name, *o.Spec.Drivers[0].Allocatable.Count, o.Spec.Drivers[0].NodeID)
	case *storagev1.CSIStorageCapacity:
		return fmt.Sprintf("CSIStorageCapacity %s: %s %s %v", o.Name, o.Capacity, o.MaximumVolumeSize, o.NodeTopology.MatchLabels)
	case *unstructured.Unstructured:
		zones, _, _ := unstructured.NestedSlice(o.Object, "zones")
		return fmt.Sprint("NodeResourceTopology ", o.GetName(), ": ", zones[0].(map[string]any)["resources"].([]any)[0].(map[string]any)["available"])
	case *resourcev1.ResourceClaim:
		out := "ResourceClaim " + o.Name + ":"
		for _, r := range o.Status.Allocation.Devices.Results {
			out += " " + r.Pool + "/" + r.Device
		}
		return out + " for " + o.Status.ReservedFor[0].Name
	case *v1.Pod:
		out := "Pod " + o.Name + " on " + o.Spec.NodeName
		for _, s := range o.Status.ResourceClaimStatuses {
			out += " with " + *s.ResourceClaimName
		}
		return out
	}
	return fmt.Sprintf("%T", o)
}

// TestKinds: nodes are of one kind if new nodes like them bring the same.
func TestKinds(t *testing.T) {
	nodes := []*v1.Node{st.MakeNode().Name("g1").Obj(), st.MakeNode().Name("g2").Obj(), st.MakeNode().Name("g3").Obj(), st.MakeNode().Name("plain").Obj()}
	survey := NewSurvey(objects{
		slice("g1-gpu", "gpu", "g1", 1, 2, on("g1")), slice("g2-gpu", "gpu", "g2", 1, 2, on("g2")), slice("g3-gpu", "gpu", "g3", 1, 1, on("g3")),
	})
	if kinds := []string{survey.Kind(nodes[0]), survey.Kind(nodes[1]), survey.Kind(nodes[2]), survey.Kind(nodes[3])}; kinds[0] != kinds[1] || kinds[0] == kinds[2] || kinds[2] == kinds[3] {
		t.Error(kinds)
	}
	if !survey.Leftover("g3") || survey.Leftover("g4") {
		t.Error("g3 has devices, g4 has none")
	}
}
