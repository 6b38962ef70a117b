package upstreamtest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	kubectrlmgrconfig "k8s.io/kubernetes/pkg/controller/apis/config"
	garbagecollectorconfig "k8s.io/kubernetes/pkg/controller/garbagecollector/config"
	"k8s.io/kubernetes/pkg/features"

	"kube-scheduler-simulator/simulator/cluster/controlplane/controllers/kubecontrollers"
)

func TestNames(t *testing.T) {
	if diff := cmp.Diff(app.KnownControllers(), kubecontrollers.AllInKubernetes()); diff != "" {
		t.Errorf("controllers (-kube-controller-manager +ours):\n%s", diff)
	}
	if diff := cmp.Diff(app.ControllerAliases(), kubecontrollers.OlderNames()); diff != "" {
		t.Errorf("older names (-kube-controller-manager +ours):\n%s", diff)
	}
}

func TestFeatureGates(t *testing.T) {
	descriptors := app.NewControllerDescriptors()
	for _, name := range kubecontrollers.Names() {
		var want []featuregate.Feature
		if d := descriptors[name]; d != nil {
			want = d.GetRequiredFeatureGates()
		}
		if diff := cmp.Diff(want, kubecontrollers.Gates(name), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("feature gates of %s (-kube-controller-manager +ours):\n%s", name, diff)
		}
	}
	// A wrong result of the comparison would not show if no controller needed a gate.
	if got := kubecontrollers.Gates("device-taint-eviction-controller"); !slices.Contains(got, features.DRADeviceTaints) {
		t.Errorf("gates of the device taint eviction controller: %v", got)
	}
}

// TestConfiguration: the configuration must be that of kube-controller-manager without arguments,
// except for what we change on purpose. Only its options and flags have some of the defaults.
func TestConfiguration(t *testing.T) {
	want := upstreamConfiguration(t)
	want.NodeLifecycleController.NodeMonitorGracePeriod.Duration = kubecontrollers.NeverSilent
	want.NodeLifecycleController.NodeStartupGracePeriod.Duration = kubecontrollers.NeverSilent
	want.NodeLifecycleController.NodeMonitorPeriod.Duration = kubecontrollers.NodeMonitorPeriod
	got, err := kubecontrollers.Configuration()
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range sections(t) {
		diff := cmp.Diff(
			reflect.ValueOf(want).FieldByName(section).Interface(),
			reflect.ValueOf(got).FieldByName(section).Interface(),
			cmpopts.SortSlices(func(a, b garbagecollectorconfig.GroupResource) bool { return a.Group < b.Group }))
		if diff != "" {
			t.Errorf("%s (-kube-controller-manager +ours):\n%s", section, diff)
		}
	}
}

// TestChangesOfConfiguration: what we change on purpose must differ from kube-controller-manager. If
// it no longer does, remove our value.
func TestChangesOfConfiguration(t *testing.T) {
	c := upstreamConfiguration(t).NodeLifecycleController
	for name, d := range map[string]struct{ theirs, ours time.Duration }{
		"NodeMonitorGracePeriod": {c.NodeMonitorGracePeriod.Duration, kubecontrollers.NeverSilent},
		"NodeStartupGracePeriod": {c.NodeStartupGracePeriod.Duration, kubecontrollers.NeverSilent},
		"NodeMonitorPeriod":      {c.NodeMonitorPeriod.Duration, kubecontrollers.NodeMonitorPeriod},
	} {
		if d.theirs == 0 || d.theirs >= d.ours {
			t.Errorf("%s is %s in kube-controller-manager and %s here; want a longer period here", name, d.theirs, d.ours)
		}
	}
}

// notOurs are the sections for controllers that kubecontrollers does not build, and for
// kube-controller-manager as a whole.
var notOurs = []string{
	"TypeMeta", "Generic", "KubeCloudShared", "DeprecatedController",
	"AttachDetachController", "CSRSigningController", "LegacySATokenCleaner", "NamespaceController", "NodeIPAMController",
	"PersistentVolumeBinderController", "SAController", "ServiceController",
}

// sections returns the names of the sections for our controllers. A new section of Kubernetes
// counts as one of them until it is in notOurs.
func sections(t *testing.T) []string {
	t.Helper()
	all := reflect.TypeFor[kubectrlmgrconfig.KubeControllerManagerConfiguration]()
	var out []string
	unknown := slices.Clone(notOurs)
	for i := range all.NumField() {
		name := all.Field(i).Name
		if slices.Contains(notOurs, name) {
			unknown = slices.DeleteFunc(unknown, func(n string) bool { return n == name })
			continue
		}
		out = append(out, name)
	}
	if len(unknown) > 0 {
		t.Errorf("kube-controller-manager's configuration has no %v", unknown)
	}
	return out
}

// upstreamConfiguration returns the configuration that kube-controller-manager runs our controllers
// with if it gets no arguments.
func upstreamConfiguration(t *testing.T) kubectrlmgrconfig.KubeControllerManagerConfiguration {
	t.Helper()
	o, err := options.NewKubeControllerManagerOptions()
	if err != nil {
		t.Fatal(err)
	}
	// Registering the flags sets their defaults.
	o.Flags(nil, nil, nil)
	var c kubectrlmgrconfig.KubeControllerManagerConfiguration
	for _, section := range sections(t) {
		option := reflect.ValueOf(o).Elem().FieldByName(section)
		if !option.IsValid() || option.IsNil() {
			t.Fatalf("kube-controller-manager has no options for %s", section)
		}
		apply := option.MethodByName("ApplyTo")
		to := reflect.ValueOf(&c).Elem().FieldByName(section).Addr()
		if err, failed := apply.Call([]reflect.Value{to})[0].Interface().(error); failed {
			t.Fatalf("%s: %v", section, err)
		}
	}
	return c
}
