package comparison

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/result"
)

// handle is the handle of a scheduler without device allocation.
type handle struct{ fwk.Handle }

func (handle) SharedDRAManager() fwk.SharedDRAManager { return nil }

// NodeResourcesFit counts pod-level resources only if their feature gate is on, and
// so does its comparison.
func TestResourcesOfThePodFollowTheFeatureGate(t *testing.T) {
	pod := st.MakePod().Name("p").Container("c").Obj()
	pod.Spec.Resources = &v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("3")}}
	node := framework.NewNodeInfo()
	node.SetNode(st.MakeNode().Name("n").Capacity(map[v1.ResourceName]string{v1.ResourceCPU: "2", v1.ResourcePods: "10"}).Obj())
	for _, tc := range []struct {
		gate bool
		want *result.Comparison
	}{
		{true, &result.Comparison{Resources: []result.ResourceComparison{{Name: "cpu", Requested: 3000, Allocatable: 2000}}}},
		{false, nil},
	} {
		featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
			features.PodLevelResources: tc.gate, features.InPlacePodLevelResourcesVerticalScaling: tc.gate,
		})
		got := InTree{}.Comparer(names.NodeResourcesFit).Compare(handle{}, nil, pod, node)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("gate %v: %s", tc.gate, diff)
		}
	}
}

func TestUnknownPluginsHaveNoComparer(t *testing.T) {
	if c := (InTree{}).Comparer("NodeQuota"); c != nil {
		t.Errorf("%v, want nil", c)
	}
}
