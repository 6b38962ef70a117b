package explain

import (
	"testing"
	"time"

	"kube-scheduler-simulator/scheduler/result"
)

func sentencesAboutCoscheduling() []spoken {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	short := 1.5
	long := 60.0
	ended := func(w result.PermitWait) *result.PermitWait {
		w.Plugins, w.Plugin, w.Status = []string{result.Coscheduling}, result.Coscheduling, "Unschedulable"
		if w.DurationSeconds == nil {
			w.DurationSeconds = &short
		}
		return &w
	}
	waiting := []result.PluginResult{{Plugin: result.Coscheduling, Status: "Wait"}}
	rejected := result.NewFilterBuilder([]string{"NodeResourcesFit"}, 1)
	rejected.Add("n1", "R", "NodeResourcesFit", []string{"Insufficient cpu"})
	found := result.NewFilterBuilder([]string{"NodeResourcesFit"}, 1)
	found.Add("n1", "P", "", nil)
	var out []spoken
	for _, tc := range []struct {
		name  string
		cycle result.Cycle
		// facts are keys and values, in addition to the group and the 4 members that it needs.
		facts []string
		want  string
	}{
		{
			"too few pods", result.Cycle{}, []string{result.GroupRefusal, result.RefusedMembers, result.GroupMembers, "2"},
			"train-1 was rejected before any node was checked: its pod group team/train needs 4 pods and has only 2.",
		}, {
			"gates", result.Cycle{}, []string{result.GroupRefusal, result.RefusedGates, result.GroupMembers, "5", result.GroupGated, "2"},
			"train-1 was rejected before any node was checked: its pod group team/train needs 4 pods, and 2 of its 5 have scheduling gates.",
		}, {
			"backoff", result.Cycle{}, []string{result.GroupRefusal, result.RefusedBackoff, result.GroupBackoffUntil, "2026-03-01T12:00:05Z"},
			"train-1 was rejected before any node was checked: its pod group team/train failed recently and is in backoff for another 5 s.",
		}, {
			"a resource gap", result.Cycle{}, []string{result.GroupRefusal, result.RefusedResources, result.GroupLacking, "cpu 2, memory 1Gi"},
			"train-1 was rejected before any node was checked: for its pod group team/train, all nodes together lack cpu 2, memory 1Gi.",
		}, {
			"no group", result.Cycle{Summary: result.Summary{SelectedNode: "n1"}, Filter: found.Filter()}, []string{result.GroupRefusal, result.RefusedNoGroup},
			"train-1 was assigned to n1 and then rejected: its pod group team/train does not exist.",
		}, {
			"waiting", result.Cycle{Summary: result.Summary{SelectedNode: "n1", Outcome: result.Waiting}, Filter: found.Filter(), Permit: waiting}, []string{result.GroupAssigned, "2"},
			"train-1 was assigned to n1 and waits: its pod group team/train needs 2 more members, and has places for 2 of 4.",
		}, {
			"a member fits nowhere", result.Cycle{Summary: result.Summary{SelectedNode: "n1"}, Filter: found.Filter(), PermitWait: ended(result.PermitWait{})},
			[]string{result.GroupAssigned, "2", result.GroupCause, "team/train-4", result.GroupCauseStage, result.CauseUnschedulable},
			"train-1 was assigned to n1 and lost its place: team/train-4 of its pod group team/train fits no node, so the members that waited were sent back.",
		}, {
			"a member lost its place", result.Cycle{Summary: result.Summary{SelectedNode: "n1"}, Filter: found.Filter(), PermitWait: ended(result.PermitWait{})},
			[]string{result.GroupAssigned, "2", result.GroupCause, "team/train-4", result.GroupCauseStage, result.CauseReleased},
			"train-1 was assigned to n1 and lost its place: team/train-4 of its pod group team/train lost its own, so the members that waited were sent back.",
		}, {
			"timeout", result.Cycle{Summary: result.Summary{SelectedNode: "n1"}, Filter: found.Filter(), PermitWait: ended(result.PermitWait{TimedOut: true, DurationSeconds: &long})},
			[]string{result.GroupAssigned, "2"},
			"train-1 was assigned to n1, but Coscheduling did not allow it within 60 s. When it began to wait, its pod group team/train had places for 2 of the 4 members that it needs.",
		}, {
			"others are sent back", result.Cycle{Filter: rejected.Filter()}, []string{result.GroupAssigned, "3", result.GroupSentBackCount, "3"},
			"train-1 fits no node: 1 node rejected, 1 by NodeResourcesFit. Its pod group team/train has places for 3 of the 4 members that it needs, so Coscheduling sent 3 waiting members back.",
		}, {
			"others wait on", result.Cycle{Filter: rejected.Filter()}, []string{result.GroupAssigned, "3", result.GroupTolerated, "true"},
			"train-1 fits no node: 1 node rejected, 1 by NodeResourcesFit. Its pod group team/train has places for 3 of the 4 members that it needs, which is close enough for Coscheduling to let them wait.",
		}, {
			"complete", result.Cycle{Summary: result.Summary{SelectedNode: "n1", Outcome: result.Scheduled}, Filter: found.Filter()}, []string{result.GroupAssigned, "2", result.GroupPlaced, "4"},
			"train-1 runs on n1: the only feasible node of 1 evaluated. Its pod group team/train needs 4 members and has places for 4.",
		},
	} {
		c := tc.cycle
		c.Pod, c.StartTime, c.Nodes = result.Pod{Namespace: "team", Name: "train-1"}, start, result.NodeCounts{Total: 1, Evaluated: 1, Wanted: 1}
		if c.Outcome == "" {
			c.Outcome = result.Unschedulable
		}
		facts := append([]string{result.GroupKey, "team/train", result.GroupMinMember, "4"}, tc.facts...)
		for i := 0; i < len(facts); i += 2 {
			c.Facts = append(c.Facts, result.Fact{Plugin: result.Coscheduling, Key: facts[i], Value: facts[i+1]})
		}
		out = append(out, spoken{"coscheduling: " + tc.name, c, tc.want})
	}
	return out
}

// The facts of Coscheduling make sentences.
func TestCoscheduling(t *testing.T) {
	for _, tc := range sentencesAboutCoscheduling() {
		t.Run(tc.name, func(t *testing.T) {
			if got := Cycle(&tc.cycle).Sentence; got != tc.want {
				t.Errorf("\n%s, want\n%s", got, tc.want)
			}
		})
	}
}
