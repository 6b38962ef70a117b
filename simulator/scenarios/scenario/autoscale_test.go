package scenario

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

const poolHead = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {"

// TestAutoscaleMistakes: what could never work is refused before a run, each mistake at its line.
func TestAutoscaleMistakes(t *testing.T) {
	const template = "template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: [%s]}}}}"
	good := poolHead + fmt.Sprintf(template, "")
	for name, c := range map[string]struct {
		field string
		want  []string
	}{
		"no NodePool":        {"autoscale: {registration: 1m}", []string{"test.yaml:4: autoscale: an autoscaler buys nodes of NodePools: name some in nodePools, or create them in cluster or a step"}},
		"an unknown field":   {"autoscale: {nodePool: []}", []string{`test.yaml:4: autoscale.nodePool: unknown field "nodePool", did you mean nodePools?`}},
		"another kind":       {"autoscale:\n  nodePools:\n  - {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}", []string{"test.yaml:6: autoscale.nodePools.objects[0]: want a NodePool, not a Pod"}},
		"two of a name":      {"autoscale:\n  nodePools:\n  - " + good + "\n  - " + good, []string{"test.yaml:7: autoscale.nodePools.objects[1]: there are two NodePools general"}},
		"an unknown policy":  {"autoscale:\n  nodePools:\n  - " + strings.Replace(good, "spec: {", "spec: {disruption: {consolidationPolicy: Sometimes}, ", 1), []string{"test.yaml:6: autoscale.nodePools.objects[0]: NodePool general: there is no consolidationPolicy Sometimes; it is one of [WhenEmpty WhenEmptyOrUnderutilized Balanced]"}},
		"a misspelt field":   {"autoscale:\n  nodePools:\n  - " + strings.Replace(good, "spec: {", "spec: {wheight: 3, ", 1), []string{`unknown field "spec.wheight"`}},
		"no type matches":    {"autoscale:\n  nodePools:\n  - " + poolHead + fmt.Sprintf(template, "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}"), []string{"NodePool general: none of the 38 instance types matches its requirements, so it could never buy a node"}},
		"a long wait":        {"autoscale: {registration: 48h, nodePools: [" + good + "]}", []string{"autoscale.registration: want at most 24h0m0s, not 48h0m0s"}},
		"three in a file":    {"autoscale:\n  instanceTypes: types.yaml\n  nodePools:\n  - " + good, []string{"types.yaml:2: [0].architecture: the field is missing", "types.yaml:4: [0].resources.memory: a type must say how much memory it has", "types.yaml:5: [0].offerings: a type must be offered somewhere"}},
		"two in a list":      {"autoscale:\n  instanceTypes:\n  - {name: a, operatingSystems: [linux], resources: {cpu: 1, memory: 1Gi}, offerings: []}\n  nodePools:\n  - " + good, []string{"test.yaml:6: autoscale.instanceTypes[0].architecture: the field is missing", "test.yaml:6: autoscale.instanceTypes[0].offerings: a type must be offered somewhere"}},
		"no file":            {"autoscale:\n  instanceTypes: none.yaml\n  nodePools:\n  - " + good, []string{"test.yaml:5: reading none.yaml: "}},
		"a misplaced choice": {"autoscale:\n  consolidation: sometimes\n  nodePools:\n  - " + good, []string{"test.yaml:5: autoscale.consolidation: "}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, head+c.field+"\nsteps: [{wait: settled}]\n", map[string]string{"types.yaml": "\n- name: a\n  operatingSystems: [linux]\n  resources: {cpu: 1}\n  offerings: []\n"})
			if err == nil {
				t.Fatal("it is read")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s\nwant %s", err, want)
				}
			}
		})
	}
	if _, err := load(t, head+"autoscale: {}\nsteps: [{create: {objects: ["+good+"]}}, {wait: settled}]\n", nil); err != nil {
		t.Errorf("NodePools of a step: %v", err)
	}
}

// TestSweepsOfNoAutoscaler: a parameter needs something to change.
func TestSweepsOfNoAutoscaler(t *testing.T) {
	for parameter, want := range map[string]string{
		"{autoscale: registration, values: [1m]}":                       "the scenario has no field autoscale",
		"{autoscale: registration, path: a, values: [1m]}":              "autoscale stands alone: want autoscale with values",
		"{autoscale: registration, plugin: ImageLocality, weight: [1]}": "autoscale stands alone: want autoscale with values",
	} {
		files := map[string]string{"s.yaml": head + "steps: [{wait: settled}]\n"}
		_, err := LoadSweep(t.Context(), []byte("apiVersion: "+APIVersion+"\nkind: Sweep\nmetadata: {name: s}\nscenario: s.yaml\nparameters: ["+parameter+"]\n"), Options{File: "sweep.yaml", Parse: config.Parse, Read: func(name string) ([]byte, error) { return []byte(files[name]), nil }}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", parameter, err, want)
		}
	}
}

// TestMeter: cost is price by time, of each node as long as it is there, and unused is what no pod requests of it.
func TestMeter(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	node := func(name, price string) *v1.Node {
		return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{objects.LabelPrice: price}}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("1")}}}
	}
	pod := func(uid, node string) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: apitypes.UID(uid)}, Spec: v1.PodSpec{NodeName: node, Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": resource.MustParse("2")}}}}}}
	}
	m := NewMeter()
	m.Node(nil, node("a", "6"), at(0))         // an hour
	m.Node(nil, node("free", ""), at(0))       // without a price
	m.Launched("b", 12, at(10))                // an instance that joins later
	m.Node(nil, node("b", "12"), at(20))       //
	m.Pod(nil, pod("p", ""), at(20))           // waits
	m.Pod(pod("p", ""), pod("p", "a"), at(30)) // half of a
	ended := pod("p", "a")
	ended.Status.Phase = v1.PodSucceeded
	m.Pod(pod("p", "a"), ended, at(50))
	m.Node(node("b", "12"), nil, at(40))
	m.Launched("never", 6, at(50))
	m.Ended("never", at(55))
	got := m.Read(at(60))
	want := Costs{Cost: 6 + 6 + 0.5, Unused: 12.5 - 1, Priced: true, NodeHours: 2 + 1./3, MostNodes: 3}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })); diff != "" {
		t.Error(diff)
	}
	if again := m.Read(at(60)); again != got {
		t.Errorf("reading changes it: %+v", again)
	}
	if (Costs{}) != NewMeter().Read(at(5)) {
		t.Error("nothing costs something")
	}
}
