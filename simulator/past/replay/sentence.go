package replay

import (
	"fmt"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// sentence says why a decision is what it is. It is pure: everything in it is in d,
// in the cycle that d speaks of (nil when none is kept), or in the message of its
// summary.
func sentence(d Decision, c *result.Cycle, message string) string {
	switch d.Outcome {
	case Matching:
		return fmt.Sprintf("Both schedulers chose %s.", d.RecordedNode)
	case NotCompared:
		if d.SimulatedNode != "" {
			return fmt.Sprintf("The recording ends before the pod was scheduled; the simulated scheduler chose %s.", d.SimulatedNode)
		}
		return strings.TrimSpace("The recording ends before the pod was scheduled, and the simulated scheduler has not found a node either. " + message)
	}
	simulated := d.SimulatedNode + " was chosen"
	if d.Outcome == Pending {
		simulated = "no node was found"
	}
	switch {
	case d.Attempt == 0:
		return fmt.Sprintf("The simulated scheduler has not tried the pod; in the recording it was scheduled to %s.", d.RecordedNode)
	case d.RecordedNodeMissing:
		return fmt.Sprintf("%s: %s is not in the simulated cluster.", capital(simulated), d.RecordedNode)
	case d.RecordedNodeRejectedBy != nil:
		return fmt.Sprintf("%s: %s rejected %s%s.", capital(simulated), d.RecordedNodeRejectedBy.Plugin, d.RecordedNode, reasonsOf(d.RecordedNodeRejectedBy))
	case c == nil:
		return fmt.Sprintf("%s; the record of the cycle is no longer kept.", capital(simulated))
	case d.Tie:
		return fmt.Sprintf("%s; %s had the same total, %d.", capital(simulated), d.RecordedNode, *d.RecordedNodeTotal)
	case d.RecordedNodeTotal != nil:
		return scored(d, simulated)
	case !d.RecordedNodeEvaluated:
		return fmt.Sprintf("%s: %s was not evaluated, %s.", capital(simulated), d.RecordedNode, stopped(c))
	case d.Outcome == Pending:
		return strings.TrimSpace(fmt.Sprintf("No node was found although %s passed every filter. %s", d.RecordedNode, message))
	}
	return fmt.Sprintf("%s; %s was feasible and not scored.", capital(simulated), d.RecordedNode)
}

// stopped says why nodes were not evaluated.
func stopped(c *result.Cycle) string {
	switch {
	case c.Hint != nil && c.Hint.Used:
		return "because opportunistic batching proposed the node that was chosen"
	case c.Nomination != nil && c.Nomination.Used:
		return "because the scheduler tried the nominated node first, and it fits"
	case c.Nodes.Wanted == 1 && c.Nodes.Evaluated < c.Nodes.Total:
		return fmt.Sprintf("because the search stops at the first feasible node and had evaluated %d of %d", c.Nodes.Evaluated, c.Nodes.Total)
	case c.Nodes.Wanted > 0 && c.Nodes.Evaluated < c.Nodes.Total:
		return fmt.Sprintf("because the search stops at %d feasible nodes and had evaluated %d of %d", c.Nodes.Wanted, c.Nodes.Evaluated, c.Nodes.Total)
	}
	return "because the search did not reach it"
}

func scored(d Decision, simulated string) string {
	text := fmt.Sprintf("%s with a total of %d; %s had %d", capital(simulated), *d.SelectedNodeTotal, d.RecordedNode, *d.RecordedNodeTotal)
	if d.Most == nil {
		return text + "."
	}
	return fmt.Sprintf("%s. %s made the largest difference: %d against %d.", text, d.Most.Plugin, d.Most.Selected, d.Most.Recorded)
}

func reasonsOf(r *Rejection) string {
	if len(r.Reasons) == 0 || strings.Join(r.Reasons, "") == "" {
		return ""
	}
	return " (" + strings.Join(r.Reasons, ", ") + ")"
}

// capital begins a sentence. A node's name stays as it is.
func capital(s string) string {
	if rest, ok := strings.CutPrefix(s, "no "); ok {
		return "No " + rest
	}
	return s
}
