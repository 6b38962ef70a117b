package virtualnode

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

func TestLoadNUMA(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"good", "- nodeSelector: {pool: numa}\n  zones: 2\n  policy: restricted\n  scope: pod\n  costs: [[10, 20], [20, 10]]\n- resources: [{cpu: 4, memory: 8Gi}, {cpu: 2}]\n", ""},
		{"nothing", "# later\n", "it is empty; want a list of {nodeSelector, zones}"},
		{"a manifest", "apiVersion: topology.node.k8s.io/v1alpha2\nkind: NodeResourceTopology\nzones: []\n", "it is a NodeResourceTopology; want a list"},
		{"a field that is not one", "- zone: 2\n", `unknown field "zone"`},
		{"a label that no node has", "- nodeSelector: {pool: not a label}\n  zones: 2\n", "[0].nodeSelector: "},
		{"no zone", "- nodeSelector: {pool: numa}\n", "[0]: it has 0 zones"},
		{"too many", "- zones: 9\n", "[0]: it has 9 zones"},
		{"fewer than none", "- zones: -1\n", "[0]: it has 0 zones"},
		{"both", "- zones: 1\n  resources: [{cpu: 1}]\n", "[0]: it has zones and resources"},
		{"a policy that is none", "- {zones: 2, policy: strict}\n", `[0]: policy: "strict" is none of none, best-effort`},
		{"a scope that is none", "- {zones: 2, scope: node}\n", `[0]: scope: "node" is none of container, pod`},
		{"costs of other zones", "- {zones: 2, costs: [[10, 20]]}\n", "[0]: costs: want 2 lists of 2 distances"},
		{"less than nothing", "- resources: [{cpu: -1}]\n", "[0]: resources[0].cpu: -1 is negative"},
		{"no quantity", "- resources: [{cpu: many}]\n", "quantities must match"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "numa.yaml")
			if err := os.WriteFile(file, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := LoadNUMA(file)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v; want %q", err, test.want)
			}
		})
	}
}

func TestTheAnnotationCountsBeforeTheFile(t *testing.T) {
	file := []NodeCut{{NodeSelector: map[string]string{"pool": "a"}, Cut: Cut{Zones: 2}}, {Cut: Cut{Zones: 4}}}
	for want, node := range map[int]*corev1.Node{
		2: {ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pool": "a"}}},
		4: {},
		8: {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{objects.AnnotationNUMA: "{zones: 8}"}}},
	} {
		if cut, err := cutOf(node, file); err != nil || cut.Zones != want {
			t.Errorf("%+v, %v; want %d zones", cut, err, want)
		}
	}
	if cut, err := cutOf(&corev1.Node{}, file[:1]); cut != nil || err != nil {
		t.Errorf("a node that nobody cuts: %+v, %v", cut, err)
	}
}

func TestZonesShareANode(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: list("cpu", "7500m", "memory", "5", "pods", "110", "ephemeral-storage", "1Ti", "hugepages-2Mi", "4Mi", "example.com/gpu", "3")}}
	var got []string
	for _, z := range (&Cut{Zones: 2, Policy: "restricted", Costs: [][]int64{{10, 21}, {21, 10}}}).topologyOf(node).Zones {
		line := z.Name
		for _, r := range z.Resources {
			line += fmt.Sprintf(" %s=%s", r.Name, r.Available.String())
		}
		got = append(got, fmt.Sprint(line, z.Costs))
	}
	want := []string{
		"node-0 cpu=4500m example.com/gpu=2 hugepages-2Mi=2Mi memory=3[{node-0 10} {node-1 21}]",
		"node-1 cpu=3 example.com/gpu=1 hugepages-2Mi=2Mi memory=2[{node-0 21} {node-1 10}]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// list makes a ResourceList of names and amounts.
func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// podOf is a running pod whose containers ask for these resources. With limits it is Guaranteed.
func podOf(name string, second int, limits bool, requests ...corev1.ResourceList) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(time.Unix(int64(second), 0))},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for i, r := range requests {
		c := corev1.Container{Name: fmt.Sprintf("c%d", i), Resources: corev1.ResourceRequirements{Requests: r}}
		if limits {
			c.Resources.Limits = r
		}
		pod.Spec.Containers = append(pod.Spec.Containers, c)
	}
	return pod
}

func TestSettle(t *testing.T) {
	half := list("cpu", "2", "memory", "2Gi")
	finished := podOf("finished", 0, true, half)
	finished.Status.Phase = corev1.PodSucceeded
	sidecar := podOf("sidecar", 0, true, half)
	always := corev1.ContainerRestartPolicyAlways
	sidecar.Spec.InitContainers = []corev1.Container{
		{Name: "once", Resources: corev1.ResourceRequirements{Requests: list("cpu", "4", "memory", "8Gi"), Limits: list("cpu", "4", "memory", "8Gi")}},
		{Name: "side", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: half, Limits: half}},
	}
	second := []Holding{{Pod: "ns/b", UID: "b", Container: "c0", Zones: map[string]corev1.ResourceList{"node-1": half}}}
	tests := []struct {
		name   string
		scope  string
		pods   []*corev1.Pod
		before []Holding
		// want has a line for each holding, and at last what the zones have left.
		want []string
	}{
		{name: "the first zone that has room", pods: []*corev1.Pod{podOf("a", 1, true, list("cpu", "3", "memory", "1Gi")), podOf("b", 2, true, half)},
			want: []string{"ns/a c0 node-0 cpu=3 memory=1Gi", "ns/b c0 node-1 cpu=2 memory=2Gi", "node-0 cpu=1 memory=7Gi", "node-1 cpu=2 memory=6Gi"}},
		{name: "each container on its own", pods: []*corev1.Pod{podOf("a", 1, true, list("cpu", "3", "memory", "1Gi"), list("cpu", "3", "memory", "1Gi"))},
			want: []string{"ns/a c0 node-0 cpu=3 memory=1Gi", "ns/a c1 node-1 cpu=3 memory=1Gi", "node-0 cpu=1 memory=7Gi", "node-1 cpu=1 memory=7Gi"}},
		{name: "the whole pod together", scope: v1alpha2.ScopePod, pods: []*corev1.Pod{podOf("a", 1, true, list("cpu", "3", "memory", "1Gi")), podOf("b", 2, true, half, list("cpu", "1", "memory", "1Gi"))},
			want: []string{"ns/a c0 node-0 cpu=3 memory=1Gi", "ns/b c0 node-1 cpu=2 memory=2Gi", "ns/b c1 node-1 cpu=1 memory=1Gi", "node-0 cpu=1 memory=7Gi", "node-1 cpu=1 memory=5Gi"}},
		{name: "what holds nothing alone", pods: []*corev1.Pod{podOf("burstable", 1, false, half), podOf("none", 2, false, nil), finished},
			want: []string{"node-0 cpu=4 memory=8Gi", "node-1 cpu=4 memory=8Gi"}},
		{name: "a part of a CPU is shared", pods: []*corev1.Pod{podOf("a", 1, true, list("cpu", "1500m", "memory", "1Gi"))},
			want: []string{"ns/a c0 node-0 memory=1Gi", "node-0 cpu=4 memory=7Gi", "node-1 cpu=4 memory=8Gi"}},
		{name: "sidecars hold, init containers do not", pods: []*corev1.Pod{sidecar},
			want: []string{"ns/sidecar side node-0 cpu=2 memory=2Gi", "ns/sidecar c0 node-0 cpu=2 memory=2Gi", "node-0 cpu=0 memory=4Gi", "node-1 cpu=4 memory=8Gi"}},
		{name: "nobody moves when another goes", pods: []*corev1.Pod{podOf("b", 2, true, half)}, before: second,
			want: []string{"ns/b c0 node-1 cpu=2 memory=2Gi", "node-0 cpu=4 memory=8Gi", "node-1 cpu=2 memory=6Gi"}},
		{name: "those who are there come first", pods: []*corev1.Pod{podOf("a", 1, true, list("cpu", "4", "memory", "1Gi")), podOf("b", 2, true, half)}, before: []Holding{{Pod: "ns/b", UID: "b", Container: "c0", Zones: map[string]corev1.ResourceList{"node-0": half}}},
			want: []string{"ns/a c0 node-1 cpu=4 memory=1Gi", "ns/b c0 node-0 cpu=2 memory=2Gi", "node-0 cpu=2 memory=6Gi", "node-1 cpu=0 memory=7Gi"}},
		{name: "a resized pod chooses again", pods: []*corev1.Pod{podOf("b", 2, true, list("cpu", "3", "memory", "2Gi"))}, before: second,
			want: []string{"ns/b c0 node-0 cpu=3 memory=2Gi", "node-0 cpu=1 memory=6Gi", "node-1 cpu=4 memory=8Gi"}},
		{name: "another pod of the name chooses for itself", pods: []*corev1.Pod{func() *corev1.Pod { p := podOf("b", 2, true, half); p.UID = "later"; return p }()}, before: second,
			want: []string{"ns/b c0 node-0 cpu=2 memory=2Gi", "node-0 cpu=2 memory=6Gi", "node-1 cpu=4 memory=8Gi"}},
		{name: "a zone that has gone", pods: []*corev1.Pod{podOf("b", 2, true, half)}, before: []Holding{{UID: "b", Container: "c0", Zones: map[string]corev1.ResourceList{"node-7": half}}},
			want: []string{"ns/b c0 node-0 cpu=2 memory=2Gi", "node-0 cpu=2 memory=6Gi", "node-1 cpu=4 memory=8Gi"}},
		{name: "what fits no zone takes what there is", pods: []*corev1.Pod{podOf("a", 1, true, list("cpu", "6", "memory", "1Gi")), podOf("b", 2, true, list("cpu", "4", "memory", "1Gi"))},
			want: []string{"ns/a c0 node-0 cpu=4 memory=1Gi node-1 cpu=2", "ns/b c0 node-0 memory=1Gi node-1 cpu=2", "node-0 cpu=0 memory=6Gi", "node-1 cpu=0 memory=8Gi"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cut := &Cut{Zones: 2, Scope: test.scope}
			topology := cut.topologyOf(&corev1.Node{Status: corev1.NodeStatus{Allocatable: list("cpu", "8", "memory", "16Gi")}})
			var got []string
			for _, h := range settle(topology, test.pods, test.before) {
				line := h.Pod + " " + h.Container
				for _, zone := range []string{"node-0", "node-1"} {
					if len(h.Zones[zone]) > 0 {
						line += " " + zone + amountsText(h.Zones[zone])
					}
				}
				got = append(got, line)
			}
			for _, z := range topology.Zones {
				left := corev1.ResourceList{}
				for _, r := range z.Resources {
					left[corev1.ResourceName(r.Name)] = r.Available
				}
				got = append(got, z.Name+amountsText(left))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func amountsText(amounts corev1.ResourceList) string {
	out := ""
	for _, name := range sortedNames(amounts) {
		amount := amounts[name]
		out += fmt.Sprintf(" %s=%s", name, amount.String())
	}
	return out
}

// TestTheReportIsWhatTheCacheCompares: the fingerprint is of the pods that have started, and the
// placement of their containers can be read again.
func TestTheReportIsWhatTheCacheCompares(t *testing.T) {
	pods := []*corev1.Pod{podOf("p1", 1, true, list("cpu", "3", "memory", "1Gi")), podOf("p2", 2, true, list("cpu", "3", "memory", "1Gi")), podOf("late", 3, true, list("cpu", "1", "memory", "1Gi"))}
	pods[2].Status.Phase = corev1.PodPending
	topology := (&Cut{Zones: 2}).topologyOf(&corev1.Node{Status: corev1.NodeStatus{Allocatable: list("cpu", "8", "memory", "16Gi")}})
	holdings := settle(topology, pods, nil)
	reportPods(topology, pods, holdings)
	if got, method := topology.Fingerprint(); got != v1alpha2.FingerprintOf(pods[:2]) || method != v1alpha2.MethodAll {
		t.Errorf("the fingerprint is %s of %s", got, method)
	}
	var containers []v1alpha2.ContainerID
	for _, pod := range pods[:2] {
		containers = append(containers, topology.ExclusiveContainers(pod)...)
	}
	want := map[v1alpha2.ContainerID]int{{Namespace: "ns", Pod: "p1", Container: "c0"}: 0, {Namespace: "ns", Pod: "p2", Container: "c0"}: 1}
	if diff := cmp.Diff(want, topology.Placement(containers)); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(holdings)
	if err != nil {
		t.Fatal(err)
	}
	topology.Annotations = map[string]string{objects.AnnotationZonePlacement: string(text)}
	if diff := cmp.Diff(holdings, holdingsOf(topology)); diff != "" {
		t.Error(diff)
	}
}
