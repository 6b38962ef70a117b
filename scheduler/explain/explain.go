// Package explain turns a scheduling cycle into the sentence and the arithmetic
// that answer "why there, or nowhere?". Everything it says follows from the
// cycle; it adds no knowledge of its own.
//
// The package is pure: it may import scheduler/result only.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// Explanation is a cycle's answer, as data first: Sentence only renders it.
type Explanation struct {
	// Sentence says in English what happened and why.
	Sentence string `json:"sentence"`
	// Rejections count the nodes that each plugin and extender rejected, most first.
	Rejections []Rejection `json:"rejections,omitempty"`
	// ExtenderFailures are the calls to extenders that failed, in order.
	ExtenderFailures []ExtenderFailure `json:"extenderFailures,omitempty"`
	// Margin is what put the selected node before the next one. It is nil when
	// fewer than two nodes were scored.
	Margin *Margin `json:"margin,omitempty"`
	// NotEvaluated is nil when every node was evaluated.
	NotEvaluated *NotEvaluated `json:"notEvaluated,omitempty"`
	// Devices are the requests for devices that nodes could not meet, most nodes
	// first.
	Devices []DeviceShortage `json:"devices,omitempty"`
}

// Rejection is the part of a plugin, or of an extender.
type Rejection struct {
	Plugin string `json:"plugin"`
	Nodes  int    `json:"nodes"`
	// Reasons with the number of nodes that each was given for, most first.
	Reasons []ReasonCount `json:"reasons"`
}

// ReasonCount counts the nodes that were rejected for one reason.
type ReasonCount struct {
	Reason string `json:"reason"`
	Nodes  int    `json:"nodes"`
}

// Margin compares the selected node with the best of the others.
type Margin struct {
	Over  string `json:"over"`
	Total int64  `json:"total"`
	// Tied nodes have the selected node's total: chance decided between them, or a seed.
	Tied []string `json:"tied,omitempty"`
	// Parts add up to Total; plugins and extenders in which both nodes are alike have none.
	Parts []Part `json:"parts"`
}

// Part is the difference that one plugin, or one extender, makes, weighted.
type Part struct {
	Plugin     string `json:"plugin"`
	Difference int64  `json:"difference"`
}

// Why nodes were not evaluated.
const (
	// EnoughFound: the search stops when it has found the nodes it looks for.
	EnoughFound = "enoughFeasibleNodes"
	// PreFiltered: a PreFilter plugin rejected the pod, or let Filter see some
	// nodes only.
	PreFiltered = "preFilter"
	// HintUsed: the node that opportunistic batching proposed was taken.
	HintUsed = "hint"
	// NominatedUsed: the node that preemption had made room on was taken.
	NominatedUsed = "nominatedNode"
	// OutsidePlacement: the pod's group was tried on other nodes only.
	OutsidePlacement = "outsidePlacement"
	// Failed: the cycle ended with an error.
	Failed = "error"
)

// NotEvaluated counts the nodes about which nothing is known.
type NotEvaluated struct {
	Nodes int    `json:"nodes"`
	Why   string `json:"why"`
	// Wanted is how many feasible nodes the search looked for, with EnoughFound.
	Wanted int `json:"wanted,omitempty"`
	// Plugins that restricted the nodes, with PreFiltered.
	Plugins []string `json:"plugins,omitempty"`
}

// Cycle explains c.
func Cycle(c *result.Cycle) Explanation {
	e := Explanation{
		Rejections:       rejections(c),
		ExtenderFailures: extenderFailures(c),
		Margin:           margin(c),
		NotEvaluated:     notEvaluated(c),
	}
	together := 0
	e.Devices, together = deviceShortages(c)
	e.Sentence = sentence(c, e) + devicesSentence(c, e.Devices, together) + groupSentence(c) + failuresSentence(c, e.ExtenderFailures)
	return e
}

func rejections(c *result.Cycle) []Rejection {
	var out tally
	if f := c.Filter; f != nil {
		nodes := make([]int, len(f.Verdicts))
		for _, v := range f.VerdictOf {
			nodes[v]++
		}
		for v, verdict := range f.Verdicts {
			if verdict.Plugin != "" {
				out.add(verdict.Plugin, nodes[v], verdict.Reasons...)
			}
		}
	}
	out.addExtenders(c)
	return out.sorted()
}

// tally counts rejected nodes by who rejected them.
type tally []Rejection

func (t *tally) add(plugin string, nodes int, reasons ...string) {
	i := slices.IndexFunc(*t, func(r Rejection) bool { return r.Plugin == plugin })
	if i < 0 {
		i = len(*t)
		*t = append(*t, Rejection{Plugin: plugin})
	}
	(*t)[i].Nodes += nodes
	for _, reason := range reasons {
		(*t)[i].count(reason, nodes)
	}
}

func (t *tally) sorted() []Rejection {
	for _, r := range *t {
		slices.SortStableFunc(r.Reasons, func(a, b ReasonCount) int {
			if a.Nodes != b.Nodes {
				return b.Nodes - a.Nodes
			}
			return strings.Compare(a.Reason, b.Reason)
		})
	}
	slices.SortStableFunc(*t, func(a, b Rejection) int {
		if a.Nodes != b.Nodes {
			return b.Nodes - a.Nodes
		}
		return strings.Compare(a.Plugin, b.Plugin)
	})
	return *t
}

func (r *Rejection) count(reason string, nodes int) {
	for i := range r.Reasons {
		if r.Reasons[i].Reason == reason {
			r.Reasons[i].Nodes += nodes
			return
		}
	}
	r.Reasons = append(r.Reasons, ReasonCount{Reason: reason, Nodes: nodes})
}

// margin finds the best of the other nodes, by total and then by name.
func margin(c *result.Cycle) *Margin {
	s := c.Score
	if s == nil || len(s.Nodes) < 2 || c.SelectedNode == "" {
		return nil
	}
	selected := slices.Index(s.Nodes, c.SelectedNode)
	if selected < 0 {
		return nil
	}
	next := -1
	for i := range s.Nodes {
		if i == selected {
			continue
		}
		if next < 0 || s.Totals.At(i) > s.Totals.At(next) || (s.Totals.At(i) == s.Totals.At(next) && s.Nodes[i] < s.Nodes[next]) {
			next = i
		}
	}
	m := &Margin{Over: s.Nodes[next], Total: s.Totals.At(selected) - s.Totals.At(next), Parts: []Part{}}
	if m.Total == 0 {
		m.Tied = slices.DeleteFunc(slices.Clone(s.Tied), func(n string) bool { return n == c.SelectedNode })
	}
	for p, plugin := range s.Plugins {
		if d := s.Weighted[p].At(selected) - s.Weighted[p].At(next); d != 0 {
			m.Parts = append(m.Parts, Part{Plugin: plugin.Name, Difference: d})
		}
	}
	for _, extender := range s.Extenders {
		if d := extender.Counted.At(selected) - extender.Counted.At(next); d != 0 {
			m.Parts = append(m.Parts, Part{Plugin: extender.Name, Difference: d})
		}
	}
	slices.SortStableFunc(m.Parts, func(a, b Part) int { return int(abs(b.Difference) - abs(a.Difference)) })
	return m
}

func abs(n int64) int64 { return max(n, -n) }

func notEvaluated(c *result.Cycle) *NotEvaluated {
	left := c.Nodes.Total - c.Nodes.Evaluated
	if left <= 0 {
		return nil
	}
	n := &NotEvaluated{Nodes: left}
	restricted := restricting(c.PreFilter)
	outside := outsidePlacement(c)
	switch {
	case c.Hint != nil && c.Hint.Used:
		n.Why = HintUsed
	case c.Outcome == result.Error:
		n.Why = Failed
	case len(restricted) > 0:
		n.Why, n.Plugins = PreFiltered, restricted
	case c.Nodes.Evaluated <= 1 && c.SelectedNode != "" && c.Nodes.Wanted > 1:
		n.Why = NominatedUsed
	case outside == left, c.PodGroup != nil && c.PodGroup.Placement == nil:
		n.Why = OutsidePlacement
	default:
		n.Why, n.Wanted = EnoughFound, c.Nodes.Wanted
	}
	return n
}

// restricting returns the PreFilter plugins that rejected the pod or some nodes.
func restricting(results []result.PluginResult) []string {
	var out []string
	for _, p := range results {
		if p.Nodes != nil || (p.Status != "Success" && p.Status != "Skip") {
			out = append(out, p.Plugin)
		}
	}
	return out
}

func sentence(c *result.Cycle, e Explanation) string {
	switch c.Outcome {
	case result.Scheduled:
		return scheduledSentence(c, e)
	case result.Waiting:
		return fmt.Sprintf("%s has a place on %s and waits for %s.", c.Pod.Name, c.SelectedNode, strings.Join(waitingFor(c.Permit), ", "))
	case result.Error:
		if f := fatal(e.ExtenderFailures); f != nil {
			return fmt.Sprintf("%s could not be scheduled because the extender %s failed at %s: %s", c.Pod.Name, f.Extender, f.Verb, f.Message)
		}
		return fmt.Sprintf("%s could not be scheduled because of an error: %s", c.Pod.Name, c.Message)
	}
	return unschedulableSentence(c, e)
}

func scheduledSentence(c *result.Cycle, e Explanation) string {
	where := fmt.Sprintf("%s runs on %s", c.Pod.Name, c.SelectedNode)
	switch {
	case c.Hint != nil && c.Hint.Used:
		return where + ": opportunistic batching proposed the node, and it fits."
	case e.NotEvaluated != nil && e.NotEvaluated.Why == NominatedUsed:
		return where + ": it was nominated there, and the node fits."
	case e.Margin == nil && c.Nodes.Feasible > 1:
		return fmt.Sprintf("%s: one of %d feasible nodes, which were not scored.", where, c.Nodes.Feasible)
	case e.Margin == nil:
		return fmt.Sprintf("%s: the only feasible node of %d evaluated.", where, c.Nodes.Evaluated)
	}
	best := fmt.Sprintf("%s: best total %d of %d feasible", where, total(c), c.Nodes.Feasible)
	if e.Margin.Total == 0 {
		return fmt.Sprintf("%s, by %s before %s with the same total.", best, lot(c), others(e.Margin.Tied))
	}
	return fmt.Sprintf("%s, %d ahead of %s.", best, e.Margin.Total, e.Margin.Over)
}

func unschedulableSentence(c *result.Cycle, e Explanation) string {
	if heldByGroup(c) {
		return heldSentence(c)
	}
	if c.Nodes.Total == 0 {
		return fmt.Sprintf("%s found no node: the cluster has none.", c.Pod.Name)
	}
	if c.Filter == nil {
		if plugins := restricting(c.PreFilter); len(plugins) > 0 {
			return fmt.Sprintf("%s was rejected by %s before any node was looked at: %s", c.Pod.Name, strings.Join(plugins, ", "), c.Message)
		}
		return fmt.Sprintf("%s was not scheduled: %s", c.Pod.Name, c.Message)
	}
	if c.SelectedNode != "" {
		return fmt.Sprintf("%s had a place on %s and was then rejected: %s", c.Pod.Name, c.SelectedNode, c.Message)
	}
	var parts []string
	for _, r := range e.Rejections {
		parts = append(parts, fmt.Sprintf("%d by %s", r.Nodes, r.Plugin))
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%s was not scheduled: %s", c.Pod.Name, c.Message)
	}
	said := fmt.Sprintf("%s fits no node: %s rejected, %s.", c.Pod.Name, plural(c.Nodes.Evaluated, "node"), strings.Join(parts, ", "))
	if n := e.NotEvaluated; n != nil && n.Why == EnoughFound && len(c.Extenders) > 0 {
		said += fmt.Sprintf(" %s were not evaluated: enough nodes had been found before extenders rejected them.", plural(n.Nodes, "node"))
	}
	if p := c.Preemption; p != nil && p.Chosen != "" {
		for _, candidate := range p.Candidates {
			if candidate.Node == p.Chosen {
				said += fmt.Sprintf(" Preemption makes room on %s by removing %s.", p.Chosen, plural(len(candidate.Victims), "pod"))
			}
		}
	}
	return said
}

func total(c *result.Cycle) int64 {
	return c.Score.Totals.At(slices.Index(c.Score.Nodes, c.SelectedNode))
}

func waitingFor(permit []result.PluginResult) []string {
	var out []string
	for _, p := range permit {
		if p.Status == "Wait" {
			out = append(out, p.Plugin)
		}
	}
	return out
}

func others(nodes []string) string {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return plural(len(nodes), "node")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
