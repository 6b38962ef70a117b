package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// The worked examples of how kube-batch and Volcano decide, each with its number in the documentation of the rules.
func TestExamples(t *testing.T) {
	const preempting = `actions: "allocate, preempt"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
`
	const withoutQueues = `actions: "allocate"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: drf}, {name: predicates}, {name: nodeorder}]
`
	gang := func(s *stage) {
		s.node("n1", 8)
		s.group("t", "", 3, 0)
		s.tasks("t", 3, 4, "")
	}
	// Only CPU is short.
	gangOfCPU := func(s *stage) {
		gang(s)
		s.nodes[0].Status.Allocatable["memory"] = quantity("1Ti")
	}
	for _, test := range []struct {
		name     string
		rules    Rules
		document string
		stage    func(*stage)
		want     string
	}{
		{"1, kube-batch: a gang that fits in part is held", KubeBatch, "", gang, `allocate
  allocated t-0 on n1: idle
  allocated t-1 on n1: idle
  refused t-2: noRoom
  skipped queue default: overused (proportion)
backfill
t Pending Unschedulable NotEnoughResources "1/3 tasks in gang unschedulable: 0 nodes are available"
`},
		{"1, Volcano: it is discarded", Volcano, withoutQueues, gangOfCPU, `allocate
  allocated t-0 on n1: idle
  allocated t-1 on n1: idle
  refused t-2: noRoom
  discarded t: gangNotReady (gang)
t Inqueue Unschedulable NotEnoughResources "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 1 Unschedulable, 2 Schedulable. Origin reason is t-2: 0/1 nodes are unavailable: 1 Insufficient cpu."
`},
		{"2, kube-batch: the held gang blocks a younger job", KubeBatch, "", func(s *stage) {
			gang(s)
			s.group("b", "", 1, 0)
			s.tasks("b", 1, 4, "")
		}, `allocate
  allocated t-0 on n1: idle
  allocated t-1 on n1: idle
  refused t-2: noRoom
  skipped queue default: overused (proportion)
backfill
b Pending Unschedulable NotEnoughResources "1/1 tasks in gang unschedulable: 0 nodes are available"
t Pending Unschedulable NotEnoughResources "1/3 tasks in gang unschedulable: 0 nodes are available"
`},
		{"2, Volcano: the younger job is bound", Volcano, withoutQueues, func(s *stage) {
			gangOfCPU(s)
			s.group("b", "", 1, 0)
			s.tasks("b", 1, 4, "")
		}, `allocate
  allocated t-0 on n1: idle
  allocated t-1 on n1: idle
  refused t-2: noRoom
  discarded t: gangNotReady (gang)
  allocated b-0 on n1: idle
  committed b bound: gangReady (gang)
bind b-0 to n1
t Inqueue Unschedulable NotEnoughResources "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 1 Unschedulable, 2 Schedulable. Origin reason is t-2: 0/1 nodes are unavailable: 1 Insufficient cpu."
b Running Scheduled tasks in gang are ready to be scheduled ""
`},
		{"7: a job of minimum 1 always gives way in kube-batch", KubeBatch, preempting, func(s *stage) {
			s.node("n1", 8)
			s.group("l", "", 1, 10)
			s.tasks("l", 2, 4, "n1")
			s.group("h", "", 1, 100)
			s.tasks("h", 1, 4, "")
		}, `allocate
  skipped queue default: overused (proportion)
preempt
  pipelined h-0 on n1: evicts (priority, gang) -l-1
  committed h: gangPipelined (gang) -l-1
evict l-1 (preempt)
h Pending Unschedulable NotEnoughResources "1/1 tasks in gang unschedulable: 0 nodes are available"
l Running
`},
		{"8: preempt undoes what is not enough", KubeBatch, preempting, func(s *stage) {
			s.node("n1", 20)
			s.group("etl-2", "", 3, 10)
			s.tasks("etl-2", 5, 4, "n1")
			s.group("serve-4", "", 3, 100)
			s.tasks("serve-4", 3, 4, "")
		}, `allocate
  skipped queue default: overused (proportion)
preempt
  pipelined serve-4-0 on n1: evicts (priority, gang) -etl-2-4
  pipelined serve-4-1 on n1: evicts (priority, gang) -etl-2-3
  refused serve-4-2: noVictims (gang)
  discarded serve-4: gangNotReady (gang) -etl-2-4 -etl-2-3
serve-4 Pending Unschedulable NotEnoughResources "3/3 tasks in gang unschedulable: 0 nodes are available"
etl-2 Running
`},
		{"9, kube-batch: each victim is judged alone", KubeBatch, preempting, func(s *stage) {
			nineth(s)
		}, `allocate
  skipped queue default: overused (proportion)
preempt
  pipelined h-0 on n: evicts (priority, gang) -l-1 -l-0
  committed h: gangPipelined (gang) -l-1 -l-0
evict l-1 (preempt)
evict l-0 (preempt)
h Pending Unschedulable NotEnoughResources "1/1 tasks in gang unschedulable: 0 nodes are available"
l Unknown Unschedulable NotEnoughResources "1/4 tasks in gang unschedulable: 0 nodes are available"
`},
		{"9, Volcano: they are judged together", Volcano, preempting, func(s *stage) {
			nineth(s)
		}, `allocate
  skipped queue default: overused (proportion)
preempt
  refused h-0: tooFewVictims
h Inqueue Unschedulable NotEnoughResources "1/1 tasks in gang unschedulable: pod group is not ready, 1 Pending, 1 minAvailable"
l Running Scheduled tasks in gang are ready to be scheduled ""
`},
		{"13, kube-batch: a tiny pod is best effort", KubeBatch, "", func(s *stage) {
			s.node("n1", 8)
			s.pod("tiny", 0.005, "").Spec.Containers[0].Resources.Requests["memory"] = quantity("5Mi")
		}, `allocate
  skipped queue default: overused (proportion)
backfill
  allocated tiny on n1 bound: bestEffort
bind tiny to n1
`},
		{"13, Volcano: it asks for resources", Volcano, `actions: "allocate, backfill"
tiers:
- plugins: [{name: gang}, {name: predicates}]
`, func(s *stage) {
			s.node("n1", 8)
			s.group("t", "", 1, 0)
			s.tasks("t", 1, 0.005, "")[0].Spec.Containers[0].Resources.Requests["memory"] = quantity("5Mi")
		}, `allocate
  allocated t-0 on n1: idle
  committed t bound: gangReady (gang)
backfill
bind t-0 to n1
t Running Scheduled tasks in gang are ready to be scheduled ""
`},
		{"14, kube-batch: pods of a controller are a job without a group", KubeBatch, "", func(s *stage) {
			s.node("n1", 12)
			owner := metav1.OwnerReference{Kind: "ReplicaSet", Name: "web", UID: "web", Controller: ptr.To(true)}
			for _, name := range []string{"web-a", "web-b", "web-c"} {
				s.pod(name, 4, "").OwnerReferences = []metav1.OwnerReference{owner}
			}
		}, `allocate
  allocated web-a on n1 bound: idle
  allocated web-b on n1 bound: idle
  allocated web-c on n1 bound: idle
  skipped queue default: overused (proportion)
backfill
bind web-a to n1
bind web-b to n1
bind web-c to n1
`},
		{"15, Volcano: a gang that has lost a task", Volcano, withoutQueues, func(s *stage) {
			lost(s)
		}, `allocate
  refused t-3: noRoom
t Unknown Unschedulable NotEnoughResources "1/4 tasks in gang unschedulable: pod group is not ready, 1 Pending, 3 minAvailable; Pending: 1 Unschedulable. Origin reason is t-3: 0/1 nodes are unavailable: 1 Insufficient cpu, 1 Insufficient memory."
`},
		{"15, kube-batch: a gang that has lost a task", KubeBatch, "", func(s *stage) {
			lost(s)
		}, `allocate
  refused t-3: noRoom
backfill
t Unknown Unschedulable NotEnoughResources "1/4 tasks in gang unschedulable: 0 nodes are available"
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, test.rules, test.document)
			test.stage(s)
			got := transcript(s.run())
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// lost: of a gang of three, two run, one leaves, and its replacement finds no room.
func lost(s *stage) {
	s.node("n1", 8)
	s.group("t", "", 3, 0).Status.Phase = PhaseRunning
	s.tasks("t", 2, 3, "n1")
	now := metaNow(s)
	s.tasks("t", 1, 2, "n1")[0].DeletionTimestamp = &now
	s.tasks("t", 1, 3, "")
}

// Example 15 continues: with room for the replacement, the gang is Running again.
func TestAGangIsCompleteAgain(t *testing.T) {
	for _, rules := range Dialects {
		s := newStage(t, rules, "")
		lost(s)
		s.apply(s.run())
		if phase := s.objects.Groups[0].Status.Phase; phase != PhaseUnknown {
			t.Errorf("%s: without its third task it is %s", rules, phase)
		}
		s.nodes[0] = s.nodes[0].DeepCopy()
		s.nodes[0].Status.Allocatable = sized(16)
		s.nodes[0].Status.Allocatable["pods"] = quantity("110")
		s.apply(s.run())
		s.apply(s.run())
		if phase := s.objects.Groups[0].Status.Phase; phase != PhaseRunning {
			t.Errorf("%s: with all of its tasks it is %s", rules, phase)
		}
	}
}

// Example 7 continues: the preemptor is bound in the session after its victim has left.
func TestThePreemptorIsBoundLater(t *testing.T) {
	s := newStage(t, KubeBatch, `{actions: "allocate, preempt", tiers: [{plugins: [{name: priority}, {name: gang}]}, {plugins: [{name: predicates}, {name: nodeorder}]}]}`)
	s.node("n1", 8)
	s.group("l", "", 1, 10)
	s.tasks("l", 2, 4, "n1")
	s.group("h", "", 1, 100)
	s.tasks("h", 1, 4, "")
	first := s.run()
	if len(first.Binds) > 0 || len(first.Evictions) != 1 {
		t.Fatalf("%d bound, %d evicted", len(first.Binds), len(first.Evictions))
	}
	s.apply(first)
	if second := s.run(); len(second.Binds) != 1 || second.Binds[0].Pod.Name != "h-0" || len(second.Evictions) > 0 {
		t.Errorf("%+v", second.Binds)
	}
}

// kube-batch counts CPU, memory and scalar resources only: ephemeral storage, which every node has and few pods ask for, must not keep
// queues from being overused, or from losing what is beyond their share.
func TestKubeBatchIgnoresEphemeralStorage(t *testing.T) {
	s := newStage(t, KubeBatch, `actions: "allocate, reclaim"
tiers:
- plugins: [{name: proportion}, {name: predicates}, {name: nodeorder}]
`)
	threeQueues(s)
	for _, n := range s.nodes {
		n.Status.Allocatable["ephemeral-storage"] = quantity("100Gi")
	}
	out := s.run()
	if len(out.Evictions) != 1 || out.Evictions[0].Pod.Name != "train-8-0" {
		t.Errorf("%+v", out.Evictions)
	}
	if _, found := out.Record.Total["ephemeral-storage"]; found {
		t.Error(out.Record.Total)
	}
}

// nineth: l has four ready tasks, two of them on n, and needs three.
func nineth(s *stage) {
	s.node("n", 8)
	s.node("other", 8).Spec.Unschedulable = true
	s.group("l", "", 3, 10)
	s.tasks("l", 2, 4, "n")
	s.tasks("l", 2, 4, "other")
	s.group("h", "", 1, 100)
	s.tasks("h", 1, 8, "")
}
