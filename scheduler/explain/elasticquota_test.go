package explain

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
)

func sentencesAboutQuotas() []spoken {
	rejected := []result.PluginResult{{Plugin: result.CapacityScheduling, Status: "Unschedulable", Reasons: []string{"more than Max"}}}
	found := result.NewFilterBuilder([]string{"NodeResourcesFit"}, 1)
	found.Add("n1", "P", "", nil)
	amounts := func(used, nominated, requested, least, most int64) string {
		a := result.QuotaAmounts{Used: used, Nominated: nominated, Requested: requested, Min: least}
		if most >= 0 {
			a.Max = ptr.To(most)
		}
		return a.String()
	}
	victims := &result.Preemption{Chosen: "n1", Candidates: []result.Candidate{{Node: "n1", Victims: []result.Victim{{}}}}}
	nobody := &result.Preemption{Unhelpful: []result.UnhelpfulNodes{
		{Why: result.NobodyMay, Status: "UnschedulableAndUnresolvable", Nodes: []string{"n1", "n2"}},
		{Why: result.NotEnough, Status: "Unschedulable", Plugin: "NodeResourcesFit", Nodes: []string{"n3"}},
	}}
	var out []spoken
	for _, tc := range []struct {
		name  string
		cycle result.Cycle
		facts []string // keys and values
		want  string
	}{
		{
			"above its max", result.Cycle{PreFilter: rejected, Preemption: nobody},
			[]string{result.QuotaExceeded, result.ExceededMax, result.QuotaTakes, result.TakesOwn, "own cpu", amounts(4000, 1000, 2000, 4000, 6000), "own memory", amounts(0, 0, 1<<30, 0, 1<<31)},
			"web was rejected before any node was checked: it would take team-a above the max of its quota (cpu: 4 used + 1 nominated + 2 requested > 6). " +
				"With the pod, team-a would be above its min, so the pod may only take from less important pods of team-a. On 2 nodes, no pod runs that it may take from.",
		}, {
			"two resources above the max", result.Cycle{PreFilter: rejected},
			[]string{result.QuotaExceeded, result.ExceededMax, result.QuotaTakes, result.TakesBorrowed, "own cpu", amounts(0, 0, 2000, 4000, 1000), "own memory", amounts(0, 0, 1<<30, 1<<30, 0)},
			"web was rejected before any node was checked: it would take team-a above the max of its quota (cpu: 0 used + 2 requested > 1, memory: 0 B used + 1 Gi requested > 0 B). " +
				"The min of team-a covers the pod, so it may take back what other namespaces borrow.",
		}, {
			"others have borrowed", result.Cycle{Summary: result.Summary{NominatedNode: "n1"}, PreFilter: rejected, Preemption: victims},
			[]string{
				result.QuotaExceeded, result.ExceededTotal, result.QuotaTakes, result.TakesBorrowed, "own cpu", amounts(2000, 0, 2000, 4000, 6000), "all cpu", amounts(8000, 0, 2000, 8000, -1),
				"namespace team-b cpu", amounts(6000, 0, 0, 4000, 6000), "namespace team-c cpu", amounts(0, 0, 0, 0, -1),
			},
			"web was rejected before any node was checked: it would take all quotas together above the sum of their mins (cpu: 8 used + 2 requested > 8). " +
				"Above their mins, namespaces borrow: team-b 2 cpu. The min of team-a covers the pod, so it may take back what other namespaces borrow. Preemption makes room on n1 by removing 1 pod.",
		}, {
			"nominated pods keep it above the max", result.Cycle{Summary: result.Summary{NominatedNode: "n1"}, PreFilter: rejected, Preemption: victims},
			[]string{result.QuotaExceeded, result.ExceededMax, result.QuotaTakes, result.TakesOwn, "own cpu", amounts(1000, 6000, 2000, 4000, 6000), "n1/" + result.QuotaStays, "true"},
			"web was rejected before any node was checked: it would take team-a above the max of its quota (cpu: 1 used + 6 nominated + 2 requested > 6). " +
				"With the pod, team-a would be above its min, so the pod may only take from less important pods of team-a. " +
				"Preemption removes 1 pod from n1, but CapacityScheduling still rejects the pod there: in a dry run, it counts differently.",
		}, {
			"nobody has borrowed", result.Cycle{PreFilter: rejected},
			[]string{result.QuotaExceeded, result.ExceededTotal, result.QuotaTakes, result.TakesOwn, "own example.com/gpu", amounts(0, 0, 1, 0, -1), "all example.com/gpu", amounts(0, 0, 1, 0, -1)},
			"web was rejected before any node was checked: it would take all quotas together above the sum of their mins (example.com/gpu: 0 used + 1 requested > 0). " +
				"With the pod, team-a would be above its min, so the pod may only take from less important pods of team-a.",
		}, {
			"another plugin rejected it too", result.Cycle{PreFilter: append([]result.PluginResult{{Plugin: "NodeAffinity", Status: "Unschedulable", Reasons: []string{"no"}}}, rejected...)},
			[]string{result.QuotaExceeded, result.ExceededMax},
			"web was rejected by NodeAffinity, CapacityScheduling before any node was checked: no, more than Max",
		}, {
			"it borrows", result.Cycle{Summary: result.Summary{SelectedNode: "n1", Outcome: result.Scheduled}, Filter: found.Filter()},
			[]string{"own cpu", amounts(4000, 0, 1500, 4000, 6000), "own memory", amounts(0, 0, 1<<30, 1<<30, -1), "own example.com/gpu", amounts(3, 0, 0, 1, -1)},
			"web runs on n1: the only feasible node of 1 evaluated. With it, team-a is above its min and borrows 1.5 cpu.",
		}, {
			"it is within its min", result.Cycle{Summary: result.Summary{SelectedNode: "n1", Outcome: result.Scheduled}, Filter: found.Filter()},
			[]string{result.QuotaName, "team-a", "own cpu", amounts(0, 0, 1500, 4000, 6000)},
			"web runs on n1: the only feasible node of 1 evaluated.",
		},
	} {
		c := tc.cycle
		c.Pod, c.Nodes = result.Pod{Namespace: "team-a", Name: "web"}, result.NodeCounts{Total: 3, Evaluated: 1, Wanted: 1}
		if c.Filter == nil {
			c.Nodes.Evaluated = 0
		} else {
			c.Nodes.Total = 1
		}
		if c.Outcome == "" {
			c.Outcome = result.Unschedulable
		} else {
			c.Nodes.Feasible = 1
		}
		for i := 0; i < len(tc.facts); i += 2 {
			f := result.Fact{Plugin: result.CapacityScheduling, Key: tc.facts[i], Value: tc.facts[i+1]}
			if node, key, ofNode := strings.Cut(f.Key, "/"); ofNode && !strings.Contains(node, ".") {
				f.Node, f.Key = node, key
			}
			c.Facts = append(c.Facts, f)
		}
		out = append(out, spoken{"quota: " + tc.name, c, tc.want})
	}
	return out
}

func TestSentencesAboutQuotas(t *testing.T) {
	for _, tc := range sentencesAboutQuotas() {
		if got := Cycle(&tc.cycle).Sentence; got != tc.want {
			t.Errorf("%s:\n%s, want\n%s", tc.name, got, tc.want)
		}
	}
}
