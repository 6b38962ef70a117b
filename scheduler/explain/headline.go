package explain

import (
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// Best: the node has the best total of several.
type Best struct {
	Pod      string `json:"pod"`
	Node     string `json:"node"`
	Total    int64  `json:"total"`
	Feasible int    `json:"feasible"`
	// Margin is the total minus that of Next.
	Margin int64  `json:"margin"`
	Next   string `json:"next"`
}

// Tied: other nodes have the same total, and chance decided.
type Tied struct {
	Pod      string   `json:"pod"`
	Node     string   `json:"node"`
	Total    int64    `json:"total"`
	Feasible int      `json:"feasible"`
	Others   []string `json:"others"`
}

// TiedBySeed: other nodes have the same total, and a seed decided.
type TiedBySeed struct {
	Pod      string   `json:"pod"`
	Node     string   `json:"node"`
	Total    int64    `json:"total"`
	Feasible int      `json:"feasible"`
	Others   []string `json:"others"`
}

// Only: one node was feasible, so no node was scored.
type Only struct {
	Pod       string `json:"pod"`
	Node      string `json:"node"`
	Evaluated int    `json:"evaluated"`
}

// FirstFeasible: the search stopped at the first feasible node, because nothing scores
// nodes.
type FirstFeasible struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// Unscored: several nodes were feasible, but the cycle was recorded without their scores.
type Unscored struct {
	Pod      string `json:"pod"`
	Node     string `json:"node"`
	Feasible int    `json:"feasible"`
}

// Hinted: opportunistic batching proposed the node.
type Hinted struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// WasNominated: the pod was nominated to the node, by preemption or by another program,
// and the node was tried first.
type WasNominated struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// Waiting: Permit plugins hold the pod.
type Waiting struct {
	Pod     string   `json:"pod"`
	Node    string   `json:"node"`
	Plugins []string `json:"plugins"`
}

// CycleError: the cycle ended with an error.
type CycleError struct {
	Pod     string `json:"pod"`
	Message string `json:"message"`
}

// ExtenderError: the cycle ended because an extender failed.
type ExtenderError struct {
	Pod      string              `json:"pod"`
	Extender string              `json:"extender"`
	Verb     result.ExtenderVerb `json:"verb"`
	Message  string              `json:"message"`
}

// NoNodes: the cluster has no nodes.
type NoNodes struct {
	Pod string `json:"pod"`
}

// RejectedInPreFilter: plugins rejected the pod, or all nodes together, before Filter.
type RejectedInPreFilter struct {
	Pod     string   `json:"pod"`
	Plugins []string `json:"plugins"`
	// Reasons are those of the plugins or, if they gave none, the scheduler's
	// message.
	Reasons []string `json:"reasons"`
}

// RejectedLater: a plugin rejected the pod after a node had been chosen.
type RejectedLater struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
	// Stage is the extension point: Reserve, Permit, PreBindPreFlight, PreBind or Bind.
	Stage   string   `json:"stage"`
	Plugin  string   `json:"plugin"`
	Reasons []string `json:"reasons"`
}

// PermitTimeout: a plugin that held the pod at Permit did not allow it in time.
type PermitTimeout struct {
	Pod    string `json:"pod"`
	Node   string `json:"node"`
	Plugin string `json:"plugin"`
	// Waited is the time in a readable form, such as 10 s.
	Waited string `json:"waited"`
}

// LostPlace: the pod lost its node and the cycle names no plugin that rejected it.
type LostPlace struct {
	Pod     string `json:"pod"`
	Node    string `json:"node"`
	Message string `json:"message"`
}

// NoNodeFits: plugins and extenders rejected every node that was evaluated.
type NoNodeFits struct {
	Pod       string     `json:"pod"`
	Evaluated int        `json:"evaluated"`
	Total     int        `json:"total"`
	Rejecters []Rejecter `json:"rejecters"`
}

// Rejecter is a plugin, or an extender, with the number of nodes that it rejected.
type Rejecter struct {
	Plugin string `json:"plugin"`
	Nodes  int    `json:"nodes"`
}

// NotScheduled: only the scheduler's message says why.
type NotScheduled struct {
	Pod     string `json:"pod"`
	Message string `json:"message"`
}

func (s Best) english() string {
	return sprintf("%s runs on %s: best total %d of %d feasible, %d ahead of %s.", s.Pod, s.Node, s.Total, s.Feasible, s.Margin, s.Next)
}

func (s Tied) english() string {
	return sprintf("%s runs on %s: best total %d of %d feasible, tied with %s and picked at random.", s.Pod, s.Node, s.Total, s.Feasible, tied(s.Others))
}

func (s TiedBySeed) english() string {
	return sprintf("%s runs on %s: best total %d of %d feasible, tied with %s and picked by the seed.", s.Pod, s.Node, s.Total, s.Feasible, tied(s.Others))
}

// tied names the nodes, or counts them: of many, a few say nothing about the others.
func tied(nodes []string) string {
	if len(nodes) <= mostNamed {
		return names(nodes)
	}
	return sprintf("%d nodes", len(nodes))
}

func (s Only) english() string {
	return sprintf("%s runs on %s: the only feasible node of %d evaluated.", s.Pod, s.Node, s.Evaluated)
}

func (s FirstFeasible) english() string {
	return sprintf("%s runs on %s: the first feasible node that the search found. It stopped there, because nothing scores nodes.", s.Pod, s.Node)
}

func (s Unscored) english() string {
	return sprintf("%s runs on %s: one of %d feasible nodes. The record holds no scores.", s.Pod, s.Node, s.Feasible)
}

func (s Hinted) english() string {
	return sprintf("%s runs on %s: opportunistic batching proposed the node, and it fits.", s.Pod, s.Node)
}

func (s WasNominated) english() string {
	return sprintf("%s runs on %s: it was nominated there, and the node fits.", s.Pod, s.Node)
}

func (s Waiting) english() string {
	return sprintf("%s was assigned to %s and waits for %s.", s.Pod, s.Node, strings.Join(s.Plugins, ", "))
}

func (s CycleError) english() string {
	return sprintf("%s could not be scheduled because of an error: %s", s.Pod, s.Message)
}

func (s ExtenderError) english() string {
	return sprintf("%s could not be scheduled because the extender %s failed at %s: %s", s.Pod, s.Extender, s.Verb, s.Message)
}

func (s NoNodes) english() string {
	return sprintf("%s cannot be scheduled: the cluster has no nodes.", s.Pod)
}

func (s RejectedInPreFilter) english() string {
	return sprintf("%s was rejected by %s before any node was checked: %s", s.Pod, strings.Join(s.Plugins, ", "), reason(s.Reasons))
}

func (s RejectedLater) english() string {
	return sprintf("%s was assigned to %s, then %s rejected it in %s: %s", s.Pod, s.Node, s.Plugin, s.Stage, reason(s.Reasons))
}

func (s PermitTimeout) english() string {
	return sprintf("%s was assigned to %s, but %s did not allow it within %s.", s.Pod, s.Node, s.Plugin, s.Waited)
}

func (s LostPlace) english() string {
	return sprintf("%s was assigned to %s and then rejected: %s", s.Pod, s.Node, s.Message)
}

func (s NoNodeFits) english() string {
	var parts []string
	for _, r := range s.Rejecters {
		parts = append(parts, sprintf("%d by %s", r.Nodes, r.Plugin))
	}
	return sprintf("%s fits no node: %s rejected, %s.", s.Pod, plural(s.Evaluated, "node"), strings.Join(parts, ", "))
}

func (s NotScheduled) english() string {
	return sprintf("%s was not scheduled: %s", s.Pod, s.Message)
}

// headline says how c ended. e holds the counts and the margin already.
func headline(c *result.Cycle, e Explanation) Operands {
	switch c.Outcome {
	case result.Scheduled:
		return scheduled(c, e)
	case result.Waiting:
		if awaiting := awaitingGroup(c); awaiting != nil {
			return awaiting
		}
		return Waiting{Pod: c.Pod.Name, Node: c.SelectedNode, Plugins: waitingFor(c.Permit)}
	case result.Error:
		if f := fatal(e.ExtenderFailures); f != nil {
			return ExtenderError{Pod: c.Pod.Name, Extender: f.Extender, Verb: f.Verb, Message: f.Message}
		}
		return CycleError{Pod: c.Pod.Name, Message: c.Message}
	}
	return unschedulable(c, e)
}

func scheduled(c *result.Cycle, e Explanation) Operands {
	pod, node, m := c.Pod.Name, c.SelectedNode, e.Margin
	switch {
	case c.Hint != nil && c.Hint.Used:
		return Hinted{Pod: pod, Node: node}
	case c.Nomination != nil && c.Nomination.Used:
		return WasNominated{Pod: pod, Node: node}
	case e.NotEvaluated != nil && e.NotEvaluated.Why == EnoughFound && c.Nodes.Wanted == 1:
		return FirstFeasible{Pod: pod, Node: node}
	case m == nil && c.Nodes.Feasible > 1:
		return Unscored{Pod: pod, Node: node, Feasible: c.Nodes.Feasible}
	case m == nil:
		return Only{Pod: pod, Node: node, Evaluated: c.Nodes.Evaluated}
	}
	total := c.Score.Totals.At(c.Score.Nodes.Index(node))
	if m.Total != 0 {
		return Best{Pod: pod, Node: node, Total: total, Feasible: c.Nodes.Feasible, Margin: m.Total, Next: m.Over}
	}
	others := m.Tied
	if len(others) == 0 {
		others = []string{m.Over}
	}
	if seeded(c) {
		return TiedBySeed{Pod: pod, Node: node, Total: total, Feasible: c.Nodes.Feasible, Others: others}
	}
	return Tied{Pod: pod, Node: node, Total: total, Feasible: c.Nodes.Feasible, Others: others}
}

// seeded reports whether a seed decided among nodes with the same total.
func seeded(c *result.Cycle) bool {
	return slices.ContainsFunc(c.Facts, func(f result.Fact) bool { return f.Plugin == result.TieSeed })
}

func unschedulable(c *result.Cycle, e Explanation) Operands {
	if held := byGroup(c); held != nil {
		return held
	}
	point, _ := result.RejectedBy(c)
	switch {
	case c.Nodes.Total == 0:
		return NoNodes{Pod: c.Pod.Name}
	case c.Filter == nil || point == "preFilter":
		if refused := refusedByGroup(c); refused != nil {
			return refused
		}
		if refused := refusedByQuota(c); refused != nil {
			return refused
		}
		return rejectedBeforeFilter(c)
	case c.SelectedNode != "":
		return rejectedLater(c)
	case len(e.Rejections) == 0, point == "permit":
		return NotScheduled{Pod: c.Pod.Name, Message: c.Message}
	}
	s := NoNodeFits{Pod: c.Pod.Name, Evaluated: c.Nodes.Evaluated, Total: c.Nodes.Total}
	for _, r := range e.Rejections {
		s.Rejecters = append(s.Rejecters, Rejecter{Plugin: r.Plugin, Nodes: r.Nodes})
	}
	return s
}

func rejectedBeforeFilter(c *result.Cycle) Operands {
	plugins := restricting(c.PreFilter, "")
	if len(plugins) == 0 {
		return NotScheduled{Pod: c.Pod.Name, Message: c.Message}
	}
	reasons := []string{}
	for _, p := range c.PreFilter {
		if slices.Contains(plugins, p.Plugin) {
			reasons = append(reasons, p.Reasons...)
		}
	}
	if len(reasons) == 0 && c.Message != "" {
		reasons = append(reasons, c.Message)
	}
	return RejectedInPreFilter{Pod: c.Pod.Name, Plugins: plugins, Reasons: reasons}
}

func rejectedLater(c *result.Cycle) Operands {
	if released := releasedByGroup(c); released != nil {
		return released
	}
	if w := c.PermitWait; w != nil && w.TimedOut {
		return PermitTimeout{Pod: c.Pod.Name, Node: c.SelectedNode, Plugin: w.Plugin, Waited: duration(w.DurationSeconds)}
	}
	point, by := result.RejectedBy(c)
	if by == nil {
		return LostPlace{Pod: c.Pod.Name, Node: c.SelectedNode, Message: c.Message}
	}
	return RejectedLater{
		Pod: c.Pod.Name, Node: c.SelectedNode, Plugin: by.Plugin, Reasons: append([]string{}, by.Reasons...),
		Stage: strings.ToUpper(point[:1]) + point[1:],
	}
}

func waitingFor(permit []result.PluginResult) []string {
	out := []string{}
	for _, p := range permit {
		if p.Status == "Wait" {
			out = append(out, p.Plugin)
		}
	}
	return out
}
