package fit

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// texts renders cures, each as the texts of its remedies.
func texts(cures []cure) [][]string {
	out := [][]string{}
	for _, c := range cures {
		said := []string{}
		for _, r := range c {
			said = append(said, explain.Statement{Operands: r.says}.String())
		}
		out = append(out, said)
	}
	return out
}

func TestCures(t *testing.T) {
	plain := st.MakePod().Namespace("default").Name("web").Obj()
	node := st.MakeNode().Name("n1").Obj()
	tainted := func(taints ...v1.Taint) *v1.Node { return st.MakeNode().Name("n1").Taints(taints).Obj() }
	dedicated := v1.Taint{Key: "dedicated", Value: "batch", Effect: v1.TaintEffectNoSchedule}
	cordon := v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}
	spreading := st.MakePod().Namespace("default").Name("web").
		SpreadConstraint(1, "zone", v1.DoNotSchedule, st.MakeLabelSelector().Label("app", "a").Obj(), nil, nil, nil, nil).Obj()
	daemon := plain.DeepCopy()
	daemon.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Controller: ptr.To(true)}}
	short := func(resources ...result.ResourceComparison) *result.Comparison {
		return &result.Comparison{Resources: resources}
	}
	term := func(source string, number int, key, operator string, actual *string, values ...string) result.TermComparison {
		return result.TermComparison{Source: source, Term: number, Key: key, Operator: operator, Values: values, Actual: actual}
	}
	lacks := func(terms ...result.TermComparison) *result.Comparison { return &result.Comparison{Terms: terms} }
	conflicting := plain.DeepCopy()
	conflicting.Spec.Affinity = nodeTerms(v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{in("metadata.name", "a"), in("metadata.name", "b")}})
	asking := func(cpu, memory string) *v1.Pod {
		return st.MakePod().Req(map[v1.ResourceName]string{"cpu": cpu, "memory": memory}).Obj()
	}
	gated := st.MakePod().Name("web").SchedulingGates([]string{"quota"}).Obj()

	for _, test := range []struct {
		name       string
		pod        *v1.Pod
		node       *v1.Node
		plugin     string
		comparison *result.Comparison
		preFilter  bool
		want       [][]string
	}{
		{name: "a cordoned node", node: st.MakeNode().Name("n1").Unschedulable(true).Obj(), plugin: "NodeUnschedulable", want: [][]string{{"Uncordon n1."}}},
		{
			name: "a taint", node: tainted(dedicated), plugin: "TaintToleration",
			want: [][]string{{"Tolerate the taint dedicated=batch:NoSchedule."}, {"Remove the taint dedicated=batch:NoSchedule from n1."}},
		},
		{
			name: "a taint that only discourages does not count", node: tainted(dedicated, v1.Taint{Key: "slow", Effect: v1.TaintEffectPreferNoSchedule}), plugin: "TaintToleration",
			want: [][]string{{"Tolerate the taint dedicated=batch:NoSchedule."}, {"Remove the taint dedicated=batch:NoSchedule from n1."}},
		},
		{
			name: "a taint that the pod tolerates does not count", node: tainted(dedicated, v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoSchedule}), plugin: "TaintToleration",
			pod:  st.MakePod().Name("web").Toleration("gpu").Obj(),
			want: [][]string{{"Tolerate the taint dedicated=batch:NoSchedule."}, {"Remove the taint dedicated=batch:NoSchedule from n1."}},
		},
		{name: "the taint of a cordon", node: tainted(cordon), plugin: "TaintToleration", want: [][]string{{"Uncordon n1."}}},
		{
			name: "a cordon and a taint", node: tainted(cordon, dedicated), plugin: "TaintToleration",
			want: [][]string{{"Uncordon n1.", "Tolerate the taint dedicated=batch:NoSchedule."}, {"Uncordon n1.", "Remove the taint dedicated=batch:NoSchedule from n1."}},
		},
		{
			name: "a taint that the node's controller would restore", node: tainted(v1.Taint{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoSchedule}), plugin: "TaintToleration",
			want: [][]string{{"Tolerate the taint node.kubernetes.io/not-ready:NoSchedule."}},
		},
		{
			name: "short of cpu and memory", plugin: "NodeResourcesFit",
			comparison: short(result.ResourceComparison{Name: "cpu", Requested: 2000, InUse: 3000, Allocatable: 4500}, result.ResourceComparison{Name: "memory", Requested: 4 << 30, InUse: 1 << 30, Allocatable: 3<<30 + 5}),
			pod:        asking("2", "4Gi"),
			want:       [][]string{{"Lower the request for cpu of the container con0 from 2 to 1.5, lower the request for memory of the container con0 from 4 Gi to 2 Gi."}},
		},
		{
			name: "nothing is free", plugin: "NodeResourcesFit", comparison: short(result.ResourceComparison{Name: "cpu", Requested: 2000, InUse: 4600, Allocatable: 4500}),
			pod: asking("2", "4Gi"), want: [][]string{{"Drop the request for 2 cpu of the container con0."}},
		},
		{
			name: "whole huge pages", plugin: "NodeResourcesFit", comparison: short(result.ResourceComparison{Name: "hugepages-2Mi", Requested: 8 << 20, Allocatable: 7 << 20}),
			pod: st.MakePod().Req(map[v1.ResourceName]string{"hugepages-2Mi": "8Mi"}).Obj(), want: [][]string{{"Lower the request for hugepages-2Mi of the container con0 from 8 Mi to 6 Mi."}},
		},
		{name: "too many pods", plugin: "NodeResourcesFit", comparison: short(result.ResourceComparison{Name: "pods", Requested: 1, InUse: 110, Allocatable: 110}), want: [][]string{}},
		{name: "a rejection without a comparison", plugin: "NodeResourcesFit", want: [][]string{}},
		{
			name: "a label of the selector", plugin: "NodeAffinity", comparison: lacks(term(fromSelector, 0, "disk", "In", ptr.To("hdd"), "ssd")),
			want: [][]string{{"No longer require disk In ssd of the node."}, {"On n1: set the label disk=ssd."}},
		},
		{
			name: "a label that says where the node is", plugin: "NodeAffinity", comparison: lacks(term(fromSelector, 0, v1.LabelTopologyZone, "In", ptr.To("a"), "b")),
			want: [][]string{{"No longer require topology.kubernetes.io/zone In b of the node."}},
		},
		{
			name: "the nearest of two alternatives", plugin: "NodeAffinity",
			comparison: lacks(term(fromPod, 0, "disk", "In", nil, "ssd"), term(fromPod, 0, "gpu", "Exists", nil), term(fromPod, 1, "rack", "In", ptr.To("7"), "1", "2")),
			want:       [][]string{{"Also accept nodes with rack=7."}, {"On n1: set the label rack=1."}},
		},
		{
			name: "operators", plugin: "NodeAffinity",
			comparison: lacks(term(fromPod, 0, "a", "Exists", nil), term(fromPod, 0, "b", "DoesNotExist", ptr.To("1")), term(fromPod, 0, "c", "NotIn", ptr.To("x"), "x"),
				term(fromPod, 0, "d", "Gt", ptr.To("3"), "7"), term(fromPod, 0, "e", "Lt", nil, "7")),
			want: [][]string{
				{"No longer require a Exists, b DoesNotExist, c NotIn x, d Gt 7, e Lt 7 of the node."},
				{"On n1: set the labels a=, d=8, e=6, remove the labels b, c."},
			},
		},
		{
			name: "two requirements on one label", plugin: "NodeAffinity", comparison: lacks(term(fromPod, 0, "a", "Exists", nil), term(fromPod, 0, "a", "In", nil, "x")),
			want: [][]string{{"No longer require a Exists, a In x of the node."}},
		},
		{
			name: "the node's name", plugin: "NodeAffinity", comparison: lacks(term(fromPod, 0, "metadata.name", "In", ptr.To("n1"), "n2")),
			want: [][]string{{"No longer require metadata.name In n2 of the node."}},
		},
		{name: "a DaemonSet's node", plugin: "NodeAffinity", pod: daemon, comparison: lacks(term(fromPod, 0, "metadata.name", "In", ptr.To("n1"), "n2")), want: [][]string{}},
		{
			name: "the scheduler's own affinity", plugin: "NodeAffinity", comparison: lacks(term("addedAffinity", 0, "pool", "In", nil, "a")),
			want: [][]string{{"On n1: set the label pool=a."}},
		},
		{
			name: "terms that name two nodes", plugin: "NodeAffinity", pod: conflicting, preFilter: true,
			want: [][]string{{"No longer require metadata.name In a, metadata.name In b of the node."}},
		},
		{
			name: "a host port", plugin: "NodePorts", comparison: &result.Comparison{Ports: []result.Port{{Protocol: "TCP", Port: 80}, {Protocol: "UDP", HostIP: "10.0.0.1", Port: 53}}},
			want: [][]string{{"Give up the host ports 80/TCP, 10.0.0.1:53/UDP."}},
		},
		{
			name: "a skew", plugin: "PodTopologySpread", pod: spreading,
			comparison: &result.Comparison{Spread: []result.SpreadComparison{{TopologyKey: "zone", Domain: ptr.To("a"), Matching: 4, Minimum: 1, Self: 1, MaxSkew: 1}}},
			want:       [][]string{{"Only prefer the spread over zone (ScheduleAnyway)."}, {"Set nodeTaintsPolicy to Honor in the spread over zone."}, {"Raise maxSkew over zone from 1 to 4."}},
		},
		{
			name: "fewer domains than minDomains", plugin: "PodTopologySpread", pod: spreading,
			comparison: &result.Comparison{Spread: []result.SpreadComparison{{TopologyKey: "zone", Domain: ptr.To("a"), Matching: 1, Self: 1, MaxSkew: 1, Domains: 2, MinDomains: 3}}},
			want: [][]string{
				{"Only prefer the spread over zone (ScheduleAnyway)."}, {"Set nodeTaintsPolicy to Honor in the spread over zone."},
				{"Lower minDomains over zone from 3 to 2."}, {"Raise maxSkew over zone from 1 to 2."},
			},
		},
		{
			name: "a node without the label", plugin: "PodTopologySpread", pod: spreading, comparison: &result.Comparison{Spread: []result.SpreadComparison{{TopologyKey: "zone", MaxSkew: 1}}},
			want: [][]string{{"Only prefer the spread over zone (ScheduleAnyway)."}},
		},
		{
			name: "a constraint of the scheduler's configuration", plugin: "PodTopologySpread",
			comparison: &result.Comparison{Spread: []result.SpreadComparison{{TopologyKey: "zone", Domain: ptr.To("a"), Matching: 4, MaxSkew: 1}}}, want: [][]string{},
		},
		{
			name: "affinity", plugin: "InterPodAffinity", comparison: &result.Comparison{PodTerms: []result.PodTermComparison{{Rule: "affinity", TopologyKey: "zone", Selector: "app in (cache)"}}},
			pod:  st.MakePod().PodAffinityIn("app", "zone", []string{"cache"}, st.PodAffinityWithRequiredReq).Obj(),
			want: [][]string{{"Only prefer the pod affinity to app in (cache) over zone."}, {"Drop the pod affinity to app in (cache) over zone."}},
		},
		{
			name: "anti-affinity", plugin: "InterPodAffinity", comparison: &result.Comparison{PodTerms: []result.PodTermComparison{{Rule: "antiAffinity", TopologyKey: "zone", Selector: "app in (a)"}}},
			pod:  st.MakePod().PodAntiAffinityIn("app", "zone", []string{"a"}, st.PodAntiAffinityWithRequiredReq).Obj(),
			want: [][]string{{"Only prefer the pod anti-affinity to app in (a) over zone."}, {"Drop the pod anti-affinity to app in (a) over zone."}},
		},
		{
			name: "another pod's anti-affinity", plugin: "InterPodAffinity", want: [][]string{},
			comparison: &result.Comparison{PodTerms: []result.PodTermComparison{{Rule: "existingAntiAffinity", TopologyKey: "zone", Selector: "app=a"}}},
		},
		{name: "a gate", plugin: "SchedulingGates", pod: gated, want: [][]string{{"Remove the scheduling gate quota."}}},
		{name: "a volume", plugin: "VolumeBinding", want: [][]string{}},
		{name: "a plugin that nobody knows", plugin: "Picky", want: [][]string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod, on := test.pod, test.node
			if pod == nil {
				pod = plain
			}
			if on == nil {
				on = node
			}
			got := cures(pod, on, whatif.Obstacle{Plugin: test.plugin, Comparison: test.comparison, PreFilter: test.preFilter})
			if diff := cmp.Diff(test.want, texts(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Kubernetes' plugins that filter nodes are all known. An upgrade that brings another one fails here.
func TestAllPluginsAreKnown(t *testing.T) {
	c, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, point := range c.Effective(nil).Profiles[0].ExtensionPoints {
		if point.Name != "filter" && point.Name != "preFilter" {
			continue
		}
		for _, p := range point.Plugins {
			if _, isKnown := known[p.Name]; !isKnown {
				t.Errorf("%s is not known", p.Name)
			}
		}
	}
}

// Less than half of a request is no small change.
func TestDrasticCuts(t *testing.T) {
	for free, want := range map[int64]disturbance{1500: ofPod, 1000: ofPod, 999: drastic, 0: drastic} {
		got := cures(st.MakePod().Req(map[v1.ResourceName]string{"cpu": "2"}).Obj(), nil, whatif.Obstacle{Plugin: "NodeResourcesFit", Comparison: &result.Comparison{
			Resources: []result.ResourceComparison{{Name: "cpu", Requested: 2000, Allocatable: free}},
		}})
		if got[0][0].disturbance != want {
			t.Errorf("with %d free: %v, want %v", free, got[0][0].disturbance, want)
		}
	}
}

func TestRemediesChangeTheNode(t *testing.T) {
	dedicated := v1.Taint{Key: "dedicated", Value: "batch", Effect: v1.TaintEffectNoSchedule}
	cordon := v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}
	pod := st.MakePod().Name("web").Obj()
	for _, test := range []struct {
		name       string
		node       *v1.Node
		plugin     string
		comparison *result.Comparison
		patch      string
	}{
		{
			name: "uncordon", plugin: "NodeUnschedulable", node: st.MakeNode().Name("n1").Unschedulable(true).Taints([]v1.Taint{cordon}).Obj(),
			patch: `{"spec":{"taints":null,"unschedulable":null}}`,
		},
		{
			name: "remove one of two taints", plugin: "TaintToleration", node: st.MakeNode().Name("n1").Taints([]v1.Taint{{Key: "slow", Effect: v1.TaintEffectPreferNoSchedule}, dedicated}).Obj(),
			patch: `{"spec":{"taints":[{"effect":"PreferNoSchedule","key":"slow"}]}}`,
		},
		{
			name: "labels", plugin: "NodeAffinity", node: st.MakeNode().Name("n1").Label("old", "").Label("disk", "hdd").Obj(),
			comparison: &result.Comparison{Terms: []result.TermComparison{
				{Source: fromPod, Key: "disk", Operator: "In", Values: []string{"ssd"}, Actual: ptr.To("hdd")}, {Source: fromPod, Key: "old", Operator: "DoesNotExist", Actual: ptr.To("")},
			}},
			patch: `{"metadata":{"labels":{"disk":"ssd","old":null}}}`,
		},
		{
			name: "the first label", plugin: "NodeAffinity", node: &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}},
			comparison: &result.Comparison{Terms: []result.TermComparison{{Source: fromSelector, Key: "disk", Operator: "In", Values: []string{"ssd"}}}},
			patch:      `{"metadata":{"labels":{"disk":"ssd"}}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := test.node.DeepCopy()
			all := cures(pod, test.node, whatif.Obstacle{Plugin: test.plugin, Comparison: test.comparison})
			w := writer{pod: pod}
			got, err := w.write(all[len(all)-1], test.node)
			if err != nil {
				t.Fatal(err)
			}
			want := []whatif.Change{{Patch: &whatif.Patch{ObjectRef: whatif.ObjectRef{GVK: nodeKind, Name: "n1"}, Patch: []byte(test.patch)}}}
			if diff := cmp.Diff(want, got.real); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, test.node); diff != "" {
				t.Error("the node itself changed", diff)
			}
		})
	}
}

// The operands hold no nil list, which the web would have to tell from an empty one.
func TestOperandsAreComplete(t *testing.T) {
	all := cures(st.MakePod().Name("web").Obj(), st.MakeNode().Name("n1").Obj(), whatif.Obstacle{Plugin: "NodeAffinity", Comparison: &result.Comparison{
		Terms: []result.TermComparison{{Source: fromPod, Key: "gpu", Operator: "Exists"}},
	}})
	var got []string
	for _, c := range all {
		encoded, err := json.Marshal(explain.Statement{Operands: c[0].says})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(encoded))
	}
	want := []string{
		`{"kind":"dropRequirements","requirements":[{"key":"gpu","operator":"Exists","values":[]}]}`,
		`{"kind":"labelNode","node":"n1","labels":[{"key":"gpu","from":null,"to":""}],"others":[]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
