package lesson

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/whatif"
)

func cpu(n string) map[v1.ResourceName]string { return map[v1.ResourceName]string{"cpu": n} }

func nodeOf(name string) *st.NodeWrapper {
	return st.MakeNode().Name(name).Label("kubernetes.io/hostname", name).Capacity(map[v1.ResourceName]string{"cpu": "8", "memory": "16Gi", "pods": "10"})
}

func podOf(name string) *st.PodWrapper {
	return st.MakePod().Name(name).Namespace("default").UID(name).SchedulerName("default-scheduler")
}

// Each misconception is named by the mistakes that it causes, and by no others.
func TestGradingNamesMisconceptions(t *testing.T) {
	spot := v1.Taint{Key: "spot", Effect: v1.TaintEffectPreferNoSchedule}
	gpu := v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoSchedule}
	burst := podOf("burst").Node("a").Req(cpu("1")).Obj()
	burst.Spec.Containers[0].Resources.Limits = v1.ResourceList{"cpu": resource.MustParse("8")}
	prefers := podOf("web").Req(cpu("1")).Obj()
	prefers.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{{
		Weight: 1, Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "disk", Operator: v1.NodeSelectorOpIn, Values: []string{"ssd"}}}},
	}}}}
	for _, c := range []struct {
		name       string
		pod        *v1.Pod
		nodes      []*v1.Node
		pods       []*v1.Pod
		usage      map[string]float64
		prediction Prediction
		want       []string
	}{
		{
			name: "the emptiest node is picked, and its label is wrong", pod: podOf("web").Req(cpu("1")).NodeSelector(map[string]string{"disk": "ssd"}).Obj(),
			nodes: []*v1.Node{nodeOf("a").Label("disk", "ssd").Obj(), nodeOf("b").Obj()}, pods: []*v1.Pod{podOf("db").Node("a").Req(cpu("4")).Obj()},
			prediction: Prediction{Picked: "b"}, want: []string{UsageCounts},
		},
		{
			name: "the least used node is picked, and most of it is requested", pod: podOf("web").Req(cpu("2")).Obj(),
			nodes: []*v1.Node{nodeOf("a").Obj(), nodeOf("b").Obj()}, pods: []*v1.Pod{podOf("db").Node("b").Req(cpu("7")).Obj()},
			usage:      map[string]float64{"a": 0.6, "b": 0.1},
			prediction: Prediction{Picked: "b"}, want: []string{UsageCounts},
		},
		{
			name: "a node with PreferNoSchedule is crossed out", pod: podOf("web").Req(cpu("1")).Obj(),
			nodes:      []*v1.Node{nodeOf("a").Obj(), nodeOf("b").Taints([]v1.Taint{spot}).Obj()},
			prediction: Prediction{CrossedOut: []string{"b"}, Picked: "a"}, want: []string{PreferForbids},
		},
		{
			name: "a tolerated taint does not attract", pod: podOf("web").Req(cpu("1")).Toleration("gpu").Obj(),
			nodes: []*v1.Node{nodeOf("a").Obj(), nodeOf("b").Taints([]v1.Taint{gpu}).Obj()}, pods: []*v1.Pod{podOf("db").Node("b").Req(cpu("4")).Obj()},
			prediction: Prediction{Picked: "b"}, want: []string{TolerationAttracts},
		},
		{
			name: "a node without a preferred label is crossed out", pod: prefers,
			nodes:      []*v1.Node{nodeOf("a").Label("disk", "ssd").Obj(), nodeOf("b").Obj()},
			prediction: Prediction{CrossedOut: []string{"b"}, Picked: "a"}, want: []string{PreferredIsRequired},
		},
		{
			name: "a full node is picked for a pod of high priority", pod: podOf("web").Priority(100).Req(cpu("4")).Obj(),
			nodes: []*v1.Node{nodeOf("a").Obj(), nodeOf("b").Obj()}, pods: []*v1.Pod{podOf("db").Node("b").Req(cpu("7")).Obj()},
			prediction: Prediction{Picked: "b"}, want: []string{PriorityPicksNode},
		},
		{
			name: "a node is crossed out for limits", pod: podOf("web").Req(cpu("2")).Obj(),
			nodes: []*v1.Node{nodeOf("a").Obj(), nodeOf("b").Obj()}, pods: []*v1.Pod{burst},
			prediction: Prediction{CrossedOut: []string{"a"}, Picked: "b"}, want: []string{LimitsCount},
		},
		{
			name: "an error that has no name", pod: podOf("web").Req(cpu("1")).Obj(),
			nodes: []*v1.Node{nodeOf("a").Obj(), nodeOf("b").Unschedulable(true).Obj()}, pods: []*v1.Pod{podOf("db").Node("b").Req(cpu("1")).Obj()},
			prediction: Prediction{Picked: "a"}, want: []string{},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newExercises(t)
			var changes []whatif.Change
			for _, n := range c.nodes {
				changes = append(changes, whatif.Change{Apply: n})
			}
			for _, p := range c.pods {
				changes = append(changes, whatif.Change{Apply: p})
			}
			answer, err := e.engine.Ask(t.Context(), whatif.Question{Pod: c.pod, Changes: changes})
			if err != nil {
				t.Fatal(err)
			}
			g := &Grade{}
			g.predicted(Situation{Pod: c.pod, Nodes: c.nodes, Pods: c.pods, Usage: c.usage, Cycle: answer.Decisions[0]}, c.prediction)
			if g.Passed {
				t.Fatal("the prediction passes")
			}
			if diff := cmp.Diff(c.want, g.Misconceptions); diff != "" {
				t.Errorf("%s\n%+v", diff, g.Nodes)
			}
		})
	}
}
