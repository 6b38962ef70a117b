package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/whatif"
)

func try(t *testing.T, objects []runtime.Object, do func(context.Context, *whatif.Trial) error) {
	t.Helper()
	judge, err := Judge()
	if err != nil {
		t.Fatal(err)
	}
	engine := whatif.New(whatif.Options{Source: whatif.Objects(objects), Configuration: func() *config.KubeSchedulerConfiguration { return judge }})
	defer engine.Stop()
	if err := engine.Try(context.Background(), nil, do); err != nil {
		t.Fatal(err)
	}
}

// cluster is that of the worked example 3, with pods of a scheduler.
func cluster(scheduler string, nodes map[string]string) []runtime.Object {
	var out []runtime.Object
	for i, used := range []int{8, 6, 12, 7} {
		name := fmt.Sprintf("node-%d", i+1)
		n := st.MakeNode().Name(name).Capacity(map[v1.ResourceName]string{"cpu": "16", "memory": "64Gi", "pods": "110"})
		if i == 0 {
			n.Label("disk", "ssd")
		}
		out = append(out, n.Obj(), pod("other-"+name, "other", used).Node(name).Obj())
	}
	for i := range 6 {
		name, p := fmt.Sprintf("map-%d", i), (*st.PodWrapper)(nil)
		if i >= 4 {
			name = fmt.Sprintf("index-%d", i-4)
			p = pod(name, scheduler, 4).NodeSelector(map[string]string{"disk": "ssd"})
		} else {
			p = pod(name, scheduler, 4)
		}
		if nodes[name] != "" {
			p.Node(nodes[name])
		}
		out = append(out, p.Obj())
	}
	return out
}

func pod(name, scheduler string, cpu int) *st.PodWrapper {
	return st.MakePod().Namespace("default").Name(name).UID(name).SchedulerName(scheduler).
		Req(map[v1.ResourceName]string{"cpu": fmt.Sprint(cpu), "memory": fmt.Sprintf("%dGi", 4*cpu)})
}

// kube-scheduler's predicates decide which arcs exist, and what the flow chose is placed.
func TestRound(t *testing.T) {
	try(t, cluster(SchedulerName, nil), func(ctx context.Context, trial *whatif.Trial) error {
		out, err := Run(ctx, trial, Options{})
		if err != nil {
			return err
		}
		on := map[string]int{}
		for _, b := range out.Binds {
			on[b.Node]++
		}
		if diff := cmp.Diff(map[string]int{"node-1": 2, "node-2": 2, "node-4": 2}, on); diff != "" {
			t.Error(diff)
		}
		if out.Record.Cost != 6748 || len(out.Cycles) != 6 || out.Cycles[0].SelectedNode == "" {
			t.Errorf("cost %d, cycles %v", out.Record.Cost, out.Cycles)
		}
		return nil
	})
}

// Slots of one class ignore other classes. What does not fit together is left to the next round.
func TestRoundChecksTheRoom(t *testing.T) {
	objects := []runtime.Object{
		st.MakeNode().Name("n").Capacity(map[v1.ResourceName]string{"cpu": "4", "memory": "16Gi", "pods": "110"}).Obj(),
		pod("large", SchedulerName, 3).Obj(), pod("small-a", SchedulerName, 1).Obj(), pod("small-b", SchedulerName, 1).Obj(),
	}
	try(t, objects, func(ctx context.Context, trial *whatif.Trial) error {
		out, err := Run(ctx, trial, Options{})
		if err != nil {
			return err
		}
		if len(out.Binds) != 2 || len(out.Waiting) != 1 || len(out.Record.Refused) != 1 {
			t.Errorf("binds %v, refused %v", out.Binds, out.Record.Refused)
		}
		return nil
	})
}

// The gap of pods that kube-scheduler has placed.
func TestCompare(t *testing.T) {
	nodes := map[string]string{"map-0": "node-2", "map-1": "node-4", "map-2": "node-1", "map-3": "node-2", "index-0": "node-1"}
	try(t, cluster("default-scheduler", nodes), func(ctx context.Context, trial *whatif.Trial) error {
		var pods []*v1.Pod
		for _, p := range trial.Pods() {
			if p.Spec.SchedulerName == "default-scheduler" {
				pods = append(pods, p)
			}
		}
		sortPods(pods)
		c, err := Compare(ctx, trial, pods, Options{})
		if err != nil {
			return err
		}
		if diff := cmp.Diff([]int64{6748, 2_565_374, 2_558_626, 2_560_000}, []int64{c.Optimum, c.Cost, c.Gap, c.Unscheduled}); diff != "" {
			t.Error(diff)
		}
		return nil
	})
}

// Without pods and machines, the lists of a comparison are empty, not missing.
func TestCompareNothing(t *testing.T) {
	c, err := CompareState(context.Background(), nil, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"model":"CPU-MEM","cost":0,"optimum":0,"gap":0,"unscheduled":0,"tasks":[],"network":{"nodes":[{"kind":"sink","name":"sink"}],"arcs":[],"cost":0}}`, string(text)); diff != "" {
		t.Error(diff)
	}
}

// The gap of a whole state, in which others' pods are compared too.
func TestCompareState(t *testing.T) {
	nodes := map[string]string{"map-0": "node-2", "map-1": "node-4", "map-2": "node-1", "map-3": "node-2", "index-0": "node-1"}
	var machines []*v1.Node
	var pods []*v1.Pod
	for _, o := range cluster("default-scheduler", nodes) {
		switch o := o.(type) {
		case *v1.Node:
			machines = append(machines, o)
		case *v1.Pod:
			pods = append(pods, o)
		}
	}
	ended := pod("ended", "default-scheduler", 16).Node("node-3").Phase(v1.PodSucceeded).Obj()
	c, err := CompareState(context.Background(), machines, append(pods, ended), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Tasks) != 10 || c.Gap <= 0 || c.Cost-c.Optimum != c.Gap {
		t.Errorf("%d tasks, gap %d", len(c.Tasks), c.Gap)
	}
}

// A node may say that it has more allocatable than capacity. No cost is negative then, which the solver would never end for.
func TestAllocatableBeyondCapacity(t *testing.T) {
	nodes := map[string]string{"map-0": "node-2", "map-1": "node-4", "map-2": "node-1"}
	var machines []*v1.Node
	var pods []*v1.Pod
	for _, o := range cluster("default-scheduler", nodes) {
		switch o := o.(type) {
		case *v1.Node:
			o.Status.Capacity = v1.ResourceList{v1.ResourceCPU: resource.MustParse("1m"), v1.ResourceMemory: resource.MustParse("1")}
			machines = append(machines, o)
		case *v1.Pod:
			pods = append(pods, o)
		}
	}
	c, err := CompareState(context.Background(), machines, pods, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range c.Tasks {
		if task.Cost < 0 || task.OptimalCost < 0 {
			t.Errorf("%+v", task)
		}
	}
}

// TestAboutAPodThatTheRoundLeftOut: each cause has its own words.
func TestAboutAPodThatTheRoundLeftOut(t *testing.T) {
	now := metav1.Now()
	gated := &v1.Pod{Spec: v1.PodSpec{SchedulingGates: []v1.PodSchedulingGate{{Name: "example.com/wait"}}}}
	for want, pod := range map[string]*v1.Pod{
		"the pod has scheduling gates":      gated,
		"the pod is being deleted":          {ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}, Spec: gated.Spec},
		"the round did not look at the pod": {},
	} {
		if got := About(pod, nil, 1); got.Message != want || got.PreFilter[0].Reasons[0] != want {
			t.Errorf("%q, %+v, want %q", got.Message, got.PreFilter, want)
		}
	}
}
