package whatif_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/scheduler/whatif"
)

// TestCounts: a count is the number of new objects. Copies of a node that exists come with its devices, whether it publishes them in slices or
// its annotation describes them.
func TestCounts(t *testing.T) {
	node := st.MakeNode().Name("g1").Label(v1.LabelHostname, "g1").Capacity(cores("4")).Obj()
	slice := func(node string) *resourcev1.ResourceSlice {
		return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node + "-gpu"}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
			Devices: []resourcev1.Device{{Name: "gpu-0"}},
		}}
	}
	annotated := st.MakeNode().Name("new").Label(v1.LabelHostname, "new").Capacity(cores("4")).Annotation(standin.AnnotationDevices, "one").Obj()
	template := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gpu"}, Spec: resourcev1.ResourceClaimTemplateSpec{
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
		}}}},
	}}
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}
	name := "gpu"
	pod := st.MakePod().Namespace("default").Name("rank").Priority(0).SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": "100m"}).PodResourceClaims(v1.PodResourceClaim{Name: "gpu", ResourceClaimTemplateName: &name}).Obj()
	for _, test := range []struct {
		change whatif.Change
		fits   int
		err    bool
	}{
		{whatif.Change{Apply: node}, 1, false},
		{whatif.Change{Apply: node, Count: 1}, 2, false},
		{whatif.Change{Apply: node, Count: 2}, 3, false},
		{whatif.Change{Apply: node, Count: -1}, 0, true},
		{whatif.Change{Apply: node, Count: 5001}, 0, true},
		{whatif.Change{Apply: annotated}, 2, false},
		{whatif.Change{Apply: annotated, Count: 1}, 2, false},
		{whatif.Change{Apply: annotated, Count: 2}, 3, false},
		{whatif.Change{Apply: class, Count: 1}, 0, true},
	} {
		t.Run(fmt.Sprintf("%s %d", test.change.Apply.(metav1.Object).GetName(), test.change.Count), func(t *testing.T) {
			engine := engineOf(t, whatif.Options{Devices: func(n *v1.Node) ([]*resourcev1.ResourceSlice, error) {
				return []*resourcev1.ResourceSlice{slice(n.Name)}, nil
			}}, node, slice("g1"), template, class)
			answer, err := engine.Ask(t.Context(), whatif.Question{Pod: pod, Copies: 4, Changes: []whatif.Change{test.change}})
			if (err != nil) != test.err {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			placed := []string{}
			for _, d := range answer.Decisions {
				if d.Outcome == result.Scheduled {
					placed = append(placed, d.SelectedNode)
				}
			}
			if len(placed) != test.fits {
				t.Errorf("%v, want %d", placed, test.fits)
			}
			if diff := cmp.Diff(0, len(answer.NotCounted)); diff != "" {
				t.Error(answer.NotCounted)
			}
		})
	}
}
