package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

func rejecting(reasons []result.ExtenderReason, nodes map[string]uint16) *result.ExtenderRejections {
	r := &result.ExtenderRejections{Reasons: reasons}
	for node, reason := range nodes {
		r.Nodes, r.ReasonOf = append(r.Nodes, node), append(r.ReasonOf, reason)
	}
	return r
}

// withExtenders is the cycle of twelve with extenders that filter and score.
func withExtenders() *result.Cycle {
	c := twelve()
	c.Extenders = []result.ExtenderCall{
		{Plugin: "http://x", Verb: "filter", Nominated: true, Status: "Success", Rejected: rejecting([]result.ExtenderReason{{Reason: "tried alone"}}, map[string]uint16{"node-c3": 0})},
		{Plugin: "http://x", Verb: "filter", Status: "Success", Rejected: rejecting([]result.ExtenderReason{{Reason: "reserved"}, {}}, map[string]uint16{"node-d1": 0, "node-d2": 0, "node-d3": 0, "node-d4": 1})},
		{Plugin: "http://y", Verb: "prioritize", Status: "Error", Ignored: true, Reasons: []string{"EOF"}},
	}
	counted := []int64{0, 100, 0, 30, 0, 0}
	c.Score.Extenders = []result.ScoreExtender{{Name: "http://x", Weight: 10, Counted: result.NewColumn(counted)}}
	c.Score.Totals = result.NewColumn([]int64{763, 782 + 100, 616, 823 + 30 + 100, 681, 578})
	c.Score.Weighted[0] = result.NewColumn([]int64{0, 0, 0, 300, 0, 0})
	return c
}

// The extenders' scores are part of the margin, and the nodes that they rejected
// are part of the rejections.
func TestExtendersAreParts(t *testing.T) {
	got := Cycle(withExtenders())
	want := "web runs on node-b2: best total 953 of 6 feasible, 71 ahead of node-a3. The extender http://y failed at prioritize and was ignored: EOF"
	if got.Sentence != want {
		t.Errorf("sentence = %q", got.Sentence)
	}
	if diff := cmp.Diff([]Part{{"NodeAffinity", 300}, {"InterPodAffinity", -150}, {"http://x", -70}, {"NodeResourcesFit", -9}}, got.Margin.Parts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(result.Rejection{Plugin: "http://x", Nodes: 4, Reasons: []result.ReasonCount{{Reason: "reserved", Nodes: 3}, {Reason: noReason, Nodes: 1}}}, got.Rejections[0]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]ExtenderFailure{{"http://y", "prioritize", "EOF", true}}, got.ExtenderFailures); diff != "" {
		t.Error(diff)
	}
}

func sentencesAboutExtenders() []spoken {
	pod := result.Pod{Name: "web"}
	b := result.NewFilterBuilder([]string{"NodeResourcesFit"}, 2)
	b.Add("a", "P", "", nil)
	b.Add("b", "R", "NodeResourcesFit", []string{"Insufficient cpu"})
	filter := b.Filter()
	refused := result.ExtenderCall{Plugin: "http://x", Verb: "filter", Status: "Success", Rejected: rejecting([]result.ExtenderReason{{Reason: "no"}}, map[string]uint16{"a": 0})}
	return []spoken{
		{
			"refused",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 2, Evaluated: 2, Wanted: 2}}, Filter: filter, Extenders: []result.ExtenderCall{refused}},
			"web fits no node: 2 nodes rejected, 1 by NodeResourcesFit, 1 by http://x.",
		},
		{
			"refused all that the search had found",
			result.Cycle{Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 9, Evaluated: 2, Wanted: 1}}, Filter: filter, Extenders: []result.ExtenderCall{refused}},
			"web fits no node: 2 nodes rejected, 1 by NodeResourcesFit, 1 by http://x. 7 nodes were not evaluated: enough nodes had been found before extenders rejected them.",
		},
		{
			"failed",
			result.Cycle{
				Summary:   result.Summary{Pod: pod, Outcome: result.Error, Message: "EOF"},
				Extenders: []result.ExtenderCall{{Plugin: "http://x", Verb: "filter", Status: "Error", Reasons: []string{"EOF"}}},
			},
			"web could not be scheduled because the extender http://x failed at filter: EOF",
		},
		{
			"preemption failed",
			result.Cycle{
				Summary: result.Summary{Pod: pod, Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 2, Evaluated: 2}}, Filter: filter,
				Extenders: []result.ExtenderCall{{Plugin: "http://x", Verb: "preempt", Status: "Error", Reasons: []string{"EOF"}}},
			},
			"web fits no node: 2 nodes rejected, 1 by NodeResourcesFit. The extender http://x failed at preempt: EOF",
		},
	}
}

func TestSentencesAboutExtenders(t *testing.T) {
	for _, tc := range sentencesAboutExtenders() {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Cycle(&tc.cycle).Sentence); diff != "" {
				t.Error(diff)
			}
		})
	}
}
