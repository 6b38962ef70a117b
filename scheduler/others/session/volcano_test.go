package session

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

const (
	allocating = "{actions: allocate, tiers: [{plugins: [{name: priority}, {name: gang}]}, {plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]}]}"
	packing    = "{actions: allocate, tiers: [{plugins: [{name: gang}, {name: predicates}, {name: binpack}]}]}"
	spreading  = "{actions: allocate, tiers: [{plugins: [{name: gang}, {name: predicates}, {name: nodeorder}]}]}"
	reclaims   = "{actions: reclaim, tiers: [{plugins: [{name: gang, enableReclaimable: false}]}, {plugins: [{name: predicates}, {name: proportion}, {name: nodeorder}]}]}"
	preempts   = "{actions: preempt, tiers: [{plugins: [{name: priority}, {name: gang}]}, {plugins: [{name: predicates}, {name: nodeorder}]}]}"
)

// The rules of Volcano that no worked example covers: who is bound where, and who is evicted.
func TestVolcano(t *testing.T) {
	type want struct {
		Binds   map[string]string
		Evicted []string
	}
	// full: queue a holds the whole node, and b deserves half of it.
	full := func(s *stage) {
		s.node("n1", 8)
		s.queue("a", 1)
		s.queue("b", 1)
		s.group("old", "a", 1, 0)
		s.tasks("old", 4, 2, "n1")
		s.group("new", "b", 1, 0)
		s.tasks("new", 1, 2, "")
	}
	// busy: a job of low priority fills the node, and one of high priority waits.
	busy := func(s *stage) {
		s.node("n1", 8)
		s.group("low", "", 1, 10)
		s.tasks("low", 4, 2, "n1")
		s.group("high", "", 1, 100)
		s.tasks("high", 1, 2, "")
	}
	for _, test := range []struct {
		name     string
		document string
		stage    func(*stage)
		want     want
	}{
		{"binpack fills the node that is fuller", packing, func(s *stage) {
			s.node("n1", 8)
			s.node("n2", 8)
			s.group("t", "", 1, 0)
			s.tasks("t", 1, 4, "n2")
			s.tasks("t", 1, 2, "")
		}, want{Binds: map[string]string{"t-1": "n2"}}},
		{"nodeorder takes the emptier one", spreading, func(s *stage) {
			s.node("n1", 8)
			s.node("n2", 8)
			s.group("t", "", 1, 0)
			s.tasks("t", 1, 4, "n2")
			s.tasks("t", 1, 2, "")
		}, want{Binds: map[string]string{"t-1": "n1"}}},
		{"mostrequested outweighs leastrequested", "{actions: allocate, tiers: [{plugins: [{name: gang}, {name: predicates}, {name: nodeorder, arguments: {leastrequested.weight: 0, mostrequested.weight: 5, balancedresource.weight: 0}}]}]}", func(s *stage) {
			s.node("n1", 8)
			s.node("n2", 8)
			s.group("t", "", 1, 0)
			s.tasks("t", 1, 4, "n2")
			s.tasks("t", 1, 2, "")
		}, want{Binds: map[string]string{"t-1": "n2"}}},
		{"a predicate that is switched off", "{actions: allocate, tiers: [{plugins: [{name: gang}, {name: predicates, arguments: {predicate.TaintTolerationEnable: false}}]}]}", func(s *stage) {
			s.node("n1", 8).Spec.Taints = []v1.Taint{{Key: "team", Effect: v1.TaintEffectNoSchedule}}
			s.group("t", "", 1, 0)
			s.tasks("t", 1, 2, "")
		}, want{Binds: map[string]string{"t-0": "n1"}}},
		{"a queue's priority comes before its share", allocating, func(s *stage) {
			s.node("n1", 4)
			s.queue("low", 1)
			s.queue("high", 1).Spec.Priority = 5
			s.group("first", "low", 1, 0)
			s.tasks("first", 1, 2, "")
			s.group("second", "high", 1, 0)
			s.tasks("second", 2, 2, "")
		}, want{Binds: map[string]string{"first-0": "n1", "second-0": "n1"}}},
		{"a closed queue takes no task", allocating, func(s *stage) {
			s.node("n1", 8)
			s.queue("shut", 1).Status.State = "Closed"
			s.group("t", "shut", 1, 0)
			s.tasks("t", 1, 2, "")
		}, want{}},
		{"a queue's capability", allocating, func(s *stage) {
			s.node("n1", 16)
			s.queue("small", 1).Spec.Capability = v1.ResourceList{"cpu": quantity("4")}
			s.group("t", "small", 1, 0)
			s.tasks("t", 4, 2, "")
		}, want{Binds: map[string]string{"t-0": "n1", "t-1": "n1"}}},
		{"another queue's guarantee", allocating, func(s *stage) {
			s.node("n1", 8)
			s.queue("safe", 1).Spec.Guarantee.Resource = sized(6)
			s.queue("rest", 1)
			s.group("t", "rest", 1, 0)
			s.tasks("t", 3, 2, "")
		}, want{Binds: map[string]string{"t-0": "n1"}}},
		{"a minimum for each role", allocating, func(s *stage) {
			s.node("n1", 8)
			g := s.group("t", "", 2, 0)
			g.Spec.MinTaskMember = map[string]int32{"ps": 1, "worker": 1}
			for _, p := range s.tasks("t", 2, 2, "") {
				p.Annotations[RoleAnnotation] = "worker"
			}
		}, want{}},
		{"roles that are there", allocating, func(s *stage) {
			s.node("n1", 8)
			g := s.group("t", "", 2, 0)
			g.Spec.MinTaskMember = map[string]int32{"ps": 1, "worker": 1}
			for i, p := range s.tasks("t", 2, 2, "") {
				p.Annotations[RoleAnnotation] = []string{"ps", "worker"}[i]
			}
		}, want{Binds: map[string]string{"t-0": "n1", "t-1": "n1"}}},
		{"tasks that ask for nothing count for the gang", allocating, func(s *stage) {
			s.node("n1", 8)
			s.group("t", "", 2, 0)
			s.tasks("t", 1, 2, "")
			s.tasks("t", 1, 0, "")
		}, want{Binds: map[string]string{"t-0": "n1"}}},
		{"a task priority by annotation", allocating, func(s *stage) {
			s.node("n1", 2)
			s.group("t", "", 1, 0)
			s.tasks("t", 2, 2, "")[1].Annotations[TaskPriorityAnnotation] = "9"
		}, want{Binds: map[string]string{"t-1": "n1"}}},
		{"a job that is not let in", allocating[:1] + "actions: \"enqueue, allocate\", " + allocating[len("{actions: allocate, "):], func(s *stage) {
			s.node("n1", 8)
			s.queue("small", 1).Spec.Capability = v1.ResourceList{"cpu": quantity("1")}
			g := s.group("t", "small", 1, 0)
			g.Status.Phase, g.Spec.MinResources = PhasePending, sized(2)
			s.tasks("t", 1, 2, "")
		}, want{}},
		{"a gated task is not served", allocating, func(s *stage) {
			s.node("n1", 8)
			s.group("t", "", 1, 0)
			s.tasks("t", 1, 2, "")[0].Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}}
		}, want{}},
		// proportion offers candidates, in the order of their names, as long as the queue holds more than it deserves: 8 of 6.
		{"reclaim takes what is beyond the share", reclaims, full, want{Evicted: []string{"old-0"}}},
		{"a queue that is not reclaimable", reclaims, func(s *stage) {
			full(s)
			s.objects.Queues[slices.IndexFunc(s.objects.Queues, func(q *Queue) bool { return q.Name == "a" })].Spec.Reclaimable = ptr.To(false)
		}, want{}},
		{"pods that may not be evicted", reclaims, func(s *stage) {
			full(s)
			for _, p := range s.pods[:4] {
				p.Annotations[PreemptableAnnotation] = "false"
			}
		}, want{}},
		{"a task that would pass what its queue deserves", reclaims, func(s *stage) {
			full(s)
			s.group("more", "b", 1, 0)
			s.tasks("more", 1, 6, "")
			s.pods = slices.DeleteFunc(s.pods, func(p *v1.Pod) bool { return p.Name == "new-0" })
		}, want{}},
		// gang offers three of the four, and the last of them goes.
		{"preempt takes the lowest", preempts, busy, want{Evicted: []string{"low-2"}}},
		{"a policy that never preempts", preempts, func(s *stage) {
			busy(s)
			s.pods[4].Spec.PreemptionPolicy = ptr.To(v1.PreemptNever)
		}, want{}},
		{"a job that has its minimum does not preempt", preempts, func(s *stage) {
			busy(s)
			s.tasks("high", 1, 0, "n1")
		}, want{}},
		{"a bound pod is a victim, too", preempts, func(s *stage) {
			busy(s)
			for _, p := range s.pods[:4] {
				p.Status.Phase = v1.PodPending
			}
		}, want{Evicted: []string{"low-2"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, Volcano, test.document)
			test.stage(s)
			out := s.run()
			var got want
			for _, b := range out.Binds {
				if got.Binds == nil {
					got.Binds = map[string]string{}
				}
				got.Binds[b.Pod.Name] = b.Node
			}
			for _, e := range out.Evictions {
				got.Evicted = append(got.Evicted, e.Pod.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s\n%s", diff, transcript(out))
			}
		})
	}
}

// A group whose tasks have all ended is Completed.
func TestCompleted(t *testing.T) {
	s := newStage(t, Volcano, "")
	s.node("n1", 8)
	s.group("t", "", 2, 0).Status.Phase = PhaseRunning
	for _, p := range s.tasks("t", 2, 2, "n1") {
		p.Status.Phase = v1.PodSucceeded
	}
	s.objects.Ended, s.pods = s.pods, nil
	out := s.run()
	if len(out.Groups) != 1 || out.Groups[0].Status.Phase != PhaseCompleted || out.Groups[0].Status.Succeeded != 2 {
		t.Errorf("%+v", out.Groups)
	}
}

// The score of binpack: 100 × weight × Σ w·(used + request)/allocatable ÷ Σ w over the requested resources.
func TestBinPackScore(t *testing.T) {
	s := newStage(t, Volcano, "{actions: allocate, tiers: [{plugins: [{name: binpack, arguments: {binpack.weight: 2, binpack.cpu: 3, binpack.memory: 1}}]}]}")
	s.node("n1", 8).Status.Allocatable["memory"] = quantity("64Gi")
	s.group("t", "", 1, 0)
	s.tasks("t", 1, 2, "n1")
	asking := s.tasks("t", 1, 2, "")[0]
	x := bare(s)
	// CPU (2+2)/8 = 0.5 and memory 16/64 = 0.25: (3·0.5 + 0.25)/4 = 0.4375. The weight of binpack itself is that of the plugin.
	if got := x.binPacked(asking, "n1"); got != 43 {
		t.Error(got)
	}
	over := s.tasks("t", 1, 100, "")[0]
	if got := bare(s).binPacked(over, "n1"); got != 0 {
		t.Errorf("over capacity: %d", got)
	}
}

// On 100 nodes or more, Volcano's search ends at as many feasible nodes as kube-scheduler's, here 49% of 210. A search that finds no
// node has seen all of them. kube-batch always judges all.
func TestVolcanoEndsItsSearch(t *testing.T) {
	tests := []struct {
		name     string
		rules    Rules
		nodes    int
		cpu      float64
		feasible int
		all      bool
	}{
		{"few nodes", Volcano, 99, 1, 99, true},
		{"many nodes", Volcano, 210, 1, 102, false},
		{"many nodes, all too small", Volcano, 210, 9, 0, true},
		{"kube-batch", KubeBatch, 210, 1, 210, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, tt.rules, "{actions: allocate, tiers: [{plugins: [{name: gang}, {name: predicates}, {name: nodeorder}]}]}")
			for i := range tt.nodes {
				s.node(fmt.Sprintf("n%03d", i), 8)
			}
			s.group("t", "", 1, 0)
			s.tasks("t", 1, tt.cpu, "")
			counts := s.run().Cycles[0].Nodes
			if counts.Feasible != tt.feasible || (counts.Evaluated == tt.nodes) != tt.all {
				t.Errorf("%+v", counts)
			}
		})
	}
}
