package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

// twelve is the cycle of the design's own example: 12 nodes, 6 feasible.
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
			Nodes:   []string{"node-a2", "node-a3", "node-b1", "node-b2", "node-b3", "node-c3"},
			Raw:     weighted, Normalized: weighted, Weighted: weighted,
			Totals: result.NewColumn([]int64{763, 782, 616, 823, 681, 578}),
		},
	}
}

func TestScheduled(t *testing.T) {
	want := Explanation{
		Sentence: "web runs on node-b2: best total 823 of 6 feasible, 41 ahead of node-a3.",
		Rejections: []Rejection{
			{Plugin: "TaintToleration", Nodes: 3, Reasons: []ReasonCount{{"node(s) had untolerated taint(s)", 3}}},
			{Plugin: "NodeResourcesFit", Nodes: 2, Reasons: []ReasonCount{{"Insufficient cpu", 1}, {"Insufficient memory", 1}}},
			{Plugin: "NodeAffinity", Nodes: 1, Reasons: []ReasonCount{{"node(s) didn't match Pod's node affinity/selector", 1}}},
		},
		Margin: &Margin{Over: "node-a3", Total: 41, Parts: []Part{
			{"NodeAffinity", 200}, {"InterPodAffinity", -150}, {"NodeResourcesFit", -9},
		}},
	}
	if diff := cmp.Diff(want, Cycle(twelve())); diff != "" {
		t.Error(diff)
	}
}

func TestTie(t *testing.T) {
	c := twelve()
	c.Score.Totals = result.NewColumn([]int64{823, 782, 616, 823, 681, 578})
	c.Score.FindTied()
	e := Cycle(c)
	if want := "web runs on node-b2: best total 823 of 6 feasible, by chance before node-a2 with the same total."; e.Sentence != want {
		t.Errorf("sentence = %q", e.Sentence)
	}
}

func TestSentences(t *testing.T) {
	pod := result.Pod{Name: "web"}
	rejected := result.NewFilterBuilder([]string{"NodeResourcesFit"}, 2)
	rejected.Add("a", "R", "NodeResourcesFit", []string{"Insufficient cpu"})
	rejected.Add("b", "R", "NodeResourcesFit", []string{"Insufficient cpu"})
	none := rejected.Filter()
	for _, tc := range []struct {
		name  string
		cycle result.Cycle
		want  string
	}{
		{
			"one feasible node",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Scheduled, SelectedNode: "a", Nodes: result.NodeCounts{Total: 1, Evaluated: 1, Feasible: 1, Wanted: 1}}},
			"web runs on a: the only feasible node of 1 evaluated.",
		},
		{
			"several feasible nodes, not scored",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Scheduled, SelectedNode: "a", Nodes: result.NodeCounts{Total: 3, Evaluated: 3, Feasible: 3, Wanted: 3}}},
			"web runs on a: one of 3 feasible nodes, which were not scored.",
		},
		{
			"a hint",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Scheduled, SelectedNode: "a", Nodes: result.NodeCounts{Total: 9, Evaluated: 1, Feasible: 1, Wanted: 9}}, Hint: &result.Hint{Node: "a", Used: true}},
			"web runs on a: opportunistic batching proposed the node, and it fits.",
		},
		{
			"no nodes",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable}},
			"web found no node: the cluster has none.",
		},
		{
			"nowhere",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 2, Evaluated: 2}}, Filter: none},
			"web fits no node: 2 nodes rejected, 2 by NodeResourcesFit.",
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
			"web has a place on a and waits for Hold.",
		},
		{
			"rejected in PreFilter",
			result.Cycle{
				Summary:   result.Summary{Pod: pod, Outcome: result.Unschedulable, Message: "claim not found", Nodes: result.NodeCounts{Total: 2}},
				PreFilter: []result.PluginResult{{Plugin: "VolumeBinding", Status: "UnschedulableAndUnresolvable"}},
			},
			"web was rejected by VolumeBinding before any node was looked at: claim not found",
		},
	} {
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
