package simulation_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/simulation"
)

func TestRefusals(t *testing.T) {
	unsupported := func(err error) bool {
		var e *simulation.UnsupportedError
		return errors.As(err, &e)
	}
	tests := []struct {
		name, object string
		is           func(error) bool
		says         string
	}{
		{"an unsupported kind", `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}}`, unsupported, "kind HorizontalPodAutoscaler of autoscaling/v2"},
		{"a custom kind", `{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}}`, unsupported, "kind Thing of example.com/v1"},
		{"an old version", `{apiVersion: resource.k8s.io/v1beta1, kind: DeviceClass, metadata: {name: x}}`, unsupported, "resource.k8s.io/v1beta1"},
		{"binding conditions", `{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: a, pool: {name: a, resourceSliceCount: 1}, devices: [{name: g, bindingConditions: [Ready]}]}}`, unsupported, "binding conditions of devices"},
		{"an unknown field", `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containres: []}}`, apierrors.IsBadRequest, "containres"},
		{"a pod without containers", `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {}}`, apierrors.IsInvalid, "spec.containers"},
		{"an unknown priority class", `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: x, containers: [{name: c, image: i}]}}`, apierrors.IsForbidden, "no PriorityClass with name x"},
		{"an unknown namespace", `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x}, spec: {containers: [{name: c, image: i}]}}`, apierrors.IsNotFound, `"x" not found`},
		{"an object that exists", node("a", "1"), apierrors.IsAlreadyExists, `"a" already exists`},
	}
	s := start(t, simulation.Options{Keep: simulation.Nothing})
	create(t, s, node("a", "1"))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := s.Create(t.Context(), objects(t, test.object)...)
			if !test.is(err) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error is %T: %v", err, err)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	with := func(document string) simulation.Options {
		c, err := config.Parse([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + document))
		if err != nil {
			t.Fatal(err)
		}
		return simulation.Options{Configuration: c.Internal}
	}
	gates := with("")
	gates.FeatureGates = map[string]bool{"GenericWorkload": true}
	unknown := with("")
	unknown.FeatureGates = map[string]bool{"NoSuchGate": true}
	tests := []struct {
		name    string
		options simulation.Options
		want    string
	}{
		{"extenders", with("extenders: [{urlPrefix: http://127.0.0.1:1, filterVerb: filter}]"), "extenders in the configuration: not supported in memory; simulator run --engine full runs it"},
		{"a gate of another process", gates, "feature gate GenericWorkload is false in this process, and the run needs true"},
		{"an unknown gate", unknown, "unknown feature gate NoSuchGate"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := simulation.New(t.Context(), test.options)
			if err == nil || err.Error() != test.want {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestControllersThatFail: a Deployment whose pods the API server refuses does not just have none.
func TestControllersThatFail(t *testing.T) {
	s := start(t, simulation.Options{})
	create(t, s, node("a", "4"))
	err := s.Create(t.Context(), objects(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}}, spec: {priorityClassName: gold, containers: [{name: c, image: i}]}}}}`)...)
	var failed *simulation.ControllerError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "ReplicaSet default/web-") || !strings.Contains(err.Error(), "no PriorityClass with name gold was found") {
		t.Errorf("the error is %v", err)
	}
	must(t, s.Create(t.Context(), objects(t, pod("p", "1"))...))
}

// TestSettleHasALimit runs a pod that waits for a volume that nobody makes.
func TestSettleHasALimit(t *testing.T) {
	s := start(t, simulation.Options{SettleLimit: time.Minute})
	create(t, s, node("a", "4"),
		`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: broken}, provisioner: kubernetes.io/none, volumeBindingMode: WaitForFirstConsumer}`,
		`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: broken, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
		pod("p", "2", "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"))
	err := s.Settle(t.Context())
	var unsettled *simulation.UnsettledError
	if !errors.As(err, &unsettled) || unsettled.Doing != "1 pods waiting for a permit or being bound: default/p" {
		t.Errorf("the error is %v", err)
	}
	must(t, s.Advance(t.Context(), 15*time.Minute))
	var failed []string
	for _, summary := range s.Results().Summaries() {
		if summary.Attempt == 1 {
			failed = append(failed, string(summary.Outcome)+" after "+(time.Duration(summary.DurationSeconds)*time.Second).String())
		}
	}
	if diff := cmp.Diff([]string{"error after 10m0s"}, failed); diff != "" {
		t.Errorf("first attempts (-want +got):\n%s", diff)
	}
}

// TestConfigure checks that another configuration takes over what waits.
func TestConfigure(t *testing.T) {
	s := start(t, simulation.Options{})
	create(t, s, node("a", "4"), pod("p", "1"), pod("q", "1", "schedulerName: packer"))
	packer, err := config.Parse([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: packer}]\n"))
	must(t, err)
	must(t, s.Configure(t.Context(), packer.Internal))
	create(t, s, pod("r", "1"))
	if diff := cmp.Diff([]string{"p a Running", "q a Running", "r - Pending"}, placements(s)); diff != "" {
		t.Errorf("placements (-want +got):\n%s", diff)
	}
	broken := packer.Internal.DeepCopy()
	broken.Profiles[0].Plugins.MultiPoint.Enabled[0].Name = "NoSuchPlugin"
	var refused *simulation.ConfigurationError
	if err := s.Configure(t.Context(), broken); !errors.As(err, &refused) {
		t.Errorf("the error is %v", err)
	}
	create(t, s, pod("s", "1", "schedulerName: packer"))
	if got := placements(s)[3]; got != "s a Running" {
		t.Errorf("after a refused configuration: %s", got)
	}
}

func TestApplyAndPatch(t *testing.T) {
	s := start(t, simulation.Options{})
	create(t, s, node("a", "1"), pod("p", "2"))
	must(t, s.Apply(t.Context(), objects(t, `{apiVersion: v1, kind: Node, metadata: {name: a, labels: {disk: ssd}}, status: {allocatable: {cpu: "4"}}}`)...))
	must(t, s.Settle(t.Context()))
	n := s.State().Nodes[0]
	if n.Labels["disk"] != "ssd" || n.Labels[v1.LabelHostname] != "a" || n.Status.Allocatable.Memory().String() != "16Gi" {
		t.Errorf("the node has labels %v and allocatable %v", n.Labels, n.Status.Allocatable)
	}
	podKind := v1.SchemeGroupVersion.WithKind("Pod")
	must(t, s.Patch(t.Context(), podKind, "", "p", types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"app":"web"}}}`)))
	if p := s.State().Pods[0]; p.Labels["app"] != "web" || p.Spec.NodeName != "a" {
		t.Errorf("the pod has labels %v and node %q", p.Labels, p.Spec.NodeName)
	}
	if err := s.Patch(t.Context(), podKind, "", "p", types.MergePatchType, []byte(`{"spec":{"nodeName":"b"}}`)); !apierrors.IsInvalid(err) {
		t.Errorf("a pod that moves: %v", err)
	}
	if err := s.Delete(t.Context(), podKind, "", "nobody"); !apierrors.IsNotFound(err) {
		t.Errorf("deleting nobody: %v", err)
	}
}
