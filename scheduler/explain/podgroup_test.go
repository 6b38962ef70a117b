package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

func sentencesAboutPodGroups() []spoken {
	first, second := 0, 1
	total, less := int64(139), int64(117)
	fits := result.Placement{Name: "r5", Nodes: 2, Tried: 3, Assigned: 3, Status: "Success", Total: &total}
	fitsLess := result.Placement{Name: "r4", Nodes: 2, Tried: 3, Assigned: 2, Status: "Success", Total: &less}
	full := result.Placement{
		Nodes: 4, Tried: 6, Assigned: 3, Status: "Unschedulable", Plugin: "GangScheduling", Reasons: []string{"minCount (4) cannot be satisfied"},
		BlockedBy: []result.Block{{Plugin: "NodeResourcesFit", Members: 3, Reasons: []string{"Insufficient cpu"}}},
	}
	gang := func(outcome result.Outcome, placements ...result.Placement) *result.PodGroup {
		return &result.PodGroup{
			Name: "train", MinCount: 4, MemberCount: 6, Outcome: outcome, Placements: placements, PlacementCount: len(placements), Placement: &first,
		}
	}
	racks := gang(result.Scheduled, fitsLess, fits)
	racks.TopologyKey, racks.Placement, racks.MinCount, racks.MemberCount = "rack", &second, 2, 3
	untried := gang(result.Unschedulable, full)
	untried.Placement = nil
	nowhere := gang(result.Unschedulable, result.Placement{Status: "Unschedulable", Plugin: "TopologyPlacementGenerator", Reasons: []string{"no feasible placements found"}})
	nowhere.Placement = nil
	preempting := gang(result.Unschedulable, full)
	preempting.PostFilter = []result.PluginResult{{Plugin: "DefaultPreemption", Status: "Success"}}
	removing := gang(result.Unschedulable, full)
	removing.PostFilter = preempting.PostFilter
	removing.Preemption = &result.GroupPreemption{Helpful: true, VictimCount: 2, ReprievedCount: 1}
	sparing := gang(result.Unschedulable, full)
	sparing.PostFilter = preempting.PostFilter
	sparing.Preemption = &result.GroupPreemption{Helpful: true, ReprievedCount: 1}
	hopeless := gang(result.Unschedulable, full)
	hopeless.PostFilter = []result.PluginResult{{Plugin: "DefaultPreemption", Status: "Unschedulable"}}
	hopeless.Preemption = &result.GroupPreemption{ReprievedCount: 3}
	beyond := gang(result.Unschedulable, result.Placement{Tried: 1, Status: "Success"})
	beyond.AlreadyScheduled = 5

	rejected := result.NewFilterBuilder([]string{"NodeResourcesFit"}, 1)
	rejected.Add("n1", "R", "NodeResourcesFit", []string{"Insufficient cpu"})

	anywhere := gang(result.Scheduled, result.Placement{Nodes: 4, Tried: 2, Assigned: 2, Status: "Success"})
	anywhere.MinCount, anywhere.MemberCount = 0, 2
	lonely := gang(result.Scheduled, fits)
	lonely.TopologyKey, lonely.MinCount, lonely.MemberCount = "rack", 2, 3
	basic := gang(result.Unschedulable, result.Placement{Name: "r1", Nodes: 2, Tried: 2, Status: "Unschedulable"})
	basic.TopologyKey, basic.MinCount = "rack", 0

	var out []spoken
	for _, tc := range []struct {
		name     string
		group    *result.PodGroup
		selected string
		outcome  result.Outcome
		filter   *result.Filter
		want     string
	}{
		{
			"placed with its group",
			racks, "n1", result.Scheduled, nil,
			"web runs on n1: the only feasible node of 1 evaluated. Its pod group train has nodes for 3 of 3 members, and needs 2, in rack=r5: total 139, the best of 2 placements that fit, of 2.",
		},
		{
			"had a place, the group has not",
			gang(result.Unschedulable, full), "n1", result.Unschedulable, nil,
			"web was assigned to n1, but its pod group train needs 4 members, and nodes were found for only 3; nodes were rejected by NodeResourcesFit for 3 members (Insufficient cpu).",
		},
		{
			"found none, and so the group",
			gang(result.Unschedulable, full), "", result.Unschedulable, rejected.Filter(),
			"web fits no node: 1 node rejected, 1 by NodeResourcesFit. No member proceeds: its pod group train needs 4 members, and nodes were found for only 3; nodes were rejected by NodeResourcesFit for 3 members (Insufficient cpu).",
		},
		{
			"not tried any more",
			untried, "", result.Unschedulable, nil,
			"web was not tried, because its pod group train needs 4 members, and nodes were found for only 3; nodes were rejected by NodeResourcesFit for 3 members (Insufficient cpu).",
		},
		{
			"no placement",
			nowhere, "", result.Unschedulable, nil,
			"web was not tried: its pod group train was rejected before any member was tried: no feasible placements found.",
		},
		{
			"room is made",
			preempting, "n1", result.Unschedulable, nil,
			"web was assigned to n1, but its pod group train needs 4 members, and nodes were found for only 3; nodes were rejected by NodeResourcesFit for 3 members (Insufficient cpu). DefaultPreemption makes room for the group.",
		},
		{
			"room is made by removing pods",
			removing, "n1", result.Unschedulable, nil,
			"web was assigned to n1, but its pod group train needs 4 members, and nodes were found for only 3; nodes were rejected by NodeResourcesFit for 3 members (Insufficient cpu). DefaultPreemption makes room for the group by removing 2 pods.",
		},
		{
			"no pod has to go", sparing, "n1", result.Unschedulable, nil,
			"web was assigned to n1, but its pod group train needs 4 members, and nodes were found for only 3; nodes were rejected by NodeResourcesFit for 3 members (Insufficient cpu). In its dry run, DefaultPreemption found nodes for the group without removing a pod.",
		},
		{
			"no room could be made",
			hopeless, "n1", result.Unschedulable, nil,
			"web was assigned to n1, but its pod group train needs 4 members, and nodes were found for only 3; nodes were rejected by NodeResourcesFit for 3 members (Insufficient cpu). It would not fit even without 3 pods of lower priority.",
		},
		{
			"more than it needs",
			beyond, "", result.Unschedulable, rejected.Filter(),
			"web fits no node: 1 node rejected, 1 by NodeResourcesFit. Its pod group train needs 4 members and has 5 already.",
		},
		{
			"anywhere", anywhere, "n1", result.Scheduled, nil,
			"web runs on n1: the only feasible node of 1 evaluated. Its pod group train has nodes for 2 of 2 members.",
		},
		{
			"the only placement that fits", lonely, "n1", result.Scheduled, nil,
			"web runs on n1: the only feasible node of 1 evaluated. Its pod group train has nodes for 3 of 3 members, and needs 2, in rack=r5, the only one of 1 placement that fits.",
		},
		{
			"no gang, in one rack", basic, "", result.Unschedulable, rejected.Filter(),
			"web fits no node: 1 node rejected, 1 by NodeResourcesFit. No member proceeds: no node was found for any member of its pod group train in rack=r1, the best of 1 placement.",
		},
	} {
		out = append(out, spoken{"group: " + tc.name, result.Cycle{PodGroup: tc.group, Filter: tc.filter, Summary: result.Summary{
			Pod: result.Pod{Name: "web"}, Outcome: tc.outcome, SelectedNode: tc.selected, Message: "why",
			Nodes: result.NodeCounts{Total: 1, Evaluated: 1, Wanted: 1},
		}}, tc.want})
	}
	return out
}

// A pod's sentence also says what happened to its group.
func TestPodGroups(t *testing.T) {
	for _, tc := range sentencesAboutPodGroups() {
		t.Run(tc.name, func(t *testing.T) {
			if got := Cycle(&tc.cycle).Sentence; got != tc.want {
				t.Errorf("\n%s, want\n%s", got, tc.want)
			}
		})
	}
}

// Nodes outside the placement are not evaluated for that reason.
func TestNodesOutsideThePlacement(t *testing.T) {
	at := 0
	c := &result.Cycle{
		PodGroup: &result.PodGroup{Name: "train", Placements: []result.Placement{{Name: "r1", Nodes: 2}}, Placement: &at},
		Summary:  result.Summary{Outcome: result.Unschedulable, Nodes: result.NodeCounts{Total: 5, Evaluated: 2, Wanted: 2}},
	}
	if diff := cmp.Diff(&NotEvaluated{Nodes: 3, Why: OutsidePlacement}, Cycle(c).NotEvaluated); diff != "" {
		t.Error(diff)
	}
}
