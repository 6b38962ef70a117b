package replay

import (
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
)

// why says why a decision is what it is. It is pure: everything in it is in d, in the cycle that d
// speaks of (nil when none is kept), or in the message of its summary.
func why(d Decision, c *result.Cycle, message string) explain.Operands {
	instead := explain.Instead{Selected: d.SimulatedNode, Node: d.RecordedNode}
	switch by := d.RecordedNodeRejectedBy; {
	case d.Outcome == Matching:
		return explain.SameNode{Node: d.RecordedNode}
	case d.Outcome == NotCompared && d.SimulatedNode != "":
		return explain.NotRecorded{Selected: d.SimulatedNode}
	case d.Outcome == NotCompared:
		return explain.NotRecorded{Message: message}
	case d.Attempt == 0:
		return explain.NotAttempted{Node: d.RecordedNode}
	case d.RecordedNodeMissing:
		return explain.NodeMissing{Instead: instead}
	case by != nil:
		return explain.NodeRejected{Instead: instead, Plugin: by.Plugin, Reasons: append([]string{}, by.Reasons...)}
	case c == nil:
		return explain.CycleNotKept{Instead: instead}
	case d.Tie:
		return explain.SameTotal{Instead: instead, Total: *d.RecordedNodeTotal}
	case d.RecordedNodeTotal != nil:
		s := explain.OtherTotal{Instead: instead, SelectedTotal: *d.SelectedNodeTotal, Total: *d.RecordedNodeTotal}
		if d.Most != nil {
			s.Plugin, s.SelectedScore, s.Score = d.Most.Plugin, d.Most.Selected, d.Most.Recorded
		}
		return s
	case !d.RecordedNodeEvaluated:
		return explain.NodeLeftOut(c, instead)
	case d.Outcome == Pending:
		return explain.NodeFits{Node: d.RecordedNode, Message: message}
	}
	return explain.NodeNotScored{Instead: instead}
}
