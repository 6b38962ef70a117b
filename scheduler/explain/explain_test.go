package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

// twelve is a cycle with 12 nodes, 6 of them feasible.
func twelve() *result.Cycle {
	b := result.NewFilterBuilder([]string{"TaintToleration", "NodeAffinity", "NodeResourcesFit"}, 12)
	for _, n := range []string{"node-a4", "node-b4", "node-c4"} {
		b.Add(n, "RNN", "TaintToleration", []string{"node(s) had untolerated taint(s)"})
	}
	b.Add("node-c2", "PRN", "NodeAffinity", []string{"node(s) didn't match Pod's node affinity/selector"})
	b.Add("node-a1", "PPR", "NodeResourcesFit", []string{"Insufficient cpu"})
	b.Add("node-c1", "PPR", "NodeResourcesFit", []string{"Insufficient memory"})
	for _, n := range []string{"node-a2", "node-a3", "node-b1", "node-b2", "node-b3", "node-c3"} {
		b.Add(n, "PPP", "", nil)
	}
	weighted := []result.Column{
		result.NewColumn([]int64{0, 0, 0, 200, 0, 0}),
		result.NewColumn([]int64{200, 200, 50, 50, 100, 0}),
		result.NewColumn([]int64{46, 65, 49, 56, 64, 61}),
		result.NewColumn([]int64{517, 517, 517, 517, 517, 517}),
	}
	return &result.Cycle{
		Summary: result.Summary{
			Pod: result.Pod{Namespace: "shop", Name: "web"}, Outcome: result.Scheduled, SelectedNode: "node-b2",
			Nodes: result.NodeCounts{Total: 12, Evaluated: 12, Feasible: 6, Wanted: 12},
		},
		Filter: b.Filter(),
		Score: &result.Score{
			Plugins: []result.ScorePlugin{{Name: "NodeAffinity"}, {Name: "InterPodAffinity"}, {Name: "NodeResourcesFit"}, {Name: "TaintToleration"}},
			Nodes:   result.NewNodeList("node-a2", "node-a3", "node-b1", "node-b2", "node-b3", "node-c3"),
			Raw:     weighted, Normalized: weighted, Weighted: weighted,
			Totals: result.NewColumn([]int64{763, 782, 616, 823, 681, 578}),
		},
	}
}

func TestScheduled(t *testing.T) {
	want := Explanation{
		Sentence: "web runs on node-b2: best total 823 of 6 feasible, 41 ahead of node-a3.",
		Headline: Statement{Best{Pod: "web", Node: "node-b2", Total: 823, Feasible: 6, Margin: 41, Next: "node-a3"}},
		Rejections: []result.Rejection{
			{Plugin: "TaintToleration", Nodes: 3, Reasons: []result.ReasonCount{{Reason: "node(s) had untolerated taint(s)", Nodes: 3}}},
			{Plugin: "NodeResourcesFit", Nodes: 2, Reasons: []result.ReasonCount{{Reason: "Insufficient cpu", Nodes: 1}, {Reason: "Insufficient memory", Nodes: 1}}},
			{Plugin: "NodeAffinity", Nodes: 1, Reasons: []result.ReasonCount{{Reason: "node(s) didn't match Pod's node affinity/selector", Nodes: 1}}},
		},
		Margin: &Margin{Over: "node-a3", Total: 41, Parts: []Part{
			{"NodeAffinity", 200}, {"InterPodAffinity", -150}, {"NodeResourcesFit", -9},
		}},
	}
	if diff := cmp.Diff(want, Cycle(twelve())); diff != "" {
		t.Error(diff)
	}
}

// tie is the cycle of twelve with two best nodes.
func tie() *result.Cycle {
	c := twelve()
	c.Score.Totals = result.NewColumn([]int64{823, 782, 616, 823, 681, 578})
	return c
}

func TestTie(t *testing.T) {
	e := Cycle(tie())
	if want := "web runs on node-b2: best total 823 of 6 feasible, tied with node-a2 and picked at random."; e.Sentence != want {
		t.Errorf("sentence = %q", e.Sentence)
	}
}

// Only the scheduler's own fact says that a seed decided.
func TestWhatDecidesAmongEqualNodes(t *testing.T) {
	for _, tc := range []struct {
		want Operands
		fact result.Fact
	}{
		{Tied{}, result.Fact{Plugin: "NodeQuota", Key: "rule", Value: "all"}},
		{TiedBySeed{}, result.Fact{Plugin: result.TieSeed, Key: "tie broken by seed", Value: "n1 among 2 nodes with the same total, by seed 1"}},
	} {
		c := tie()
		c.Facts = []result.Fact{tc.fact}
		if got := KindOf(Cycle(c).Headline.Operands); got != KindOf(tc.want) {
			t.Errorf("%v: %q, want %q", tc.fact, got, KindOf(tc.want))
		}
	}
}

// spoken is a cycle with the sentence that explains it.
type spoken struct {
	name  string
	cycle result.Cycle
	want  string
}

// lacking returns the filter of n nodes that lack resources, b the nearest to fitting.
func lacking(n int) *result.Filter {
	b := result.NewFilterBuilder([]string{"NodeResourcesFit"}, n)
	for _, node := range []string{"b", "a"}[:n] {
		b.Add(node, "R", "NodeResourcesFit", []string{"Insufficient cpu"})
	}
	f := b.Filter()
	f.Comparisons = []result.Comparison{
		{Node: "b", Plugin: "NodeResourcesFit", Resources: []result.ResourceComparison{
			{Name: "cpu", Requested: 2000, InUse: 1500, Allocatable: 3000}, {Name: "memory", Requested: 3 << 30, InUse: 0, Allocatable: 3 << 29},
			{Name: "example.com/gpu", Requested: 2},
		}},
		{Node: "a", Plugin: "NodeResourcesFit", Resources: []result.ResourceComparison{{Name: "cpu", Requested: 2000, Allocatable: 100}}},
	}[:n]
	return f
}

func sentences() []spoken {
	pod := result.Pod{Name: "web"}
	rejected := result.NewFilterBuilder([]string{"NodeResourcesFit"}, 2)
	rejected.Add("a", "R", "NodeResourcesFit", []string{"Insufficient cpu"})
	rejected.Add("b", "R", "NodeResourcesFit", []string{"Insufficient cpu"})
	none := rejected.Filter()
	crowded := lacking(1)
	crowded.Comparisons[0].Resources = []result.ResourceComparison{{Name: "pods", Requested: 1, InUse: 3, Allocatable: 3}}
	return []spoken{
		{
			"one feasible node",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Scheduled, SelectedNode: "a", Nodes: result.NodeCounts{Total: 1, Evaluated: 1, Feasible: 1, Wanted: 1}}},
			"web runs on a: the only feasible node of 1 evaluated.",
		},
		{
			"several feasible nodes, not scored",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Scheduled, SelectedNode: "a", Nodes: result.NodeCounts{Total: 3, Evaluated: 3, Feasible: 3, Wanted: 3}}},
			"web runs on a: one of 3 feasible nodes. The record holds no scores.",
		},
		{
			"a hint",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Scheduled, SelectedNode: "a", Nodes: result.NodeCounts{Total: 9, Evaluated: 1, Feasible: 1, Wanted: 1}}, Hint: &result.Hint{Node: "a", Used: true}},
			"web runs on a: opportunistic batching proposed the node, and it fits.",
		},
		{
			"a plugin panicked",
			result.Cycle{
				Summary: result.Summary{Pod: pod, Outcome: result.Error, Message: "running \"Quota\" filter plugin: Quota panicked in Filter: no quota"},
				Panics:  []result.Panic{{Plugin: "Quota", Call: "Filter", Value: "no quota", Stack: "main", Count: 3}},
			},
			"web could not be scheduled because of an error: running \"Quota\" filter plugin: Quota panicked in Filter: no quota Quota panicked in Filter, and the call counted as failed.",
		},
		{
			"no nodes",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable}},
			"web cannot be scheduled: the cluster has no nodes.",
		},
		{
			"nowhere",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 2, Evaluated: 2}}, Filter: none},
			"web fits no node: 2 nodes rejected, 2 by NodeResourcesFit.",
		},
		{
			"nowhere, the nearest of several",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 2, Evaluated: 2}}, Filter: lacking(2)},
			"web fits no node: 2 nodes rejected, 2 by NodeResourcesFit. Of the 2 nodes that lack resources, b is the closest fit: it lacks 0.5 cpu, 1.5 Gi memory, 2 example.com/gpu.",
		},
		{
			"nowhere, the only one has as many pods as it may",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 1, Evaluated: 1}}, Filter: crowded},
			"web fits no node: 1 node rejected, 1 by NodeResourcesFit. b lacks room for one more pod.",
		},
		{
			"nowhere, the only one lacks resources",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 2, Evaluated: 1}}, Filter: lacking(1)},
			"web fits no node: 1 node rejected, 1 by NodeResourcesFit. b lacks 0.5 cpu, 1.5 Gi memory, 2 example.com/gpu.",
		},
		{
			"preemption",
			result.Cycle{
				Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, NominatedNode: "a", Nodes: result.NodeCounts{Total: 2, Evaluated: 2}}, Filter: none,
				Preemption: &result.Preemption{Chosen: "a", Candidates: []result.Candidate{{Node: "a", Victims: []result.Victim{{}}}}},
			},
			"web fits no node: 2 nodes rejected, 2 by NodeResourcesFit. Preemption makes room on a by removing 1 pod.",
		},
		{
			"waiting",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Waiting, SelectedNode: "a"}, Permit: []result.PluginResult{{Plugin: "Hold", Status: "Wait"}}},
			"web was assigned to a and waits for Hold.",
		},
		{
			"rejected in PreFilter",
			result.Cycle{
				Summary:   result.Summary{Pod: pod, Outcome: result.Unschedulable, Message: "claim not found", Nodes: result.NodeCounts{Total: 2}},
				PreFilter: []result.PluginResult{{Plugin: "VolumeBinding", Status: "UnschedulableAndUnresolvable"}},
			},
			"web was rejected by VolumeBinding before any node was checked: claim not found",
		},
		{
			"rejected in PreFilter, with reasons",
			result.Cycle{
				Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Message: "0/2 nodes are available", Nodes: result.NodeCounts{Total: 2}},
				PreFilter: []result.PluginResult{
					{Plugin: "NodeAffinity", Status: "Success", Nodes: []string{"gone"}}, {Plugin: "NodePorts", Status: "Skip"},
					{Plugin: "VolumeBinding", Status: "UnschedulableAndUnresolvable", Reasons: []string{"claim a not found", "claim b not found"}},
				},
			},
			"web was rejected by NodeAffinity, VolumeBinding before any node was checked: claim a not found, claim b not found",
		},
		{
			"rejected in PreFilter without a word",
			result.Cycle{
				Summary:   result.Summary{Pod: pod, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 2}},
				PreFilter: []result.PluginResult{{Plugin: "Quota", Status: "Unschedulable"}},
			},
			"web was rejected by Quota before any node was checked: it gave no reason",
		},
		{
			"a nominated node",
			result.Cycle{
				Summary:    result.Summary{Pod: pod, Outcome: result.Scheduled, SelectedNode: "a", Nodes: result.NodeCounts{Total: 9, Evaluated: 1, Feasible: 1, Wanted: 1}},
				Nomination: &result.Nomination{Node: "a", Used: true},
			},
			"web runs on a: it was nominated there, and the node fits.",
		},
		{
			"a nominated node that does not fit",
			result.Cycle{
				Summary:    result.Summary{Pod: pod, Outcome: result.Scheduled, SelectedNode: "b", Nodes: result.NodeCounts{Total: 2, Evaluated: 2, Feasible: 1, Wanted: 2}},
				Nomination: &result.Nomination{Node: "a"},
			},
			"web runs on b: the only feasible node of 2 evaluated.",
		},
		{
			"nothing scores nodes",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Scheduled, SelectedNode: "a", Nodes: result.NodeCounts{Total: 9, Evaluated: 1, Feasible: 1, Wanted: 1}}},
			"web runs on a: the first feasible node that the search found. It stopped there, because nothing scores nodes.",
		},
		{
			"nothing scores nodes, and one is feasible",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Scheduled, SelectedNode: "a", Nodes: result.NodeCounts{Total: 9, Evaluated: 9, Feasible: 1, Wanted: 1}}},
			"web runs on a: the only feasible node of 9 evaluated.",
		},
		{
			"waited for a permit",
			result.Cycle{
				Summary:    result.Summary{Pod: pod, Outcome: result.Scheduled, SelectedNode: "a", Nodes: result.NodeCounts{Total: 1, Evaluated: 1, Feasible: 1, Wanted: 1}},
				PermitWait: &result.PermitWait{Plugins: []string{"Hold", "Quota"}, DurationSeconds: seconds(1.234), Status: "Success"},
			},
			"web runs on a: the only feasible node of 1 evaluated. It waited 1.2 s until Hold, Quota allowed it.",
		},
		{
			"left out by a flow, though a node fits",
			result.Cycle{
				Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Message: "every path costs more", Nodes: result.NodeCounts{Total: 2, Evaluated: 2, Feasible: 1}},
				Filter:  none, Permit: []result.PluginResult{{Plugin: "flow", Status: "Unschedulable", Reasons: []string{"every path costs more"}}},
			},
			"web was not scheduled: every path costs more",
		},
		{
			"rejected while it waited",
			result.Cycle{
				Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, SelectedNode: "a", Message: "no", Nodes: result.NodeCounts{Total: 2, Evaluated: 2, Feasible: 1}},
				Filter:  none, Permit: []result.PluginResult{{Plugin: "Hold", Status: "Wait"}},
				PermitWait: &result.PermitWait{Plugins: []string{"Hold"}, DurationSeconds: seconds(2), Status: "Unschedulable", Plugin: "Hold", Reasons: []string{"its quota is used up"}},
			},
			"web was assigned to a, then Hold rejected it in Permit: its quota is used up",
		},
		{
			"not allowed in time",
			result.Cycle{
				Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, SelectedNode: "a", Message: "no", Nodes: result.NodeCounts{Total: 2, Evaluated: 2, Feasible: 1}},
				Filter:  none, Permit: []result.PluginResult{{Plugin: "Hold", Status: "Wait", TimeoutSeconds: 10}},
				PermitWait: &result.PermitWait{Plugins: []string{"Hold"}, DurationSeconds: seconds(10.001), Status: "Unschedulable", Plugin: "Hold", TimedOut: true, Reasons: []string{"rejected due to timeout"}},
			},
			"web was assigned to a, but Hold did not allow it within 10 s.",
		},
		{
			"nominated pods count",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 2, Evaluated: 2}}, Filter: nominated(none, "a")},
			"web fits no node: 2 nodes rejected, 2 by NodeResourcesFit. 1 node was rejected with the pods nominated to it counted as running there (default/db); the scheduler did not try it without them.",
		},
		{
			"nominated pods count on several nodes",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 2, Evaluated: 2}}, Filter: nominated(none, "a", "b")},
			"web fits no node: 2 nodes rejected, 2 by NodeResourcesFit. 2 nodes were rejected with the pods nominated to them counted as running there (default/db); the scheduler did not try them without those pods.",
		},
		{
			"a victim could not be evicted",
			result.Cycle{
				Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, NominatedNode: "a", Nodes: result.NodeCounts{Total: 2, Evaluated: 2}}, Filter: none,
				Preemption: &result.Preemption{
					Chosen: "a", Candidates: []result.Candidate{{Node: "a", Victims: []result.Victim{{}, {}, {}}}},
					Evictions: &result.Evictions{Victims: 3, Deleted: 1, Failed: 1, Done: true, Failures: []result.EvictionFailure{{Error: "the API server is gone"}}},
				},
			},
			"web fits no node: 2 nodes rejected, 2 by NodeResourcesFit. Preemption makes room on a by removing 3 pods. 2 of them were not evicted: the API server is gone",
		},
		{
			"one of the victims could not be evicted",
			result.Cycle{
				Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, NominatedNode: "a", Nodes: result.NodeCounts{Total: 2, Evaluated: 2}}, Filter: none,
				Preemption: &result.Preemption{
					Chosen: "a", Candidates: []result.Candidate{{Node: "a", Victims: []result.Victim{{}, {}}}},
					Evictions: &result.Evictions{Victims: 2, Deleted: 1, Failed: 1, Done: true, Failures: []result.EvictionFailure{{Error: "the API server is gone"}}},
				},
			},
			"web fits no node: 2 nodes rejected, 2 by NodeResourcesFit. Preemption makes room on a by removing 2 pods. 1 of them was not evicted: the API server is gone",
		},
		{
			"preemption without its victims",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, NominatedNode: "a", Nodes: result.NodeCounts{Total: 2, Evaluated: 2}}, Filter: none},
			"web fits no node: 2 nodes rejected, 2 by NodeResourcesFit. Preemption makes room on a.",
		},
		{
			"rejected after a node was chosen",
			result.Cycle{
				Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, SelectedNode: "a", Message: "used up", Nodes: result.NodeCounts{Total: 2, Evaluated: 2, Feasible: 1}},
				Filter:  none, Permit: []result.PluginResult{{Plugin: "Quota", Status: "Unschedulable", Reasons: []string{"the quota is used up"}}},
			},
			"web was assigned to a, then Quota rejected it in Permit: the quota is used up",
		},
		{
			"lost its node without a plugin",
			result.Cycle{
				Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, SelectedNode: "a", Message: "timed out", Nodes: result.NodeCounts{Total: 2, Evaluated: 2, Feasible: 1}},
				Filter:  none,
			},
			"web was assigned to a and then rejected: timed out",
		},
		{
			"an error",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Error, Message: "the API server is gone", Nodes: result.NodeCounts{Total: 2}}},
			"web could not be scheduled because of an error: the API server is gone",
		},
		{
			"no plugin in particular",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Message: "no nodes available", Nodes: result.NodeCounts{Total: 2}}},
			"web was not scheduled: no nodes available",
		},
	}
}

func seconds(s float64) *float64 { return &s }

// nominated returns a copy of f in which the pod db counted as running on nodes.
func nominated(f *result.Filter, nodes ...string) *result.Filter {
	out := *f
	for _, node := range nodes {
		out.Nominated = append(out.Nominated, result.NominatedPass{Node: node, Pods: []result.Pod{{Namespace: "default", Name: "db"}}, PodCount: 1, Rejected: true})
	}
	out.Nominated = append(out.Nominated, result.NominatedPass{Node: "c", Pods: []result.Pod{{Namespace: "default", Name: "other"}}, PodCount: 1})
	return &out
}

func TestSentences(t *testing.T) {
	for _, tc := range sentences() {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Cycle(&tc.cycle).Sentence); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNotEvaluatedSaysWhy(t *testing.T) {
	c := twelve()
	c.Nodes = result.NodeCounts{Total: 5000, Evaluated: 512, Feasible: 500, Wanted: 500}
	want := &NotEvaluated{Nodes: 4488, Why: EnoughFound, Wanted: 500}
	if diff := cmp.Diff(want, Cycle(c).NotEvaluated); diff != "" {
		t.Error(diff)
	}
	c.PreFilter = []result.PluginResult{{Plugin: "NodeAffinity", Status: "Success", Nodes: []string{"a"}}}
	want = &NotEvaluated{Nodes: 4488, Why: PreFiltered, Plugins: []string{"NodeAffinity"}}
	if diff := cmp.Diff(want, Cycle(c).NotEvaluated); diff != "" {
		t.Error(diff)
	}
}

func TestNumbersHaveThousandsSeparators(t *testing.T) {
	s := Statement{Nearest{Node: "n1", Nodes: 1523, Lacks: []Lack{{Resource: "cpu", Amount: 1_234_567}, {Resource: "example.com/gpu-milli", Amount: 1_416_620}}}}
	const want = "Of the 1,523 nodes that lack resources, n1 is the closest fit: it lacks 1,234.567 cpu, 1,416,620 example.com/gpu-milli."
	if got := s.String(); got != want {
		t.Errorf("it is\n%s, want\n%s", got, want)
	}
	for number, want := range map[int64]string{-1000: "−1,000", -999: "−999", 999: "999", 1_000_000: "1,000,000"} {
		if got := whole(number); got != want {
			t.Errorf("%d is %s, want %s", number, got, want)
		}
	}
}
