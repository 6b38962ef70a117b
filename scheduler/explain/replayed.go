package explain

import (
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// Comparisons returns a zero value of each kind that says how a decision compares with a recorded
// one, and why.
func Comparisons() []Operands {
	return []Operands{
		SameNode{}, NotRecorded{}, NotAttempted{}, LeftOut{},
		NodeMissing{}, NodeRejected{}, CycleNotKept{}, SameTotal{}, OtherTotal{}, NodeNotEvaluated{}, NodeNotScored{}, NodeFits{},
	}
}

// SameNode: both schedulers chose the node.
type SameNode struct {
	Node string `json:"node"`
}

// NotRecorded: the recording ends before the pod was scheduled.
type NotRecorded struct {
	// Selected is empty if the simulated scheduler has found no node either; Message is then its
	// own.
	Selected string `json:"selected"`
	Message  string `json:"message"`
}

// NotAttempted: the simulated scheduler has not tried the pod.
type NotAttempted struct {
	Node string `json:"node"`
}

// LeftOut: the pod is not compared.
type LeftOut struct {
	Cause LeftOutCause `json:"cause"`
	// Message is the API server's, with NotCreated.
	Message string `json:"message"`
}

// LeftOutCause says why a pod is not compared.
type LeftOutCause string

const (
	// OthersPod: the pod is another scheduler's.
	OthersPod LeftOutCause = "otherScheduler"
	// CreatedBound: the pod was created with its node.
	CreatedBound LeftOutCause = "createdBound"
	// NotCreated: the cluster did not accept the pod.
	NotCreated LeftOutCause = "notCreated"
)

// Instead begins the operands of the kinds that say why a cycle did not take the recorded node.
type Instead struct {
	// Selected is empty if the cycle found no node.
	Selected string `json:"selected"`
	Node     string `json:"node"`
}

// NodeMissing: the simulated cluster does not have the recorded node.
type NodeMissing struct{ Instead }

// NodeRejected: a plugin or an extender rejected the recorded node, or the pod on all nodes.
type NodeRejected struct {
	Instead
	Plugin  string   `json:"plugin"`
	Reasons []string `json:"reasons"`
}

// CycleNotKept: what would say why is no longer kept.
type CycleNotKept struct{ Instead }

// SameTotal: the recorded node had the same total.
type SameTotal struct {
	Instead
	Total int64 `json:"total"`
}

// OtherTotal: the recorded node had another total.
type OtherTotal struct {
	Instead
	SelectedTotal int64 `json:"selectedTotal"`
	Total         int64 `json:"total"`
	// Plugin is the plugin or extender that made the largest difference, with what it gave both
	// nodes; empty if no one is known.
	Plugin        string `json:"plugin"`
	SelectedScore int64  `json:"selectedScore"`
	Score         int64  `json:"score"`
}

// NodeNotEvaluated: the cycle did not evaluate the recorded node.
type NodeNotEvaluated struct {
	Instead
	// Why is one of the reasons of a NotEvaluated; empty if the record does not say it.
	Why string `json:"why"`
	// Wanted, Evaluated and Total count nodes, with EnoughFound.
	Wanted    int `json:"wanted"`
	Evaluated int `json:"evaluated"`
	Total     int `json:"total"`
	// Outside counts the nodes outside the placement of the pod's group, of which the node may be
	// one, with EnoughFound.
	Outside int `json:"outside"`
	// Plugins rejected the node in PreFilter, with PreFiltered.
	Plugins []string `json:"plugins"`
	// Message is that of the error, with Failed.
	Message string `json:"message"`
}

// NodeNotScored: the recorded node was feasible, and the cycle did not score it.
type NodeNotScored struct{ Instead }

// NodeFits: the recorded node passed every filter, and the pod has no node yet.
type NodeFits struct {
	Node    string `json:"node"`
	Message string `json:"message"`
}

func (s SameNode) english() string { return sprintf("Both schedulers chose %s.", s.Node) }

func (s NotRecorded) english() string {
	if s.Selected != "" {
		return sprintf("The recording ends before the pod was scheduled; the simulated scheduler chose %s.", s.Selected)
	}
	return strings.TrimSpace("The recording ends before the pod was scheduled, and the simulated scheduler has not found a node either. " + s.Message)
}

func (s NotAttempted) english() string {
	return sprintf("The simulated scheduler has not tried the pod, which had been scheduled to %s.", s.Node)
}

func (s LeftOut) english() string {
	switch s.Cause {
	case OthersPod:
		return "The pod is another scheduler’s."
	case CreatedBound:
		return "The pod was created with its node."
	}
	return "The pod could not be created: " + s.Message
}

func (s Instead) english() string {
	if s.Selected == "" {
		return "No node was found"
	}
	return s.Selected + " was chosen"
}

func (s NodeMissing) english() string {
	return sprintf("%s: %s is not in the simulated cluster.", s.Instead.english(), s.Node)
}

func (s NodeRejected) english() string {
	if reasons := strings.Join(s.Reasons, ", "); reasons != "" {
		return sprintf("%s: %s rejected %s (%s).", s.Instead.english(), s.Plugin, s.Node, reasons)
	}
	return sprintf("%s: %s rejected %s.", s.Instead.english(), s.Plugin, s.Node)
}

func (s CycleNotKept) english() string {
	return s.Instead.english() + "; the record of the cycle is no longer kept."
}

func (s SameTotal) english() string {
	return sprintf("%s; %s had the same total, %d.", s.Instead.english(), s.Node, s.Total)
}

func (s OtherTotal) english() string {
	text := sprintf("%s with a total of %d; %s had %d.", s.Instead.english(), s.SelectedTotal, s.Node, s.Total)
	if s.Plugin == "" {
		return text
	}
	return sprintf("%s %s made the largest difference: %d against %d.", text, s.Plugin, s.SelectedScore, s.Score)
}

func (s NodeNotEvaluated) english() string {
	text := sprintf("%s: %s was not evaluated", s.Instead.english(), s.Node)
	switch s.Why {
	case HintUsed:
		return text + ", because opportunistic batching proposed the node that was chosen."
	case NominatedUsed:
		return text + ", because the scheduler tried the nominated node first, and it fits."
	case Failed:
		return text + ", because the cycle ended with an error: " + s.Message
	case PreFiltered:
		return sprintf("%s, because %s restricted the pod to other nodes.", text, strings.Join(s.Plugins, ", "))
	case OutsidePlacement:
		return text + ", because it is outside the placement in which the pod’s group was tried."
	case "":
		return text + "."
	}
	if s.Wanted == 1 {
		text += sprintf(", because the search stops at the first feasible node and had evaluated %d of %d", s.Evaluated, s.Total)
	} else {
		text += sprintf(", because the search stops at %d feasible nodes and had evaluated %d of %d", s.Wanted, s.Evaluated, s.Total)
	}
	if s.Outside > 0 {
		text += sprintf(", or because it is one of the %d outside the placement in which the pod’s group was tried", s.Outside)
	}
	return text + "."
}

func (s NodeNotScored) english() string {
	return sprintf("%s; %s was feasible and not scored.", s.Instead.english(), s.Node)
}

func (s NodeFits) english() string {
	return strings.TrimSpace(sprintf("No node was found although %s passed every filter. %s", s.Node, s.Message))
}

// NodeLeftOut says why c did not evaluate a node.
func NodeLeftOut(c *result.Cycle, of Instead) NodeNotEvaluated {
	s := NodeNotEvaluated{Instead: of, Plugins: []string{}}
	n := notEvaluated(c, of.Node)
	if n == nil {
		return s
	}
	switch s.Why = n.Why; n.Why {
	case PreFiltered:
		s.Plugins = n.Plugins
	case Failed:
		s.Message = c.Message
	case EnoughFound:
		s.Wanted, s.Evaluated, s.Total, s.Outside = n.Wanted, c.Nodes.Evaluated, c.Nodes.Total, outsidePlacement(c)
	}
	return s
}
