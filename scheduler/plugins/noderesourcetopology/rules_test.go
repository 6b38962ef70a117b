package noderesourcetopology

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

func TestMain(m *testing.M) {
	metrics.Register()
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

func amountsIn(text string) v1.ResourceList {
	list := v1.ResourceList{}
	for _, word := range strings.Fields(text) {
		name, amount, _ := strings.Cut(word, "=")
		list[v1.ResourceName(name)] = resource.MustParse(amount)
	}
	return list
}

// container reads "cpu=2 memory=1Gi", which are requests. In a Guaranteed pod they are limits
// too. The words init and sidecar say what it is.
func container(name, text string, guaranteed bool) (c v1.Container, isInit bool) {
	c.Name = name
	rest := strings.TrimPrefix(strings.TrimPrefix(text, "init "), "sidecar ")
	if isInit = rest != text; isInit && strings.HasPrefix(text, "sidecar") {
		c.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
	}
	c.Resources.Requests = amountsIn(rest)
	if guaranteed {
		c.Resources.Limits = amountsIn(rest)
	}
	return c, isInit
}

// podOf returns a pod with containers c0, c1 and so on. One that is not guaranteed has no
// limits.
func podOf(name string, guaranteed bool, containers ...string) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	for i, text := range containers {
		if text, isOverhead := strings.CutPrefix(text, "overhead "); isOverhead {
			pod.Spec.Overhead = amountsIn(text)
			continue
		}
		c, isInit := container("c"+string(rune('0'+i)), text, guaranteed)
		if isInit {
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
		} else {
			pod.Spec.Containers = append(pod.Spec.Containers, c)
		}
	}
	return pod
}

func nodeInfo(name, allocatable string) *framework.NodeInfo {
	n := framework.NewNodeInfo()
	n.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: amountsIn(allocatable)}})
	return n
}

// topology is one that a test changes.
type topology struct{ *v1alpha2.NodeResourceTopology }

// cut returns the topology of a node with single-numa-node and the scope container. A zone is
// "cpu=4 memory=8Gi"; all of it is available.
func cut(node string, zones ...string) topology {
	t := &v1alpha2.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: node, UID: types.UID(node)}}
	t.Attributes = []v1alpha2.Attribute{{Name: v1alpha2.AttributePolicy, Value: v1alpha2.PolicySingleNUMANode}, {Name: v1alpha2.AttributeScope, Value: v1alpha2.ScopeContainer}}
	for i, text := range zones {
		z := v1alpha2.Zone{Name: fmt.Sprint(v1alpha2.ZonePrefix, i), Type: v1alpha2.ZoneType}
		for name, q := range amountsIn(text) {
			z.Resources = append(z.Resources, v1alpha2.Amounts{Name: string(name), Capacity: q, Allocatable: q, Available: q})
		}
		t.Zones = append(t.Zones, z)
	}
	return topology{t}
}

func (t topology) set(name, value string) topology {
	for i := range t.Attributes {
		if t.Attributes[i].Name == name {
			t.Attributes[i].Value = value
			return t
		}
	}
	t.Attributes = append(t.Attributes, v1alpha2.Attribute{Name: name, Value: value})
	return t
}

func (t topology) costs(rows ...[]int64) topology {
	for i, row := range rows {
		for j, cost := range row {
			t.Zones[i].Costs = append(t.Zones[i].Costs, v1alpha2.Cost{Name: t.Zones[j].Name, Value: cost})
		}
	}
	return t
}

func (t topology) change(do func(*v1alpha2.NodeResourceTopology)) topology {
	do(t.NodeResourceTopology)
	return t
}

// build returns the plugin in a framework, with the objects that exist when it starts.
func build(t *testing.T, args string, objects ...runtime.Object) (*Plugin, framework.Framework) {
	t.Helper()
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	if err := schedulertest.Store(factory, []runtime.Object{&v1alpha2.NodeResourceTopology{}, &v1.Pod{}, &everyPod{}}, objects); err != nil {
		t.Fatal(err)
	}
	var p *Plugin
	registry := plugins.NewInTreeRegistry()
	registry[Name] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		made, err := New(ctx, args, h)
		p, _ = made.(*Plugin)
		return made, err
	}
	profile := &config.KubeSchedulerProfile{
		SchedulerName: "ours",
		Plugins: &config.Plugins{MultiPoint: config.PluginSet{
			Enabled: []config.Plugin{{Name: names.PrioritySort}, {Name: names.DefaultBinder}, {Name: Name}},
		}},
		PluginConfig: []config.PluginConfig{{Name: Name, Args: &runtime.Unknown{Raw: []byte(args), ContentType: runtime.ContentTypeYAML}}},
	}
	f, err := frameworkruntime.NewFramework(t.Context(), registry, profile, frameworkruntime.WithInformerFactory(factory))
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := p.topologies.(*overReserving); ok {
		for _, object := range objects {
			if pod, ok := object.(*v1.Pod); ok {
				o.podChanged(pod, false)
			}
		}
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, f
}

// try returns the reason of a rejection, empty for none, and the score of a node that passes.
func try(t *testing.T, p *Plugin, pod *v1.Pod, node fwk.NodeInfo) (string, int64) {
	t.Helper()
	state := framework.NewCycleState()
	if _, status := p.PreFilter(t.Context(), state, pod, nil); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := p.Filter(t.Context(), state, pod, node); !status.IsSuccess() {
		if status.Code() != fwk.Unschedulable {
			t.Errorf("status %v", status.Code())
		}
		return status.Message(), 0
	}
	score, status := p.Score(t.Context(), state, pod, node)
	if !status.IsSuccess() || score < fwk.MinScore || score > fwk.MaxScore {
		t.Errorf("score %d, %v", score, status)
	}
	return "", score
}

// two are two zones with 4 CPUs and 8Gi.
func two() topology { return cut("n", "cpu=4 memory=8Gi", "cpu=4 memory=8Gi") }

const (
	noContainer = "cannot align container"
	noInit      = "cannot align init container"
	noSidecar   = "cannot align sidecar container"
	noPod       = "cannot align pod"
)

// TestRules has a row for each rule and example of the plugin that this one is compatible with.
// Unless a row says otherwise, the node has two zones with 4 CPUs and 8Gi, and the strategy is
// LeastAllocated.
func TestRules(t *testing.T) {
	fourZones := func() topology {
		return cut("n", "cpu=4 memory=8Gi", "cpu=4 memory=8Gi", "cpu=4 memory=8Gi", "cpu=4 memory=8Gi").
			costs([]int64{10, 12, 21, 21}, []int64{12, 10, 21, 21}, []int64{21, 21, 10, 12}, []int64{21, 21, 12, 10})
	}
	for _, c := range []struct {
		name string
		// topology is two() by default; none says that the node has none.
		topology topology
		none     bool
		// node is what the node has: 8 CPUs and 16Gi by default.
		node     string
		strategy string
		// burstable has the requests without limits.
		burstable  bool
		containers []string

		reason string
		score  int64
	}{
		// Filter.
		{name: "1: a zone has just enough", containers: []string{"cpu=4 memory=4Gi"}, score: 25},
		{name: "1: no zone has enough", containers: []string{"cpu=5 memory=4Gi"}, reason: noContainer},
		{name: "2: two containers, a zone for each", containers: []string{"cpu=3 memory=1Gi", "cpu=3 memory=1Gi"}, score: 56},
		{name: "2: not as a pod", topology: two().set(v1alpha2.AttributeScope, v1alpha2.ScopePod), containers: []string{"cpu=3 memory=1Gi", "cpu=3 memory=1Gi"}, reason: noPod},
		{name: "3: Burstable pods share CPUs and memory", burstable: true, containers: []string{"cpu=5 memory=4Gi"}, score: 100},
		{name: "3: but a zone must list them", topology: cut("n", "cpu=4", "cpu=4"), burstable: true, containers: []string{"cpu=5 memory=4Gi"}, reason: noContainer},
		{name: "4: memory in no zone", topology: cut("n", "cpu=4", "cpu=4"), containers: []string{"cpu=1 memory=1Gi"}, reason: noContainer},
		{
			name: "4: huge pages in no zone", node: "cpu=8 memory=16Gi hugepages-2Mi=1Gi",
			containers: []string{"cpu=1 memory=1Gi hugepages-2Mi=2Mi"}, reason: noContainer,
		},
		{name: "5: BestEffort", burstable: true, containers: []string{""}, score: 100},
		{
			name: "5: BestEffort with devices", topology: cut("n", "cpu=4 memory=8Gi example.com/gpu=2", "cpu=4 memory=8Gi"), node: "cpu=8 memory=16Gi example.com/gpu=4",
			burstable: true, containers: []string{"example.com/gpu=3"}, reason: noContainer,
		},
		{
			name: "devices are aligned for every pod", topology: cut("n", "cpu=4 memory=8Gi example.com/gpu=2", "cpu=4 memory=8Gi"), node: "cpu=8 memory=16Gi example.com/gpu=4",
			burstable: true, containers: []string{"cpu=1 example.com/gpu=2", "cpu=1 example.com/gpu=1"}, reason: noContainer,
		},
		{
			name: "6: the CPUs are in one zone, the device in the other", topology: cut("n", "cpu=1 memory=8Gi example.com/gpu=2", "cpu=4 memory=8Gi"),
			node: "cpu=8 memory=16Gi example.com/gpu=2", containers: []string{"cpu=2 memory=1Gi example.com/gpu=1"}, reason: noContainer,
		},
		{name: "7: a device that no zone lists", node: "cpu=8 memory=16Gi example.com/nic=1", containers: []string{"cpu=2 memory=1Gi example.com/nic=1"}, score: 45},
		{
			name: "7: by the number of zones", node: "cpu=8 memory=16Gi example.com/nic=1", strategy: LeastNUMANodes,
			containers: []string{"cpu=2 memory=1Gi example.com/nic=1"}, score: 0,
		},
		{name: "7: a device that the node does not have", containers: []string{"cpu=2 memory=1Gi example.com/nic=1"}, reason: noContainer},
		{name: "storage of the node is not aligned", containers: []string{"cpu=4 memory=4Gi ephemeral-storage=1Gi"}, score: 16},
		{name: "8: without a topology", none: true, containers: []string{"cpu=20 memory=1Gi"}, score: 0},
		{name: "8: another policy", topology: two().set(v1alpha2.AttributePolicy, v1alpha2.PolicyRestricted), containers: []string{"cpu=6 memory=1Gi"}, score: 0},
		{name: "8: another policy, by the number of zones", topology: two().set(v1alpha2.AttributePolicy, v1alpha2.PolicyRestricted), strategy: LeastNUMANodes, containers: []string{"cpu=6 memory=1Gi"}, score: 82},
		{name: "9: an init container", containers: []string{"init cpu=5 memory=1Gi", "cpu=1 memory=1Gi"}, reason: noInit},
		{name: "9: a sidecar", containers: []string{"sidecar cpu=5 memory=1Gi", "cpu=1 memory=1Gi"}, reason: noSidecar},
		{name: "10: init containers take nothing", containers: []string{"init cpu=4 memory=1Gi", "cpu=4 memory=1Gi", "cpu=4 memory=1Gi"}, score: 43},
		{name: "10: nor do sidecars", containers: []string{"sidecar cpu=3 memory=1Gi", "cpu=4 memory=1Gi", "cpu=4 memory=1Gi"}, score: 47},
		{
			name: "11: a container takes the first zone, even if the next one needs it", topology: cut("n", "cpu=4 memory=8Gi", "cpu=2 memory=8Gi"),
			containers: []string{"cpu=2 memory=1Gi", "cpu=4 memory=1Gi"}, reason: noContainer,
		},
		{
			name: "what a zone does not list is not taken from it", topology: cut("n", "cpu=2 memory=8Gi", "cpu=4 memory=8Gi example.com/gpu=1"),
			node: "cpu=8 memory=16Gi example.com/gpu=1", containers: []string{"cpu=2 memory=1Gi", "cpu=2 memory=1Gi example.com/gpu=1"}, score: 36,
		},
		{name: "the pod's request: the largest init container", topology: two().set(v1alpha2.AttributeScope, v1alpha2.ScopePod), containers: []string{"init cpu=5 memory=1Gi", "cpu=1 memory=1Gi"}, reason: noPod},
		{name: "and the overhead", topology: two().set(v1alpha2.AttributeScope, v1alpha2.ScopePod), containers: []string{"cpu=3 memory=1Gi", "overhead cpu=2"}, reason: noPod},
		{name: "a request of nothing passes, and counts in the score like any other that the zones do not list", node: "cpu=8 memory=16Gi", containers: []string{"cpu=1 memory=1Gi example.com/nic=0"}, score: 54},

		// Policies, scopes and zones.
		{
			name: "18: attributes override the policies", topology: two().change(func(t *v1alpha2.NodeResourceTopology) { t.TopologyPolicies = []string{"SingleNUMANodePodLevel"} }),
			containers: []string{"cpu=3 memory=1Gi", "cpu=3 memory=1Gi"}, score: 56,
		},
		{
			name: "policies without attributes", topology: two().change(func(t *v1alpha2.NodeResourceTopology) {
				t.Attributes, t.TopologyPolicies = nil, []string{"SingleNUMANodePodLevel", "BestEffortPodLevel"}
			}),
			containers: []string{"cpu=3 memory=1Gi", "cpu=3 memory=1Gi"}, reason: noPod,
		},
		{
			name: "a policy that is not known is none", topology: two().change(func(t *v1alpha2.NodeResourceTopology) {
				t.Attributes, t.TopologyPolicies = nil, []string{"SingleNUMANode"}
			}),
			containers: []string{"cpu=5 memory=1Gi"}, score: 0,
		},
		{
			name: "invalid attributes are ignored", topology: two().change(func(t *v1alpha2.NodeResourceTopology) {
				t.Attributes = append(t.Attributes, v1alpha2.Attribute{Name: v1alpha2.AttributePolicy, Value: "strict"}, v1alpha2.Attribute{Name: v1alpha2.AttributeScope, Value: "node"}, v1alpha2.Attribute{Name: v1alpha2.AttributeMaxNUMANodes, Value: "1"}, v1alpha2.Attribute{Name: v1alpha2.AttributeMaxNUMANodes, Value: "many"})
			}),
			strategy: LeastNUMANodes, containers: []string{"cpu=4 memory=1Gi"}, score: 94,
		},
		{
			name: "zones of other types and names are skipped", topology: cut("n", "cpu=4 memory=8Gi", "cpu=8 memory=8Gi", "cpu=8 memory=8Gi", "cpu=8 memory=8Gi").change(func(t *v1alpha2.NodeResourceTopology) {
				t.Zones[1].Type, t.Zones[2].Name, t.Zones[3].Name = "Socket", "numa-node-2", "node--3"
			}),
			containers: []string{"cpu=5 memory=1Gi"}, reason: noContainer,
		},
		{
			name: "the numbers of zones may have gaps", topology: two().change(func(t *v1alpha2.NodeResourceTopology) { t.Zones[0].Name, t.Zones[1].Name = "node-7", "node-3" }),
			strategy: LeastNUMANodes, containers: []string{"cpu=6 memory=1Gi"}, burstable: false, reason: noContainer,
		},
		{name: "no zones", topology: cut("n"), containers: []string{"cpu=1 memory=1Gi"}, reason: noContainer},
		{name: "no zones, by the number of zones", topology: cut("n").set(v1alpha2.AttributePolicy, v1alpha2.PolicyNone), strategy: LeastNUMANodes, containers: []string{"cpu=1 memory=1Gi"}, score: 100},
		{name: "no zones, a device of the node", topology: cut("n"), node: "cpu=8 example.com/nic=1", burstable: true, containers: []string{"example.com/nic=1"}, score: 100},
		{name: "negative amounts", topology: cut("n", "cpu=-4 memory=8Gi"), containers: []string{"cpu=1 memory=1Gi"}, reason: noContainer},

		// Scores.
		{name: "12: LeastAllocated", topology: two().set(v1alpha2.AttributeScope, v1alpha2.ScopePod), containers: []string{"cpu=2 memory=2Gi"}, score: 62},
		{name: "12: MostAllocated", topology: two().set(v1alpha2.AttributeScope, v1alpha2.ScopePod), strategy: MostAllocated, containers: []string{"cpu=2 memory=2Gi"}, score: 37},
		{name: "12: BalancedAllocation", topology: two().set(v1alpha2.AttributeScope, v1alpha2.ScopePod), strategy: BalancedAllocation, containers: []string{"cpu=2 memory=2Gi"}, score: 96},
		{name: "12: LeastNUMANodes", topology: two().set(v1alpha2.AttributeScope, v1alpha2.ScopePod), strategy: LeastNUMANodes, containers: []string{"cpu=2 memory=2Gi"}, score: 94},
		{name: "13: the lower zone counts", topology: cut("n", "cpu=4 memory=8Gi", "cpu=8 memory=8Gi").set(v1alpha2.AttributeScope, v1alpha2.ScopePod), containers: []string{"cpu=2 memory=2Gi"}, score: 62},
		{name: "13: MostAllocated", topology: cut("n", "cpu=4 memory=8Gi", "cpu=8 memory=8Gi").set(v1alpha2.AttributeScope, v1alpha2.ScopePod), strategy: MostAllocated, containers: []string{"cpu=2 memory=2Gi"}, score: 25},
		{name: "13: a zone that scores 0 does not count", topology: cut("n", "cpu=4 memory=8Gi", "cpu=1 memory=1Gi").set(v1alpha2.AttributeScope, v1alpha2.ScopePod), containers: []string{"cpu=2 memory=2Gi"}, score: 62},
		{name: "13: one that cannot hold the pod may count", topology: cut("n", "cpu=4 memory=8Gi", "cpu=1 memory=8Gi").set(v1alpha2.AttributeScope, v1alpha2.ScopePod), containers: []string{"cpu=2 memory=2Gi"}, score: 37},
		{name: "parts of a CPU count as one", topology: two().set(v1alpha2.AttributeScope, v1alpha2.ScopePod), containers: []string{"cpu=500m memory=2Gi"}, score: 75},
		{name: "weights", strategy: "{type: LeastAllocated, resources: [{name: cpu, weight: 3}]}", containers: []string{"cpu=2 memory=6Gi"}, score: 43},
		{name: "a weight of 0 is 1", strategy: "{type: LeastAllocated, resources: [{name: cpu, weight: 0}]}", containers: []string{"cpu=2 memory=6Gi"}, score: 37},
		{name: "a negative weight is 1", strategy: "{type: LeastAllocated, resources: [{name: cpu, weight: -5}]}", containers: []string{"cpu=2 memory=6Gi"}, score: 37},
		{name: "huge amounts do not overflow", topology: cut("n", "cpu=4 memory=8Ei"), containers: []string{"cpu=2 memory=4Ei"}, score: 50},
		{
			name: "BalancedAllocation: a share above 1", topology: cut("n", "cpu=4 memory=8Gi", "cpu=1 memory=8Gi"), strategy: BalancedAllocation,
			containers: []string{"cpu=2 memory=4Gi"}, score: 100,
		},
		{name: "14: two zones together", topology: two().set(v1alpha2.AttributePolicy, v1alpha2.PolicyBestEffort), strategy: LeastNUMANodes, containers: []string{"cpu=6 memory=1Gi"}, score: 82},
		{name: "14: not enough in all", topology: two().set(v1alpha2.AttributePolicy, v1alpha2.PolicyBestEffort), strategy: LeastNUMANodes, containers: []string{"cpu=9 memory=1Gi"}, score: 0},
		{name: "14: at most 2 zones, one", topology: two().set(v1alpha2.AttributePolicy, v1alpha2.PolicyBestEffort).set(v1alpha2.AttributeMaxNUMANodes, "2"), strategy: LeastNUMANodes, containers: []string{"cpu=2 memory=1Gi"}, score: 75},
		{name: "14: at most 2 zones, both", topology: two().set(v1alpha2.AttributePolicy, v1alpha2.PolicyBestEffort).set(v1alpha2.AttributeMaxNUMANodes, "2"), strategy: LeastNUMANodes, containers: []string{"cpu=6 memory=1Gi"}, score: 25},
		{name: "the most zones are capped", topology: two().set(v1alpha2.AttributePolicy, v1alpha2.PolicyBestEffort).set(v1alpha2.AttributeMaxNUMANodes, "5000"), strategy: LeastNUMANodes, containers: []string{"cpu=2 memory=1Gi"}, score: 100},
		{name: "15: near zones", topology: fourZones().set(v1alpha2.AttributePolicy, v1alpha2.PolicyBestEffort), strategy: LeastNUMANodes, containers: []string{"cpu=8 memory=1Gi"}, score: 82},
		{
			name: "15: zones that are further apart", topology: fourZones().set(v1alpha2.AttributePolicy, v1alpha2.PolicyBestEffort).change(func(t *v1alpha2.NodeResourceTopology) {
				for _, at := range []int{1, 3} {
					for i := range t.Zones[at].Resources {
						if r := &t.Zones[at].Resources[i]; r.Name == "cpu" {
							r.Available = resource.MustParse("1")
						}
					}
				}
			}),
			strategy: LeastNUMANodes, containers: []string{"cpu=8 memory=1Gi"}, score: 76,
		},
		{
			name: "the nearest of those that have enough", topology: fourZones().set(v1alpha2.AttributePolicy, v1alpha2.PolicyBestEffort).change(func(t *v1alpha2.NodeResourceTopology) {
				for i := range t.Zones[0].Resources {
					t.Zones[0].Resources[i].Available = resource.MustParse("1")
				}
			}),
			strategy: LeastNUMANodes, containers: []string{"cpu=8 memory=4Gi"}, score: 82,
		},
		{
			name: "containers in turn, the most zones count", topology: two().set(v1alpha2.AttributePolicy, v1alpha2.PolicyBestEffort), strategy: LeastNUMANodes,
			containers: []string{"init cpu=3 memory=1Gi", "cpu=2 memory=1Gi"}, score: 94,
		},
		{
			name: "init containers take their zones too", topology: two().set(v1alpha2.AttributePolicy, v1alpha2.PolicyBestEffort), strategy: LeastNUMANodes,
			containers: []string{"init cpu=3 memory=1Gi", "cpu=3 memory=1Gi", "cpu=2 memory=1Gi"}, score: 82,
		},
		{name: "a zone of a set lists every resource", topology: cut("n", "cpu=4 memory=8Gi", "cpu=4").set(v1alpha2.AttributePolicy, v1alpha2.PolicyBestEffort), strategy: LeastNUMANodes, containers: []string{"cpu=6 memory=1Gi"}, score: 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var objects []runtime.Object
			if c.topology.NodeResourceTopology == nil {
				c.topology = two()
			}
			if !c.none {
				objects = append(objects, c.topology.NodeResourceTopology)
			}
			if c.node == "" {
				c.node = "cpu=8 memory=16Gi"
			}
			args := "{}"
			switch {
			case strings.HasPrefix(c.strategy, "{"):
				args = "{scoringStrategy: " + c.strategy + "}"
			case c.strategy != "":
				args = "{scoringStrategy: {type: " + c.strategy + "}}"
			}
			p, _ := build(t, args, objects...)
			reason, score := try(t, p, podOf("p", !c.burstable, c.containers...), nodeInfo("n", c.node))
			if diff := cmp.Diff(c.reason, reason); diff != "" {
				t.Error(diff)
			}
			if score != c.score {
				t.Errorf("score %d, want %d", score, c.score)
			}
		})
	}
}
