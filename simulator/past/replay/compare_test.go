package replay

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
)

// cycle covers four nodes: best was chosen, same had the same total, less was feasible, and full was
// rejected. others were not evaluated.
func cycle() *result.Cycle {
	b := result.NewFilterBuilder([]string{"NodeName", "NodeResourcesFit"}, 4)
	for _, node := range []string{"best", "same", "less"} {
		b.Add(node, "PP", "", nil)
	}
	b.Add("full", "PR", "NodeResourcesFit", []string{"Insufficient cpu"})
	column := result.NewColumn
	c := &result.Cycle{
		Summary: result.Summary{Attempt: 1, Outcome: result.Scheduled, SelectedNode: "best", Nodes: result.NodeCounts{Total: 10, Evaluated: 4, Wanted: 3}},
		Filter:  b.Filter(),
		Score: &result.Score{
			Plugins: []result.ScorePlugin{{Name: "NodeAffinity", Weight: 2}, {Name: "NodeResourcesFit", Weight: 1}},
			Nodes:   result.NewNodeList("best", "same", "less"),
			Weighted: []result.Column{
				column([]int64{0, 20, 10}), column([]int64{90, 70, 30}),
			},
			Totals: column([]int64{90, 90, 40}),
		},
	}
	return c
}

func TestWhyADecisionDiffers(t *testing.T) {
	unschedulable := &result.Cycle{Summary: result.Summary{Attempt: 1, Outcome: result.Unschedulable}, PreFilter: []result.PluginResult{{Plugin: "VolumeBinding", Status: "UnschedulableAndUnresolvable", Reasons: []string{"pod has unbound immediate PersistentVolumeClaims"}}}}
	restricted := cycle()
	restricted.PreFilter = []result.PluginResult{{Plugin: "NodeAffinity", Status: "Success", Nodes: []string{"best", "same"}}}
	among := cycle()
	among.PreFilter = []result.PluginResult{{Plugin: "NodeAffinity", Status: "Success", Nodes: []string{"best", "other"}}}
	extended := cycle()
	extended.Extenders = []result.ExtenderCall{{Plugin: "http://example", Rejected: &result.ExtenderRejections{Nodes: []string{"less"}, Reasons: []result.ExtenderReason{{Reason: "no licence"}}, ReasonOf: []uint16{0}}}}
	hinted := cycle()
	hinted.Hint = &result.Hint{Node: "best", Used: true}
	nominated := cycle()
	nominated.Nomination = &result.Nomination{Node: "best", Used: true}
	nominated.Nodes.Wanted, nominated.Nodes.Evaluated = 1, 1
	placed := func(nodes int) *result.Cycle {
		c, first := cycle(), 0
		c.PodGroup = &result.PodGroup{Placement: &first, Placements: []result.Placement{{Name: "rack-1", Nodes: nodes}}}
		return c
	}
	failed := cycle()
	failed.Outcome, failed.SelectedNode, failed.Message, failed.Score = result.Error, "", "plugin Quota: no answer", nil
	elsewhere := cycle()
	elsewhere.Nomination = &result.Nomination{Node: "full"}
	for _, tc := range []struct {
		name, recorded string
		cycle          *result.Cycle
		missing        bool
		want           string
	}{
		{"rejected", "full", cycle(), false, "best was chosen: NodeResourcesFit rejected full (Insufficient cpu)."},
		{"a tie", "same", cycle(), false, "best was chosen; same had the same total, 90."},
		{"a lower total", "less", cycle(), false, "best was chosen with a total of 90; less had 40. NodeResourcesFit made the largest difference: 90 against 30."},
		{"not evaluated", "other", cycle(), false, "best was chosen: other was not evaluated, because the search stops at 3 feasible nodes and had evaluated 4 of 10."},
		{"a hint", "other", hinted, false, "best was chosen: other was not evaluated, because opportunistic batching proposed the node that was chosen."},
		{"a nomination", "other", nominated, false, "best was chosen: other was not evaluated, because the scheduler tried the nominated node first, and it fits."},
		{"a nomination to another node", "other", elsewhere, false, "best was chosen: other was not evaluated, because the search stops at 3 feasible nodes and had evaluated 4 of 10."},
		{"not there", "gone", cycle(), true, "best was chosen: gone is not in the simulated cluster."},
		{"restricted", "other", restricted, false, "best was chosen: other was not evaluated, because NodeAffinity restricted the pod to other nodes."},
		{"not restricted", "other", among, false, "best was chosen: other was not evaluated, because the search stops at 3 feasible nodes and had evaluated 4 of 10."},
		{"outside its group's placement", "other", placed(4), false, "best was chosen: other was not evaluated, because it is outside the placement in which the pod’s group was tried."},
		{"perhaps outside of it", "other", placed(6), false, "best was chosen: other was not evaluated, because the search stops at 3 feasible nodes and had evaluated 4 of 10, or because it is one of the 4 outside the placement in which the pod’s group was tried."},
		{"an error", "other", failed, false, "No node was found: other was not evaluated, because the cycle ended with an error: plugin Quota: no answer"},
		{"an extender", "less", extended, false, "best was chosen: http://example rejected less (no licence)."},
		{"the pod is rejected", "best", unschedulable, false, "No node was found: VolumeBinding rejected best (pod has unbound immediate PersistentVolumeClaims)."},
	} {
		d := Decision{RecordedNode: tc.recorded, SimulatedNode: tc.cycle.SelectedNode, Attempt: 1, Outcome: Different, Finding: find(tc.cycle, tc.recorded)}
		d.RecordedNodeMissing = tc.missing
		if d.SimulatedNode == "" {
			d.Outcome = Pending
		}
		if d.because(why(d, tc.cycle, "")); d.Why != tc.want {
			t.Errorf("%s: %s\nwant %s", tc.name, d.Why, tc.want)
		}
	}
	untried := Decision{RecordedNode: "n1", Outcome: Pending}
	if got, want := (explain.Statement{Operands: why(untried, nil, "")}).String(), "The simulated scheduler has not tried the pod, which had been scheduled to n1."; got != want {
		t.Errorf("%q", got)
	}
}

func TestTheReportIsForPeopleToo(t *testing.T) {
	r := Report{
		Replay: Status{Name: "tuesday.rec", Start: at(0), End: at(60), Changes: 9, Failed: 1},
		Comparison: Comparison{Counts: Counts{Compared: 2, Matching: 1, Different: 1, Tied: 1}, NodesMissing: 1, Items: []Decision{
			{Pod: result.Pod{Namespace: "default", Name: "web"}, Outcome: Matching, RecordedNode: "n1", SimulatedNode: "n1", Time: at(1)},
			{Pod: result.Pod{Namespace: "default", Name: "db"}, Outcome: Different, RecordedNode: "n1", SimulatedNode: "n2", Why: "n2 was chosen.", Time: at(2)},
		}},
	}
	var out strings.Builder
	if err := r.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	const want = `tuesday.rec: 2026-03-03T14:00:00Z to 2026-03-03T14:01:00Z, 9 changes, 1 of them not taken
2 placements compared: 1 match (50.0 %), 1 differ, 0 are pending
1 of those that differ were ties: the recorded node had the same total, and the scheduler picked one at random
1 recorded nodes were not in the simulated cluster
2026-03-03T14:00:02Z  different    default/db  recorded n1, simulated n2: n2 was chosen.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// An attempt that preempts is published again when its victims have been evicted, and the
// pod may have a later attempt by then.
func TestAnEarlierAttemptDoesNotReplaceALaterOne(t *testing.T) {
	c := newComparison()
	e := c.add(Change{Name: "p"}, "p")
	attempt := func(n int, message string) *result.Cycle {
		return &result.Cycle{Summary: result.Summary{Pod: result.Pod{UID: "p"}, Attempt: n, Message: message, Outcome: result.Unschedulable}}
	}
	c.note(attempt(1, "preempting"))
	c.note(attempt(2, "still waiting"))
	c.note(attempt(1, "preempting"))
	if e.Attempt != 2 || e.message != "still waiting" {
		t.Errorf("attempt %d: %s", e.Attempt, e.message)
	}
}

func TestOnlyAllDecisionsAreAHundredPercent(t *testing.T) {
	for _, tc := range []struct {
		part, of int
		want     string
	}{{0, 0, "none"}, {0, 9, "0 %"}, {1, 9999, "0.1 %"}, {29, 34, "85.3 %"}, {9999, 10000, "99.9 %"}, {7, 7, "100 %"}} {
		if got := share(tc.part, tc.of); got != tc.want {
			t.Errorf("%d of %d: %s, want %s", tc.part, tc.of, got, tc.want)
		}
	}
}
