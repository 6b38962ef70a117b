package capacity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

// TestWhatRemains: every pod that fits counts in what remains, and on the node that rejects the next one.
func TestWhatRemains(t *testing.T) {
	size := func(cpu string) v1.ResourceList {
		return v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourcePods: resource.MustParse("10")}
	}
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: v1.NodeStatus{Capacity: size("4"), Allocatable: size("4")}}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: v1.PodSpec{Containers: []v1.Container{{
		Name: "web", Image: "web", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}},
	}}}}
	configuration, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	engine := whatif.New(whatif.Options{
		Source:        whatif.Objects([]runtime.Object{node}),
		Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return configuration.Internal },
	})
	answer, err := capacity.Ask(t.Context(), engine, capacity.Question{Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	want := &capacity.Answer{
		State: whatif.State{Nodes: 1, ResourceVersion: answer.State.ResourceVersion}, Fits: 4, Complete: true, Nodes: []capacity.Node{{Name: "a", Count: 4}},
		Stopped:   []capacity.Stop{{Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Nodes: []string{"a"}}},
		Resources: []capacity.Resource{{Name: "cpu", Allocatable: 4000, Requested: 4000}, {Name: "pods", Allocatable: 10, Requested: 4, Free: 6, Stranded: 6}},
	}
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Error(diff)
	}
}

// TestAnOvercommittedNodeTakesNothingFromTheOthers: what is stranded is a part of what is free, also beside a node whose pods were granted a
// resize that it has no room for.
func TestAnOvercommittedNodeTakesNothingFromTheOthers(t *testing.T) {
	node := func(name string) *st.NodeWrapper {
		return st.MakeNode().Name(name).Capacity(map[v1.ResourceName]string{"cpu": "4", "pods": "10"})
	}
	state := []runtime.Object{
		node("full").Obj(), node("tainted").Taints([]v1.Taint{{Key: "team", Effect: v1.TaintEffectNoSchedule}}).Obj(),
		st.MakePod().Namespace("default").Name("large").UID("large").Node("full").Req(map[v1.ResourceName]string{"cpu": "6"}).Obj(),
	}
	pod := st.MakePod().Namespace("default").Name("web").SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": "1"}).Obj()
	answer, err := capacity.Ask(t.Context(), livetest.Engine(t, livetest.Configuration(t, plain), state), capacity.Question{Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	want := capacity.Resource{Name: "cpu", Allocatable: 8000, Requested: 6000, Free: 4000, Stranded: 4000}
	if diff := cmp.Diff(want, answer.Resources[0]); diff != "" {
		t.Error(diff)
	}
}

// TestThePodItselfStays: more of a pod are counted beside it, whether it is named or written anew under its name, and what stops the next one
// and what remains are told with it in place.
func TestThePodItselfStays(t *testing.T) {
	has := map[v1.ResourceName]string{"cpu": "4", "memory": "8Gi", "pods": "20"}
	web := st.MakePod().Namespace("default").Name("web").UID("web").SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": "1500m"}).Node("a")
	state := []runtime.Object{st.MakeNode().Name("a").Capacity(has).Obj(), st.MakeNode().Name("b").Capacity(has).Obj(), web.Obj()}
	for name, q := range map[string]capacity.Question{
		"named":   {PodRef: &types.NamespacedName{Namespace: "default", Name: "web"}},
		"written": {Pod: web.Obj()},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := capacity.Ask(t.Context(), livetest.Engine(t, livetest.Configuration(t, plain), state), q)
			if err != nil {
				t.Fatal(err)
			}
			want := []capacity.Node{{Name: "a", Count: 1}, {Name: "b", Count: 2}}
			if diff := cmp.Diff(want, answer.Nodes); diff != "" || answer.Fits != 3 {
				t.Errorf("%d fit: %s", answer.Fits, diff)
			}
			if len(answer.Stopped) != 1 || len(answer.Stopped[0].Nodes) != 2 {
				t.Errorf("the next one is stopped by %+v", answer.Stopped)
			}
			if cpu := answer.Resources[0]; cpu.Name != "cpu" || cpu.Requested != 6000 {
				t.Errorf("there remains %+v", answer.Resources)
			}
		})
	}
}

// TestCost: what the nodes with a price cost, what of it is for nothing before and after, and what a pod takes of the price of its node.
func TestCost(t *testing.T) {
	node := func(name, cpu, price string) runtime.Object {
		return st.MakeNode().Name(name).Label("price", price).Capacity(map[v1.ResourceName]string{"cpu": cpu, "memory": "8Gi", "pods": "20"}).Obj()
	}
	state := []runtime.Object{
		node("a", "4", "2"), node("b", "2", "0.5"), node("own", "1", ""),
		st.MakePod().Namespace("default").Name("old").UID("old").Node("a").Req(map[v1.ResourceName]string{"cpu": "1", "memory": "4Gi"}).Obj(),
	}
	prices := func(labels map[string]string) (float64, bool) {
		price, known := map[string]float64{"2": 2, "0.5": 0.5}[labels["price"]]
		return price, known
	}
	pod := st.MakePod().Namespace("default").Name("web").SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": "1"}).Obj()
	engine := livetest.Engine(t, livetest.Configuration(t, plain), state)
	answer, err := capacity.Ask(t.Context(), engine, capacity.Question{Pod: pod, Price: prices, NodesNeeded: &capacity.NodesNeeded{Like: "b", For: 8}})
	if err != nil {
		t.Fatal(err)
	}
	// Half of a is in use, by its memory, and nothing of b; then all of both. Three pods take a quarter of a each, and two take half of b.
	perPod := (3*2.0/4 + 2*0.5/2) / 5
	want := &capacity.Cost{PerHour: 2.5, UnusedPerHour: 1 + 0.5, ThenUnusedPerHour: 0, PerPodHour: &perPod, Unpriced: 1}
	if diff := cmp.Diff(want, answer.Cost); diff != "" || answer.Fits != 6 {
		t.Errorf("%d fit: %s", answer.Fits, diff)
	}
	if n := answer.NodesNeeded; n.Nodes != 1 || n.PricePerHour == nil || *n.PricePerHour != 0.5 {
		t.Errorf("needed: %+v", n)
	}
	for name, q := range map[string]capacity.Question{"nobody knows": {Pod: pod}, "none has one": {Pod: pod, Price: func(map[string]string) (float64, bool) { return 0, false }}} {
		answer, err := capacity.Ask(t.Context(), engine, q)
		if err != nil || answer.Cost != nil {
			t.Errorf("%s: %+v %v", name, answer.Cost, err)
		}
	}
}
