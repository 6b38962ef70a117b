package admission

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func played(t *testing.T, commands string) *world {
	t.Helper()
	w := newWorld(t)
	for line := range strings.Lines(commands) {
		if line = strings.TrimSpace(line); line != "" {
			w.do(line)
		}
	}
	return w
}

func TestReasonsSurviveJSON(t *testing.T) {
	for _, operands := range Kinds() {
		want := Reason{operands}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatalf("%s: %v", KindOf(operands), err)
		}
		var got Reason
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v", KindOf(operands), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", data, diff)
		}
	}
	var unknown Reason
	if err := json.Unmarshal([]byte(`{"kind":"Mood"}`), &unknown); err == nil {
		t.Error("an unknown kind was read")
	}
}

func TestRecordsSurviveJSON(t *testing.T) {
	w := played(t, `
		cq a co=co within=LowerPriority f:4
		cq b co=co reclaim=Any f:4
		held v a 4
		held o a 2
		wl w1 a 4 @5
		wl w2 b 4
		cycle`)
	want := *w.records[0]
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Record
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want.Decisions = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the ledger's entry changes on its way (-want +got):\n%s", diff)
	}
}

func TestForgetTakesAReserveBack(t *testing.T) {
	w := played(t, "cq a f:4\nwl w1 a 4")
	if record := w.state.Cycle(w.now); record.Heads[0].Outcome != Reserved {
		t.Fatalf("the head is %s", record.Heads[0].Outcome)
	}
	w.do("quota a cpu used=4")
	w.state.Forget(w.key("w1"), w.now)
	w.do("quota a cpu used=0")
	w.do("cycle")
	w.do("expect w1 in")
}

// TestAnEvictionCountsOnce: a decision that is written again, after a conflict with its own first write, changes nothing.
func TestAnEvictionCountsOnce(t *testing.T) {
	now := time.Unix(1000, 0)
	d := Decision{Verb: Evict, Reason: reasonClusterQueueStopped, Message: "The ClusterQueue is stopped"}
	w := &kueue.Workload{}
	d.Apply(w, now)
	once := w.DeepCopy()
	d.Apply(w, now.Add(time.Second))
	if diff := cmp.Diff(once, w); diff != "" || w.Status.SchedulingStats.Evictions[0].Count != 1 {
		t.Errorf("-once +twice:\n%s", diff)
	}
}

// TestAReplaceThatIsNotWritten: the workload holds its quota again.
func TestAReplaceThatIsNotWritten(t *testing.T) {
	w := newWorld(t)
	for _, line := range []string{"settings elastic", "cq q f:5", "held small q 3x1", "wl large q 5x1 replaces=small"} {
		w.do(line)
	}
	record := w.state.Cycle(w.now)
	if len(record.Decisions) != 2 || record.Decisions[1].Verb != Replace || w.state.Holds(w.key("small")) || !w.state.Holds(w.key("large")) {
		t.Fatalf("the cycle decides %+v", record.Decisions)
	}
	// A version from before it changes nothing.
	w.state.SetWorkload(w.objects["small"].DeepCopy(), w.now)
	if w.state.Holds(w.key("small")) {
		t.Error("an old version takes the quota again")
	}
	w.state.Forget(w.key("small"), w.now)
	w.state.Forget(w.key("large"), w.now)
	if !w.state.Holds(w.key("small")) || w.state.Holds(w.key("large")) {
		t.Error("nothing was written, and the larger workload holds quota")
	}
	w.do("quota q cpu used=3")
}

func TestAnOldVersionDoesNotUndoADecision(t *testing.T) {
	w := played(t, "cq a f:4\nwl w1 a 4\nwl w2 a 4")
	record := w.state.Cycle(w.now)
	w.state.SetWorkload(w.objects["w1"].DeepCopy(), w.now)
	w.do("quota a cpu used=4")
	w.write(record.Decisions)
	w.do("cycle")
	w.do("expect w1 in")
	w.do("expect w2 WaitingForQuota")
}

// A restart feeds the objects to a new State, in any order.
func TestARestartComesToTheSameState(t *testing.T) {
	const commands = `
		topology t hostname
		flavor g topology t
		node n1 9
		cohort co f:1
		cq a co=co within=LowerPriority f:4
		cq b co=co reclaim=Any f:4/-2
		cq c g:9
		wl w1 a 5
		wl w2 b 2
		wl w3 c 2x1 required=hostname
		wl w4 a 9 @1
		cycle
		cycle`
	w := played(t, commands)
	type view struct {
		Quotas []NodeQuota
		Held   []string
	}
	see := func(s *State) view {
		v := view{Quotas: s.Quotas()}
		for i := range v.Quotas {
			// What was parked is tried again after a restart.
			v.Quotas[i].Queued, v.Quotas[i].Parked = v.Quotas[i].Queued+v.Quotas[i].Parked, 0
		}
		for key, known := range s.workloads {
			if known.place == reserved {
				v.Held = append(v.Held, key.String())
			}
		}
		slices.Sort(v.Held)
		return v
	}
	want := see(w.state)
	for seed := range uint64(20) {
		again := New(w.settings)
		var feed []func()
		for _, o := range w.state.clusterQueues {
			feed = append(feed, func() { again.SetClusterQueue(o) })
		}
		for _, o := range w.state.cohorts {
			feed = append(feed, func() { again.SetCohort(o) })
		}
		for _, o := range w.state.localQueues {
			feed = append(feed, func() { again.SetLocalQueue(o) })
		}
		for _, o := range w.state.flavors {
			feed = append(feed, func() { again.SetFlavor(o) })
		}
		for _, o := range w.state.topologies {
			feed = append(feed, func() { again.SetTopology(o) })
		}
		for _, o := range w.state.nodes {
			feed = append(feed, func() { again.SetNode(o) })
		}
		for _, o := range w.objects {
			feed = append(feed, func() { again.SetWorkload(o, w.now) })
		}
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(feed), func(i, j int) { feed[i], feed[j] = feed[j], feed[i] })
		for _, set := range feed {
			set()
		}
		if diff := cmp.Diff(want, see(again)); diff != "" {
			t.Fatalf("seed %d (-before +after):\n%s", seed, diff)
		}
	}
}

// TestPodsThatATopologyPlaced: they take no room beside the domains of their workload, and none once it has gone and they terminate.
func TestPodsThatATopologyPlaced(t *testing.T) {
	s := New(Settings{})
	s.SetTopology(&kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "t"}})
	for name, annotations := range map[string]map[string]string{
		"plain": nil, "asks": {kueue.PodSetRequiredTopologyAnnotation: "rack"}, "implied": {kueue.PodSetUnconstrainedTopologyAnnotation: "true"},
	} {
		s.SetPod(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: annotations}, Spec: v1.PodSpec{NodeName: name}})
	}
	if got := s.snapshot(time.Time{}).others; len(got) != 1 || got["plain"] == nil {
		t.Errorf("pods take room on %v, want only the plain one", got)
	}
}

func TestPendingSaysWhere(t *testing.T) {
	w := played(t, `
		cq a f:4
		localqueue other-lq a
		held v a 4
		wl w1 a 3
		wl w2 other-lq 2
		wl w3 a 3
		wl w4 a 1 @9
		cycle
		cycle`)
	type row struct {
		Name          string
		InCQ, InLQ    int32
		Parked        bool
		Kind, Because string
	}
	var got []row
	for _, p := range w.state.Pending("a", w.now) {
		got = append(got, row{p.Workload.Name, p.PositionInClusterQueue, p.PositionInLocalQueue, p.Parked, string(KindOf(p.Reason.Operands)), p.Condition})
	}
	want := []row{
		{"w4", 0, 0, true, "NoFlavors", "WaitingForQuota"},
		{"w1", 1, 1, true, "NoFlavors", "WaitingForQuota"},
		{"w2", 2, 0, false, "NotTried", "PendingEvaluation"},
		{"w3", 3, 2, true, "EqualRefused", "WaitingForQuota"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
}

func TestPendingBehindAStrictHead(t *testing.T) {
	w := played(t, "cq a StrictFIFO f:4\nheld v a 4\nwl w1 a 3\nwl w2 a 1\ncycle")
	pending := w.state.Pending("a", w.now)
	if got := pending[1].Reason.String(); got != "StrictFIFO tries only the head, ns/w1" {
		t.Errorf("w2 waits because %q", got)
	}
}

func TestEventsOfAPreemption(t *testing.T) {
	w := played(t, `
		cohort company
		cq a co=company reclaim=Any f:4
		cq b co=company f:0
		held v b 4
		wl w1 a 4 @3
		cycle
		settle
		wait 57s
		cycle`)
	var got []string
	for _, record := range w.records {
		for _, d := range record.Decisions {
			for _, e := range d.Events {
				got = append(got, e.Workload.Name+" "+e.Reason+": "+e.Message)
			}
		}
	}
	const evicted = "Preempted to accommodate a workload (UID: w1, JobUID: UNKNOWN) due to reclamation within the cohort; preemptor path: /company/a; preemptee path: /company/b"
	want := []string{
		"v EvictedDueToPreempted: " + evicted,
		"v Preempted: " + evicted + "; preemptor effective priority: 3; preemptee effective priority: 0",
		"w1 PreemptedWorkload: Preempted workload ns/v (UID: v) due to reclamation within the cohort",
		"w1 WaitingForPreemptedWorkloads: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 4 more needed. Pending the preemption of 1 workload(s)",
		"w1 QuotaReserved: Quota reserved in ClusterQueue a, wait time since queued was 59s",
		"w1 Admitted: Admitted by ClusterQueue a, wait time since reservation was 0s",
	}
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestConditionsThroughALife(t *testing.T) {
	w := played(t, `
		cq a within=LowerPriority f:4
		wl v a 4
		cycle
		wl w1 a 4 @5
		cycle
		settle
		cycle
		finish w1
		cycle`)
	got := make(map[string]string)
	for _, c := range w.objects["v"].Status.Conditions {
		got[c.Type] = string(c.Status) + " " + c.Reason + ": " + c.Message
	}
	const evicted = "Preempted to accommodate a workload (UID: w1, JobUID: UNKNOWN) due to prioritization in the ClusterQueue; preemptor path: /a; preemptee path: /a"
	want := map[string]string{
		"QuotaReserved": "True QuotaReserved: Quota reserved in ClusterQueue a",
		"Admitted":      "True Admitted: The workload is admitted",
		"Evicted":       "False QuotaReserved: Previously: " + evicted,
		"Preempted":     "False QuotaReserved: Previously: " + evicted,
		"Requeued":      "True Preempted: " + evicted,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	stats := w.objects["v"].Status.SchedulingStats
	if diff := cmp.Diff([]kueue.WorkloadSchedulingStatsEviction{{Reason: "Preempted", Count: 1}}, stats.Evictions); diff != "" {
		t.Errorf("evictions (-want +got):\n%s", diff)
	}
}

func TestClusterQueueStatus(t *testing.T) {
	w := played(t, "admissioncheck prov\ncq a co=co check=prov f:2\ncq b co=co f:4\nwl w1 a 3\nwl w2 a 9\ncycle\ncycle")
	got := w.state.ClusterQueueStatus("a", w.now)
	got.Conditions[0].LastTransitionTime.Reset()
	usage := func(total, borrowed string) []kueue.FlavorUsage {
		return []kueue.FlavorUsage{{Name: "f", Resources: []kueue.ResourceUsage{{Name: v1.ResourceCPU, Total: resource.MustParse(total), Borrowed: resource.MustParse(borrowed)}}}}
	}
	want := kueue.ClusterQueueStatus{
		FlavorsReservation: usage("3", "1"), FlavorsUsage: usage("0", "0"),
		PendingWorkloads: 1, ReservingWorkloads: 1,
	}
	if c := got.Conditions[0]; c.Reason != "Ready" || c.Message != "Can admit new workloads" {
		t.Errorf("condition %+v", c)
	}
	got.Conditions = nil
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	w.do("cq a co=co check=prov stop=Hold f:2 missing:1")
	if c := w.state.ClusterQueueStatus("a", w.now).Conditions[0]; c.Reason != "Stopped" || c.Message != "Can't admit new workloads: is stopped, references missing ResourceFlavor(s): missing" {
		t.Errorf("condition %+v", c)
	}
}

func TestTopologyAssignmentsAreCompressed(t *testing.T) {
	for _, domains := range [][]DomainPods{
		{{Values: []string{"b1", "n1"}, Pods: 3}},
		{{Values: []string{"b1", "n1"}, Pods: 3}, {Values: []string{"b1", "n2"}, Pods: 3}},
		{{Values: []string{"b1", "n1"}, Pods: 3}, {Values: []string{"b2", "n2"}, Pods: 1}},
	} {
		if diff := cmp.Diff(domains, Domains(compress([]string{"block", v1.LabelHostname}, domains))); diff != "" {
			t.Errorf("domains (-want +got):\n%s", diff)
		}
	}
	shared := &kueue.TopologyAssignment{Levels: []string{v1.LabelHostname}, Slices: []kueue.TopologyAssignmentSlice{{
		DomainCount: 2,
		ValuesPerLevel: []kueue.TopologyAssignmentSliceLevelValues{{Individual: &kueue.TopologyAssignmentSliceLevelIndividualValues{
			Prefix: ptr.To("node-"), Suffix: ptr.To(".x"), Roots: []string{"1", "2"},
		}}},
		PodCounts: kueue.TopologyAssignmentSlicePodCounts{Universal: ptr.To(int32(4))},
	}}}
	want := []DomainPods{{Values: []string{"node-1.x"}, Pods: 4}, {Values: []string{"node-2.x"}, Pods: 4}}
	if diff := cmp.Diff(want, Domains(shared)); diff != "" {
		t.Errorf("domains (-want +got):\n%s", diff)
	}
}

func TestPodsOfOthersTakeRoomOnNodes(t *testing.T) {
	w := played(t, "topology t hostname\nflavor f topology t\nnode n1 4\nnode n2 3\ncq a f:9\nwl w1 a 3x1 required=hostname")
	pod := &v1.Pod{}
	pod.Namespace, pod.Name, pod.Spec.NodeName = "kube-system", "agent", "n1"
	pod.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("2")}}}}
	w.state.SetPod(pod)
	w.do("cycle")
	w.do("expect w1 in n2:3")
}

// TestFlushesAreGathered: parked workloads are tried again only FlushAfter after quota is released. Until then a workload that is not
// parked takes it, though the parked one is more important.
func TestFlushesAreGathered(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		wants map[string]bool // who has quota in the end
	}{{0, map[string]bool{"important": true, "strict": false}}, {time.Second, map[string]bool{"important": false, "strict": true}}} {
		w := played(t, `
			cq a co=co f:4
			cq b co=co StrictFIFO f:0
			held v a 4
			wl important a 4 @9
			wl strict b 4
			cycle
			expect important WaitingForQuota parked
		`)
		w.state.settings.FlushAfter = c.after
		w.do("delete v")
		for _, later := range []time.Duration{0, 999 * time.Millisecond, time.Millisecond} {
			w.now = w.now.Add(later)
			w.state.Cycle(w.now)
		}
		for name, want := range c.wants {
			if got := w.state.workloads[w.key(name)].place == reserved; got != want {
				t.Errorf("with %s: %s has quota: %v", c.after, name, got)
			}
		}
	}
}
