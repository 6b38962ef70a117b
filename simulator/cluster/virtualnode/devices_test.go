package virtualnode

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestAPodGetsADeviceByATemplate(t *testing.T) {
	ns := namespace(t, shared)
	nodes := pool(t, shared, ns, 2)
	annotate(t, shared, nodes[1], objects.AnnotationDevices, `[{driver: gpu.example.com, count: 2, name: gpu, attributes: {model: a100}, capacity: {memory: 80Gi}}]`)
	apply(t, shared, ns, `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: %s-gpu}
spec:
  selectors:
  - cel: {expression: 'device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "a100"'}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: %s-gpu
          selectors:
          - cel: {expression: 'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'}
---
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  nodeSelector: {pool: %s}
  resourceClaims:
  - {name: gpu, resourceClaimTemplateName: gpu}
  containers:
  - name: main
    image: example.com/train
    resources: {claims: [{name: gpu}]}
`)
	clustertest.Eventually(t, "the pod runs where the devices are", func(ctx context.Context) (bool, error) {
		pod, err := shared.client.CoreV1().Pods(ns).Get(ctx, "train", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning && pod.Spec.NodeName == nodes[1], err
	})
	claims, err := shared.client.ResourceV1().ResourceClaims(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(claims.Items) != 1 {
		t.Fatalf("%d claims, %v", len(claims.Items), err)
	}
	if device := claims.Items[0].Status.Allocation.Devices.Results[0].Device; !strings.HasPrefix(device, "gpu-") {
		t.Errorf("the device is %s", device)
	}

	if err := shared.client.CoreV1().Nodes().Delete(t.Context(), nodes[1], metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "the node's devices are gone", func(ctx context.Context) (bool, error) {
		list, err := shared.client.ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + nodes[1]})
		return err == nil && len(list.Items) == 0, err
	})
}

func TestWrongDevicesAreSaid(t *testing.T) {
	node := pool(t, shared, "gadget", 1)[0]
	annotate(t, shared, node, objects.AnnotationDevices, `[{count: 2}]`)
	hasEvent(t, "default", node, "InvalidDevices")
}

func TestLoadDevices(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"good", "- nodeSelector: {gpu: a100}\n  devices:\n  - {driver: gpu.example.com, count: 300, attributes: {index: 3, version: {version: 1.2.3}, ok: true}}\n", ""},
		{"no driver", "- devices:\n  - {count: 1}\n", `[0].devices[0].driver: ""`},
		{"nothing", "# later\n", "it is empty; want a list of {nodeSelector, devices}"},
		{"bad YAML", "- devices:\n  - {driver: a.b\n", "yaml: line"},
		{"a manifest", "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nspec: {driver: a.b}\n", "it is a ResourceSlice; want a list of {nodeSelector, devices}"},
		{"several documents", "- devices: [{driver: a.b}]\n---\n- devices: [{driver: c.d}]\n", "several documents"},
		{"a node by its name", "- nodeName: node-1\n  devices: [{driver: a.b}]\n", `unknown field "nodeName"`},
		{"a label that no node has", "- nodeSelector: {gpu: not a label}\n  devices: [{driver: a.b}]\n", "[0].nodeSelector: "},
		{"no devices", "- nodeSelector: {gpu: a100}\n", "[0].devices: there are none"},
		{"what the API server refuses", "- devices: [{driver: a.b, attributes: {\"not a name\": 1}}]\n", "[0].devices: a.b: [0].attributes"},
		{"a field that is not one", "- devises: []\n", `unknown field "devises"`},
		{"an attribute of no type", "- devices:\n  - {driver: a.b, attributes: {x: 1.5}}\n", "[0].devices[0].attributes[x]"},
		{"twice the same name", "- devices:\n  - {driver: a.b}\n  - {driver: a.b}\n", "two devices of a.b are named device-0"},
		{"too many", "- devices:\n  - {driver: a.b, count: 5000}\n", "count: 5000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "devices.yaml")
			if err := os.WriteFile(file, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := LoadDevices(file)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v; want %q", err, test.want)
			}
		})
	}
}

func TestSlicesHoldSoManyDevices(t *testing.T) {
	count := 300
	devices, err := byDriver([]DeviceGroup{{Driver: "gpu.example.com", Count: &count}})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, slice := range slicesOf(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, devices) {
		got = append(got, len(slice.Spec.Devices), int(slice.Spec.Pool.ResourceSliceCount))
	}
	if diff := cmp.Diff([]int{128, 3, 128, 3, 44, 3}, got); diff != "" {
		t.Errorf("devices and slices (-want +got):\n%s", diff)
	}
}
