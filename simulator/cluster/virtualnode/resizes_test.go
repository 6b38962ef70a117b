package virtualnode

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// resources returns requests of CPU and memory.
func resources(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// host creates a node of 4 CPUs and 8Gi for the test.
func host(t *testing.T, name string) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("20"),
	}}}
	if _, err := shared.client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = shared.client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{})
	})
}

// runOn runs a pod on the node.
func runOn(t *testing.T, node, name string, edit func(*corev1.PodSpec), requests corev1.ResourceList) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: podSpec(name)}
	pod.Spec.NodeName = node
	pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0)
	pod.Spec.Containers[0].Name, pod.Spec.Containers[0].Resources = "c", corev1.ResourceRequirements{Requests: requests}
	if edit != nil {
		edit(&pod.Spec)
	}
	if _, err := shared.client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = shared.client.CoreV1().Pods("default").Delete(context.Background(), name, metav1.DeleteOptions{})
	})
	clustertest.Eventually(t, name+" runs", func(ctx context.Context) (bool, error) {
		got, err := shared.client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && got.Status.Phase == corev1.PodRunning, err
	})
}

// resize asks for other requests of a container, as kubectl patch --subresource resize does.
func resize(t *testing.T, name, field, container string, resources corev1.ResourceRequirements) error {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{field: []any{map[string]any{"name": container, "resources": resources}}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = shared.client.CoreV1().Pods("default").Patch(t.Context(), name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "resize")
	return err
}

// granted is what a pod's status says of its resources and of resizes, in a line.
func granted(pod *corev1.Pod) string {
	var out []string
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.Resources == nil {
			continue
		}
		out = append(out, fmt.Sprintf("%s %s/%s of %s/%s", s.Name, s.Resources.Requests.Cpu(), s.Resources.Requests.Memory(), s.AllocatedResources.Cpu(), s.AllocatedResources.Memory()))
		if s.RestartCount > 0 {
			out = append(out, fmt.Sprint("restarts ", s.RestartCount))
		}
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodResizePending, corev1.PodResizeInProgress} {
		if c := standin.Condition(pod, kind); c != nil {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s (%d of %d)", c.Type, c.Reason, c.Message, c.ObservedGeneration, pod.Generation)))
		}
	}
	return strings.Join(out, "; ")
}

// becomes waits until a pod's status says that.
func becomes(t *testing.T, name, want string) {
	t.Helper()
	var got string
	defer func() {
		if t.Failed() {
			t.Logf("%s: %s", name, got)
		}
	}()
	clustertest.Eventually(t, name+" is: "+want, func(ctx context.Context) (bool, error) {
		pod, err := shared.client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			got = granted(pod)
		}
		return got == want, err
	})
}

func requests(list corev1.ResourceList) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: list}
}

// TestResize: a resize that fits is granted and carried out. One that does not fit now is deferred, and granted when room appears; or ends when
// it is taken back.
func TestResize(t *testing.T) {
	host(t, "resize")
	runOn(t, "resize", "db", nil, resources("2", "2Gi"))
	runOn(t, "resize", "web", nil, resources("1", "1Gi"))
	becomes(t, "db", "c 2/2Gi of 2/2Gi")

	if err := resize(t, "db", "containers", "c", requests(resources("2500m", "3Gi"))); err != nil {
		t.Fatal(err)
	}
	becomes(t, "db", "c 2500m/3Gi of 2500m/3Gi")
	if err := resize(t, "db", "containers", "c", requests(resources("2", "1Gi"))); err != nil { // less, of both
		t.Fatal(err)
	}
	becomes(t, "db", "c 2/1Gi of 2/1Gi")

	deferred := "c 2/1Gi of 2/1Gi; PodResizePending Deferred Node didn't have enough resource: cpu, requested: 3500, used: 1000, capacity: 4000 (4 of 4)"
	if err := resize(t, "db", "containers", "c", requests(resources("3500m", "1Gi"))); err != nil {
		t.Fatal(err)
	}
	becomes(t, "db", deferred)
	if err := resize(t, "db", "containers", "c", requests(resources("2", "1Gi"))); err != nil {
		t.Fatal(err)
	}
	becomes(t, "db", "c 2/1Gi of 2/1Gi")
	if err := resize(t, "db", "containers", "c", requests(resources("3500m", "1Gi"))); err != nil {
		t.Fatal(err)
	}
	becomes(t, "db", strings.Replace(deferred, "(4 of 4)", "(6 of 6)", 1))
	if err := shared.client.CoreV1().Pods("default").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	becomes(t, "db", "c 3500m/1Gi of 3500m/1Gi")

	// The API server refuses what the node can never have.
	if err := resize(t, "db", "containers", "c", requests(resources("5", "1Gi"))); err == nil || !strings.Contains(err.Error(), "allocatable") {
		t.Error(err)
	}
}

// TestResizeOfASidecar: sidecars are resized as other containers are, and a container restarts if its policy says so.
func TestResizeOfASidecar(t *testing.T) {
	host(t, "resize-sidecar")
	runOn(t, "resize-sidecar", "mesh", func(spec *corev1.PodSpec) {
		spec.InitContainers = []corev1.Container{{
			Name: "proxy", Image: spec.Containers[0].Image, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), Resources: requests(resources("500m", "1Gi")),
			ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer}},
		}}
	}, resources("1", "1Gi"))
	if err := resize(t, "mesh", "initContainers", "proxy", requests(resources("1", "1Gi"))); err != nil {
		t.Fatal(err)
	}
	becomes(t, "mesh", "proxy 1/1Gi of 1/1Gi; c 1/1Gi of 1/1Gi")
	if err := resize(t, "mesh", "initContainers", "proxy", requests(resources("1", "2Gi"))); err != nil {
		t.Fatal(err)
	}
	becomes(t, "mesh", "proxy 1/2Gi of 1/2Gi; restarts 1; c 1/1Gi of 1/1Gi")
}

// TestDeferredResizesAreGrantedByPriority: when room appears for one of two, the pod of the higher priority gets it.
func TestDeferredResizesAreGrantedByPriority(t *testing.T) {
	host(t, "resize-order")
	runOn(t, "resize-order", "filler", nil, resources("2", "1Gi"))
	runOn(t, "resize-order", "low", nil, resources("500m", "1Gi"))
	runOn(t, "resize-order", "high", func(spec *corev1.PodSpec) { spec.PriorityClassName = "system-cluster-critical" }, resources("500m", "1Gi"))
	for _, name := range []string{"low", "high"} {
		if err := resize(t, name, "containers", "c", requests(resources("2500m", "1Gi"))); err != nil {
			t.Fatal(err)
		}
		becomes(t, name, "c 500m/1Gi of 500m/1Gi; PodResizePending Deferred Node didn't have enough resource: cpu, requested: 2500, used: 2500, capacity: 4000 (2 of 2)")
	}
	if err := shared.client.CoreV1().Pods("default").Delete(t.Context(), "filler", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	becomes(t, "high", "c 2500m/1Gi of 2500m/1Gi")
	becomes(t, "low", "c 500m/1Gi of 500m/1Gi; PodResizePending Deferred Node didn't have enough resource: cpu, requested: 2500, used: 2500, capacity: 4000 (2 of 2)")
}

// TestRefusalsOfResizes: what the node has not enough of now is deferred, and what it can never have is infeasible.
func TestRefusalsOfResizes(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: resources("4", "8Gi")}}
	pod := func(uid string, asks, has corev1.ResourceList) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: requests(asks)}}},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "c", Resources: ptr.To(requests(has)), AllocatedResources: has}}},
		}
	}
	other := pod("other", resources("4", "1Gi"), resources("1", "6Gi")) // it asks for more CPU, and less memory, than it has
	for _, test := range []struct {
		asks            corev1.ResourceList
		reason, message string
	}{
		{resources("3", "2Gi"), "", ""},
		{resources("3100m", "1Gi"), "Deferred", "Node didn't have enough resource: cpu, requested: 3100, used: 1000, capacity: 4000"},
		{resources("1", "3Gi"), "Deferred", "Node didn't have enough resource: memory, requested: 3221225472, used: 6442450944, capacity: 8589934592"},
		{resources("4100m", "1Gi"), "Infeasible", "Node didn't have enough capacity: cpu, requested: 4100, capacity: 4000"},
		{resources("1", "9Gi"), "Infeasible", "Node didn't have enough capacity: memory, requested: 9663676416, capacity: 8589934592"},
	} {
		asking := pod("db", test.asks, resources("1", "1Gi"))
		reason, message := refusal(node, asking, []*corev1.Pod{asking, other})
		if diff := cmp.Diff([]string{test.reason, test.message}, []string{reason, message}); diff != "" {
			t.Error(diff)
		}
	}
}

// TestOrderOfResizes: less before more, higher priorities, guaranteed pods, and then who has waited longer.
func TestOrderOfResizes(t *testing.T) {
	pod := func(name string, asks string, priority int32, guaranteed bool, waited int) *corev1.Pod {
		has := requests(resources("1", "1Gi"))
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Priority: &priority, Containers: []corev1.Container{{Name: "c", Resources: requests(resources(asks, "1Gi"))}}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "c", Resources: &has, AllocatedResources: has.Requests}}},
		}
		if guaranteed {
			p.Spec.Containers[0].Resources.Limits = p.Spec.Containers[0].Resources.Requests
		}
		if waited > 0 {
			since := metav1.NewTime(time.Unix(int64(1000-waited), 0))
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, LastTransitionTime: since}}
		}
		return p
	}
	all := []*corev1.Pod{
		pod("new", "2", 0, false, 0), pod("short", "2", 0, false, 10), pod("long", "2", 0, false, 20), pod("guaranteed", "2", 0, true, 0),
		pod("important", "2", 5, false, 0), pod("less", "500m", -1, false, 0),
	}
	slices.SortStableFunc(all, compareResizes)
	var got []string
	for _, p := range all {
		got = append(got, p.Name)
	}
	if diff := cmp.Diff([]string{"less", "important", "guaranteed", "long", "short", "new"}, got); diff != "" {
		t.Error(diff)
	}
}
