package shadow

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

// row is a node of a decision: the plugin that rejects it, or its weighted scores by Fit and
// Spread.
type row struct {
	node       string
	rejectedBy string
	scores     []int64
}

// decision returns a cycle of the plugins Fit and Spread.
func decision(selected string, rows ...row) *result.Cycle {
	c := &result.Cycle{Summary: result.Summary{SelectedNode: selected}}
	filter := result.NewFilterBuilder([]string{"Fit", "Spread"}, len(rows))
	score := &result.Score{Plugins: []result.ScorePlugin{{Name: "Fit", Weight: 1}, {Name: "Spread", Weight: 2}}}
	var scored []string
	var fit, spread, totals []int64
	for _, r := range rows {
		switch r.rejectedBy {
		case "":
			filter.Add(r.node, "PP", "", nil)
		case "Fit":
			filter.Add(r.node, "RN", "Fit", []string{"Insufficient cpu"})
		default:
			filter.Add(r.node, "PR", r.rejectedBy, []string{"skew"})
		}
		if r.scores != nil {
			scored = append(scored, r.node)
			fit, spread, totals = append(fit, r.scores[0]), append(spread, r.scores[1]), append(totals, r.scores[0]+r.scores[1])
		}
	}
	c.Filter = filter.Filter()
	if len(scored) > 0 {
		score.Nodes = result.NewNodeList(scored...)
		score.Weighted, score.Totals = []result.Column{result.NewColumn(fit), result.NewColumn(spread)}, result.NewColumn(totals)
		c.Score = score
	}
	return c
}

func total(n int64) *int64 { return &n }

func TestCompare(t *testing.T) {
	fits := func(node string, fit, spread int64) row { return row{node: node, scores: []int64{fit, spread}} }
	only := func(node string) row { return row{node: node} } // the only feasible node is not scored
	rejects := func(node, plugin string) row { return row{node: node, rejectedBy: plugin} }
	refusedByExtender := func(c *result.Cycle, node string, scores ...int64) *result.Cycle {
		var rejected result.ExtenderRejectionsBuilder
		rejected.Add(node, result.ExtenderReason{Reason: "no licence"})
		nodes, _ := rejected.Rejections()
		c.Extenders = []result.ExtenderCall{{Plugin: "http://e", Verb: result.ExtenderFilter, Rejected: nodes}}
		return c
	}
	scoredByExtender := func(c *result.Cycle, counted ...int64) *result.Cycle {
		totals := make([]int64, len(counted))
		for i := range counted {
			totals[i] = c.Score.Totals.At(i) + counted[i]
		}
		c.Score.Totals = result.NewColumn(totals)
		c.Score.Extenders = []result.ScoreExtender{{Name: "http://e", Counted: result.NewColumn(counted)}}
		return c
	}
	preFilter := func(message string, answers ...result.PluginResult) *result.Cycle {
		return &result.Cycle{Summary: result.Summary{Message: message}, PreFilter: answers}
	}
	for name, test := range map[string]struct {
		live, shadow *result.Cycle
		want         Comparison
	}{
		"the same node": {
			live:   decision("a", fits("a", 50, 50), fits("b", 10, 10)),
			shadow: decision("a", fits("a", 90, 50), fits("b", 10, 10)),
			want:   Comparison{Live: Place{"a", total(100)}, Shadow: Place{"a", total(140)}, Verdict: Same},
		},
		"no node in both": {
			live:   decision("", rejects("a", "Fit")),
			shadow: decision("", rejects("a", "Spread")),
			want:   Comparison{Verdict: Same},
		},
		"the same tie in both": {
			live:   decision("b", fits("a", 50, 50), fits("b", 50, 50)),
			shadow: decision("a", fits("a", 50, 50), fits("b", 50, 50)),
			want:   Comparison{Live: Place{"b", total(100)}, Shadow: Place{"b", total(100)}, Verdict: Same},
		},
		"a tie under the shadow only": {
			live:   decision("b", fits("a", 40, 50), fits("b", 50, 50)),
			shadow: decision("a", fits("a", 50, 50), fits("b", 50, 50)),
			want:   Comparison{Live: Place{"b", total(100)}, Shadow: Place{"b", total(100)}, Verdict: AsGood},
		},
		"a plugin of the shadow rejects the live node": {
			live:   decision("a", fits("a", 50, 50), fits("b", 10, 10)),
			shadow: decision("b", rejects("a", "Spread"), only("b")),
			want: Comparison{Live: Place{"a", total(100)}, Shadow: Place{Node: "b"}, Verdict: Elsewhere, Differs: true,
				PartedBy: &Parting{Plugin: "Spread", ExtensionPoint: "filter", By: Shadow, Node: "a", Reasons: []string{"skew"}}},
		},
		"the shadow rejects all nodes": {
			live:   decision("a", only("a"), rejects("b", "Fit")),
			shadow: decision("", rejects("a", "Fit"), rejects("b", "Fit")),
			want: Comparison{Live: Place{Node: "a"}, Verdict: Pending, Differs: true,
				PartedBy: &Parting{Plugin: "Fit", ExtensionPoint: "filter", By: Shadow, Node: "a", Reasons: []string{"Insufficient cpu"}}},
		},
		"the shadow rejects the pod in PreFilter": {
			live:   decision("a", only("a")),
			shadow: preFilter("no claim", result.PluginResult{Plugin: "Volumes", Status: "UnschedulableAndUnresolvable", Reasons: []string{"no claim"}}),
			want: Comparison{Live: Place{Node: "a"}, Verdict: Pending, Differs: true, Message: "no claim",
				PartedBy: &Parting{Plugin: "Volumes", ExtensionPoint: "preFilter", By: Shadow, Reasons: []string{"no claim"}}},
		},
		"the shadow rejects the pod in PreFilter, and evaluates nodes in vain": {
			live: decision("a", only("a")),
			shadow: func() *result.Cycle {
				c := decision("", only("a"), rejects("b", "Fit"))
				c.PreFilter = []result.PluginResult{{Plugin: "Volumes", Status: "Unschedulable"}}
				return c
			}(),
			want: Comparison{Live: Place{Node: "a"}, Verdict: Pending, Differs: true, PartedBy: &Parting{Plugin: "Volumes", ExtensionPoint: "preFilter", By: Shadow}},
		},
		"the shadow restricts the nodes, and evaluates others in vain": {
			live: decision("a", fits("a", 50, 50), fits("b", 10, 10)),
			shadow: func() *result.Cycle {
				c := decision("b", only("a"), only("b"))
				c.PreFilter = []result.PluginResult{{Plugin: "NodeAffinity", Status: "Success", Nodes: []string{"b"}}}
				return c
			}(),
			want: Comparison{Live: Place{"a", total(100)}, Shadow: Place{Node: "b"}, Verdict: Elsewhere, Differs: true,
				PartedBy: &Parting{Plugin: "NodeAffinity", ExtensionPoint: "preFilter", By: Shadow, Node: "a"}},
		},
		"the live scheduler rejected the shadow's node": {
			live:   decision("a", only("a"), rejects("b", "Spread")),
			shadow: decision("b", fits("a", 10, 10), fits("b", 50, 50)),
			want: Comparison{Live: Place{Node: "a"}, Shadow: Place{"b", total(100)}, Verdict: Elsewhere, Differs: true,
				PartedBy: &Parting{Plugin: "Spread", ExtensionPoint: "filter", By: Live, Node: "b", Reasons: []string{"skew"}}},
		},
		"only the shadow finds a node": {
			live:   decision("", rejects("a", "Fit"), rejects("b", "Spread")),
			shadow: decision("b", rejects("a", "Fit"), only("b")),
			want: Comparison{Shadow: Place{Node: "b"}, Verdict: Placed, Differs: true,
				PartedBy: &Parting{Plugin: "Spread", ExtensionPoint: "filter", By: Live, Node: "b", Reasons: []string{"skew"}}},
		},
		"the plugin whose balance falls most": {
			// Fit's balance falls from 10 to -20, that of Spread from 20 to 15.
			live:   decision("a", fits("a", 60, 70), fits("b", 50, 50)),
			shadow: decision("b", fits("a", 30, 65), fits("b", 50, 50)),
			want: Comparison{Live: Place{"a", total(130)}, Shadow: Place{"b", total(100)}, Verdict: Elsewhere, Differs: true,
				PartedBy: &Parting{Plugin: "Fit", ExtensionPoint: "score", By: Shadow, Node: "b", Live: []int64{60, 50}, Shadow: []int64{30, 50}}},
		},
		"a plugin that favours the shadow's node on both sides, and now more": {
			live:   decision("a", fits("a", 90, 10), fits("b", 50, 30)),
			shadow: decision("b", fits("a", 90, 10), fits("b", 50, 90)),
			want: Comparison{Live: Place{"a", total(100)}, Shadow: Place{"b", total(140)}, Verdict: Elsewhere, Differs: true,
				PartedBy: &Parting{Plugin: "Spread", ExtensionPoint: "score", By: Shadow, Node: "b", Live: []int64{10, 30}, Shadow: []int64{10, 90}}},
		},
		"nodes that the live search did not reach": {
			live:   decision("a", fits("a", 50, 50), fits("b", 10, 10)),
			shadow: decision("c", fits("a", 50, 50), fits("b", 10, 10), fits("c", 99, 99)),
			want:   Comparison{Live: Place{"a", total(100)}, Shadow: Place{"a", total(100)}, Verdict: Same},
		},
		"a node that fitted when the search had enough": {
			live:   decision("a", fits("a", 50, 50), only("c")),
			shadow: decision("c", fits("a", 50, 50), fits("c", 99, 99)),
			want:   Comparison{Live: Place{"a", total(100)}, Shadow: Place{"a", total(100)}, Verdict: Same},
		},
		"the shadow would have searched on": {
			live:   decision("a", only("a")),
			shadow: decision("c", rejects("a", "Fit"), fits("c", 50, 50), fits("d", 10, 10)),
			want: Comparison{Live: Place{Node: "a"}, Shadow: Place{"c", total(100)}, Verdict: Elsewhere, Differs: true,
				PartedBy: &Parting{Plugin: "Fit", ExtensionPoint: "filter", By: Shadow, Node: "a", Reasons: []string{"Insufficient cpu"}}},
		},
		"an extender rejected the better node": {
			live:   refusedByExtender(decision("a", only("a"), only("b")), "b"),
			shadow: decision("b", fits("a", 10, 10), fits("b", 50, 50)),
			want:   Comparison{Live: Place{Node: "a"}, Shadow: Place{"a", total(20)}, Verdict: Same},
		},
		"an extender's scores count for both": {
			live:   scoredByExtender(decision("a", fits("a", 10, 10), fits("b", 50, 50)), 500, 0),
			shadow: decision("b", fits("a", 10, 10), fits("b", 90, 50)),
			want:   Comparison{Live: Place{"a", total(520)}, Shadow: Place{"a", total(520)}, Verdict: Same},
		},
		"a live plugin restricted the nodes": {
			live: func() *result.Cycle {
				c := decision("", rejects("a", "Fit"))
				c.PreFilter = []result.PluginResult{{Plugin: "NodeAffinity", Status: "Success", Nodes: []string{"a"}}}
				return c
			}(),
			shadow: decision("b", rejects("a", "Fit"), only("b")),
			want: Comparison{Shadow: Place{Node: "b"}, Verdict: Placed, Differs: true,
				PartedBy: &Parting{Plugin: "NodeAffinity", ExtensionPoint: "preFilter", By: Live, Node: "b"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Compare(test.live, test.shadow)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
