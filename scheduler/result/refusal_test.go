package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindRefusal(t *testing.T) {
	filter := func() *Filter {
		b := NewFilterBuilder([]string{"TaintToleration", "NodeResourcesFit"}, 0)
		b.Add("a", "RN", "TaintToleration", []string{"untolerated"})
		b.Add("b", "PR", "NodeResourcesFit", []string{"Insufficient cpu", "Insufficient memory"})
		b.Add("c", "PR", "NodeResourcesFit", []string{"Insufficient cpu"})
		b.Add("d", "PP", "", nil)
		return b.Filter()
	}
	failed := NewFilterBuilder([]string{"VolumeBinding"}, 0)
	failed.Add("a", "E", "VolumeBinding", []string{"the lister is gone"})
	const extender = "http://127.0.0.1:8888"
	for name, test := range map[string]struct {
		cycle Cycle
		want  *Refusal
	}{
		"a scheduled pod has none": {
			Cycle{Summary: Summary{Outcome: Scheduled, SelectedNode: "d"}, Filter: filter()}, nil,
		},
		"the reason that most nodes share": {
			Cycle{Summary: Summary{Outcome: Unschedulable}, Filter: filter()},
			&Refusal{ExtensionPoint: "filter", Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Nodes: 2, Others: 2, Further: []FurtherReason{
				{Plugin: "NodeResourcesFit", Reason: "Insufficient memory", Nodes: 1}, {Plugin: "TaintToleration", Reason: "untolerated", Nodes: 1},
			}},
		},
		"a flow that leaves the pod out, though a node fits": {
			Cycle{Summary: Summary{Outcome: Unschedulable}, Filter: filter(), Permit: []PluginResult{{Plugin: "flow", Status: "Unschedulable", Reasons: []string{"every path costs more"}}}},
			&Refusal{ExtensionPoint: "permit", Plugin: "flow", Reason: "every path costs more"},
		},
		"an extender's counts as well, even without a reason": {
			Cycle{Summary: Summary{Outcome: Unschedulable}, Filter: filter(), Extenders: []ExtenderCall{{
				Plugin: extender, Verb: ExtenderFilter, Status: "Success",
				Rejected: &ExtenderRejections{Nodes: []string{"d", "e", "f"}, Reasons: []ExtenderReason{{}}, ReasonOf: []uint16{0, 0, 0}},
			}}},
			&Refusal{ExtensionPoint: "filter", Plugin: extender, Nodes: 3, Others: 3, Further: []FurtherReason{
				{Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Nodes: 2}, {Plugin: "NodeResourcesFit", Reason: "Insufficient memory", Nodes: 1},
				{Plugin: "TaintToleration", Reason: "untolerated", Nodes: 1},
			}},
		},
		"before any node": {
			Cycle{Summary: Summary{Outcome: Unschedulable}, PreFilter: []PluginResult{{Plugin: "NodePorts", Status: "Skip"}, {Plugin: "VolumeBinding", Status: "UnschedulableAndUnresolvable", Reasons: []string{"no claim"}}}},
			&Refusal{ExtensionPoint: "preFilter", Plugin: "VolumeBinding", Reason: "no claim"},
		},
		"after a node was chosen": {
			Cycle{Summary: Summary{Outcome: Unschedulable, SelectedNode: "d"}, Filter: filter(), Permit: []PluginResult{{Plugin: "Quota", Status: "Unschedulable", Reasons: []string{"used up"}}}},
			&Refusal{ExtensionPoint: "permit", Plugin: "Quota", Reason: "used up"},
		},
		"the plugin that holds a waiting pod": {
			Cycle{Summary: Summary{Outcome: Waiting, SelectedNode: "d"}, Filter: filter(), Permit: []PluginResult{{Plugin: "Free", Status: "Success"}, {Plugin: "Gang", Status: "Wait"}}},
			&Refusal{ExtensionPoint: "permit", Plugin: "Gang"},
		},
		"a plugin that rejected the pod while it waited": {
			Cycle{
				Summary: Summary{Outcome: Unschedulable, SelectedNode: "d"}, Filter: filter(), Permit: []PluginResult{{Plugin: "Gang", Status: "Wait"}},
				PermitWait: &PermitWait{Plugins: []string{"Gang"}, Status: "Unschedulable", Plugin: "Gang", TimedOut: true, Reasons: []string{"timed out"}},
			},
			&Refusal{ExtensionPoint: "permit", Plugin: "Gang", Reason: "timed out"},
		},
		"a plugin's error in PreBindPreFlight": {
			Cycle{Summary: Summary{Outcome: Error, SelectedNode: "d"}, Filter: filter(), PreBindPreFlight: []PluginResult{{Plugin: "VolumeBinding", Status: "Error", Reasons: []string{"no lister"}}}},
			&Refusal{ExtensionPoint: "preBindPreFlight", Plugin: "VolumeBinding", Reason: "no lister"},
		},
		"a plugin's error": {
			Cycle{Summary: Summary{Outcome: Error, SelectedNode: "d"}, Filter: filter(), PreBind: []PluginResult{{Plugin: "VolumeBinding", Status: "Error", Reasons: []string{"deadline exceeded"}}}},
			&Refusal{ExtensionPoint: "preBind", Plugin: "VolumeBinding", Reason: "deadline exceeded"},
		},
		"a plugin's error about a node": {
			Cycle{Summary: Summary{Outcome: Error}, Filter: failed.Filter()},
			&Refusal{ExtensionPoint: "filter", Plugin: "VolumeBinding", Reason: "the lister is gone", Nodes: 1},
		},
		"an extender's error, unless it was ignored": {
			Cycle{Summary: Summary{Outcome: Error}, Extenders: []ExtenderCall{
				{Plugin: "http://ignored", Verb: ExtenderFilter, Status: "Error", Ignored: true},
				{Plugin: extender, Verb: ExtenderBind, Status: "Error", Reasons: []string{"connection refused"}},
			}},
			&Refusal{ExtensionPoint: "bind", Plugin: extender, Reason: "connection refused"},
		},
		"no single plugin": {
			Cycle{Summary: Summary{Outcome: Unschedulable, Message: "no nodes available"}}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, FindRefusal(&test.cycle)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
