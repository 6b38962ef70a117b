package flow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/whatif"
)

// simple is a problem of machines with a number of slots each, and alike tasks of one job.
func simple(model Model, machines, slots, tasks int) *Problem {
	p := &Problem{Model: model, Classes: []Class{{Name: "c", Request: size(1), Arcs: everywhere(machines)}}, Jobs: []Job{{Name: "j"}}}
	for m := range machines {
		p.Machines = append(p.Machines, Machine{Name: fmt.Sprintf("m%d", m), MaxTasks: slots})
	}
	for i := range tasks {
		p.Tasks = append(p.Tasks, Task{Name: fmt.Sprint(i), On: -1})
	}
	return p
}

// TRIVIAL: each task has one arc at no cost to a random machine, the way through the cluster costs 2, and staying out costs 5. So with room
// for all tasks, the cost is 2 for each task that cannot follow its own arc.
func TestTrivial(t *testing.T) {
	costs := map[int64]bool{}
	for seed := range uint64(20) {
		p := simple(Trivial, 2, 1, 2)
		p.Seed = seed
		s := p.Solve(t.Context())
		costs[s.Cost] = true
		preferred := map[string]int64{}
		for _, a := range s.Network.Arcs {
			if s.Network.Nodes[a.From].Kind == TaskNode && s.Network.Nodes[a.To].Kind == MachineNode {
				preferred[s.Network.Nodes[a.To].Name] += a.Capacity
			}
		}
		want := int64(0)
		if len(preferred) == 1 {
			want = 2 // both prefer the same machine, which has one slot
		}
		if s.Cost != want {
			t.Errorf("seed %d: %d, want %d with the preferences %v", seed, s.Cost, want, preferred)
		}
	}
	if diff := cmp.Diff(map[int64]bool{0: true, 2: true}, costs); diff != "" {
		t.Errorf("the seeds do not differ: %s", diff)
	}
	if s := simple(Trivial, 1, 2, 3).Solve(t.Context()); s.Cost != 5 {
		t.Errorf("two slots for three tasks cost %d", s.Cost)
	}
}

// RANDOM: all costs come from the seed, in the ranges of the model, and tasks prefer a machine to none.
func TestRandom(t *testing.T) {
	solve := func(seed uint64) *Solution {
		p := simple(Random, 3, 2, 5)
		p.Seed = seed
		return p.Solve(t.Context())
	}
	first := solve(1)
	if diff := cmp.Diff(first.Network.Arcs, solve(1).Network.Arcs, cmp.AllowUnexported(Arc{})); diff != "" {
		t.Errorf("one seed, two networks: %s", diff)
	}
	if first.Cost == solve(2).Cost {
		t.Error("two seeds, one cost")
	}
	const most = 100_000_000
	for _, a := range first.Network.Arcs {
		from, to := first.Network.Nodes[a.From].Kind, first.Network.Nodes[a.To].Kind
		least, limit := int64(0), int64(0)
		switch {
		case to == UnscheduledNode:
			least, limit = most/2+1, most
		case from == TaskNode:
			limit = most
		case from == ClassNode:
			least, limit = 1, most/2
		case from == MachineNode:
			least, limit = 1, most/4
		}
		if a.Cost < least || a.Cost > limit {
			t.Errorf("%s to %s costs %d, want %d to %d", from, to, a.Cost, least, limit)
		}
	}
}

func apart(name string) *v1.Pod {
	return pod(name, SchedulerName, 1).Label("app", "x").PodAntiAffinityExists("app", v1.LabelHostname, st.PodAntiAffinityWithRequiredReq).Obj()
}

func preferring(name, zone string) *v1.Pod {
	p := pod(name, SchedulerName, 1).Obj()
	p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{{
		Weight:     100,
		Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "zone", Operator: v1.NodeSelectorOpIn, Values: []string{zone}}}},
	}}}}
	return p
}

// The predicates of kube-scheduler decide which machines a class has arcs to.
func TestConstraintsOfARound(t *testing.T) {
	node := func(name string) *st.NodeWrapper {
		return st.MakeNode().Name(name).Label("zone", name).Label(v1.LabelHostname, name).Capacity(map[v1.ResourceName]string{"cpu": "8", "memory": "32Gi", "pods": "110"})
	}
	taint := []v1.Taint{{Key: "team", Value: "blue", Effect: v1.TaintEffectNoSchedule}}
	for _, test := range []struct {
		name    string
		objects []runtime.Object
		model   Model
		want    map[string]string
	}{
		{"a taint", []runtime.Object{node("a").Taints(taint).Obj(), node("b").Obj(), pod("p", SchedulerName, 1).Obj()}, "", map[string]string{"p": "b"}},
		{"a toleration", []runtime.Object{node("a").Taints(taint).Obj(), pod("p", SchedulerName, 1).Toleration("team").Obj()}, "", map[string]string{"p": "a"}},
		{"a taint on every node", []runtime.Object{node("a").Taints(taint).Obj(), pod("p", SchedulerName, 1).Obj()}, "", map[string]string{"p": ""}},
		{"a cordoned node", []runtime.Object{node("a").Unschedulable(true).Obj(), node("b").Obj(), pod("p", SchedulerName, 1).Obj()}, "", map[string]string{"p": "b"}},
		{"required node affinity", []runtime.Object{node("a").Obj(), node("b").Obj(), node("c").Obj(), pod("p", SchedulerName, 1).NodeAffinityIn("zone", []string{"c"}, st.NodeSelectorTypeMatchExpressions).Obj()}, "", map[string]string{"p": "c"}},
		{"preferred node affinity", []runtime.Object{node("a").Obj(), node("b").Obj(), node("c").Obj(), preferring("p", "b")}, CPUMemV1, map[string]string{"p": "b"}},
		{"anti-affinity among the pods of a round", []runtime.Object{
			node("a").Obj(), node("b").Obj(),
			apart("p"), apart("q"), apart("r"),
		}, "", map[string]string{"p": "a", "q": "b", "r": ""}},
		{"pod affinity to a running pod", []runtime.Object{
			node("a").Obj(), node("b").Obj(), pod("cache", "other", 4).Label("app", "cache").Node("b").Obj(),
			pod("p", SchedulerName, 1).PodAffinityExists("app", "zone", st.PodAffinityWithRequiredReq).Obj(),
		}, "", map[string]string{"p": "b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			try(t, test.objects, func(ctx context.Context, trial *whatif.Trial) error {
				out, err := Run(ctx, trial, Options{Model: test.model})
				if err != nil {
					return err
				}
				got := map[string]string{}
				for _, b := range out.Binds {
					got[b.Pod.Name] = b.Node
				}
				for _, p := range out.Waiting {
					got[p.Name] = ""
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
				return nil
			})
		})
	}
}

// A gang of a round: the pods of one controller with the annotation are bound together or not at all, and the room is lost for the round.
func TestGangOfARound(t *testing.T) {
	for percent, bound := range map[string]int{"75": 3, "100": 0, "": 3, "150": 3} {
		objects := []runtime.Object{}
		for i := range 3 {
			objects = append(objects, st.MakeNode().Name(fmt.Sprintf("n%d", i)).Capacity(map[v1.ResourceName]string{"cpu": "1200m", "memory": "32Gi", "pods": "110"}).Obj())
		}
		for i := range 4 {
			p := st.MakePod().Namespace("default").Name(fmt.Sprintf("t%d", i)).UID(fmt.Sprintf("t%d", i)).SchedulerName(SchedulerName).Req(map[v1.ResourceName]string{"cpu": "1200m"}).
				OwnerReference("job", metav1.SchemeGroupVersion.WithKind("Job")).Annotation(GangAnnotation, percent).Obj()
			controller := true
			p.OwnerReferences[0].Controller, p.OwnerReferences[0].UID = &controller, "job"
			objects = append(objects, p)
		}
		try(t, objects, func(ctx context.Context, trial *whatif.Trial) error {
			out, err := Run(ctx, trial, Options{Parallelism: func(string, *metav1.OwnerReference) (int, bool) { return 4, true }})
			if err != nil {
				return err
			}
			if len(out.Binds) != bound || len(out.Waiting) != 4-bound {
				t.Errorf("%q: %d bound, %d wait", percent, len(out.Binds), len(out.Waiting))
			}
			refused := slices.ContainsFunc(out.Record.Placements, func(p Placement) bool { return p.Delta == NoOp })
			if refused != (percent == "100") {
				t.Errorf("%q: %v", percent, out.Record.Placements)
			}
			for _, c := range out.Cycles {
				if percent == "100" && !strings.Contains(c.Message, "gang") && !strings.Contains(c.Message, "unscheduled") {
					t.Errorf("%s: %q", c.Pod.Name, c.Message)
				}
			}
			return nil
		})
	}
}

// The job of a pod is its controller, else the label of its controller, else the pod. Init containers do not count.
func TestJobsAndRequests(t *testing.T) {
	controller := true
	owned := pod("owned", SchedulerName, 1).Label("controller-uid", "label").Obj()
	owned.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "job", UID: "uid", Controller: &controller}}
	got := []owner{jobOf(owned), jobOf(pod("labelled", SchedulerName, 1).Label("controller-uid", "label").Obj()), jobOf(pod("alone", SchedulerName, 1).Obj())}
	if diff := cmp.Diff([]owner{{"uid", "job"}, {"label", "label"}, {"alone", "alone"}}, got, cmp.AllowUnexported(owner{})); diff != "" {
		t.Error(diff)
	}
	p := pod("init", SchedulerName, 1).Obj()
	p.Spec.InitContainers = []v1.Container{{Name: "init", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": *resource.NewQuantity(8, resource.DecimalSI)}}}}
	if diff := cmp.Diff(Resources{CPU: 1000, Memory: 4 << 30}, requestOf(p)); diff != "" {
		t.Error(diff)
	}
}

// With preemption, a task that the flow takes from its machine is deleted, and the one that takes its place is bound; without, nothing moves.
func TestPreemptionOfARound(t *testing.T) {
	for _, preemption := range []bool{true, false} {
		objects := []runtime.Object{
			st.MakeNode().Name("n").Capacity(map[v1.ResourceName]string{"cpu": "8", "memory": "32Gi", "pods": "110"}).Obj(),
			pod("l", SchedulerName, 1).Node("n").Obj(), pod("n", SchedulerName, 1).Obj(),
		}
		try(t, objects, func(ctx context.Context, trial *whatif.Trial) error {
			out, err := Run(ctx, trial, Options{Model: Trivial, MaxTasks: 1, Preemption: preemption})
			if err != nil {
				return err
			}
			var evicted []string
			for _, p := range out.Evictions {
				evicted = append(evicted, p.Name)
			}
			want := map[bool]string{true: "[l]", false: "[]"}[preemption]
			if fmt.Sprint(evicted) != want {
				t.Errorf("preemption %v evicts %v, want %s: %+v", preemption, evicted, want, out.Record.Placements)
			}
			return nil
		})
	}
}
