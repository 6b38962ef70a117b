package kubecontrollers

import (
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/features"
)

func TestADisabledControllerIsNotBuilt(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.DRADeviceTaints, false)
	// The constructor would panic, because this Builder has no clients.
	runs, err := (&Builder{}).Build(t.Context(), []string{names.DeviceTaintEvictionController})
	if len(runs) > 0 || err != nil {
		t.Errorf("%d controllers, %v; want none and no error", len(runs), err)
	}
}

func TestAControllerThatIsNotBuiltHereIsAnError(t *testing.T) {
	for _, name := range []string{names.NodeIpamController, names.NamespaceController, "jobs"} {
		if _, err := (&Builder{}).Build(t.Context(), []string{name}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
