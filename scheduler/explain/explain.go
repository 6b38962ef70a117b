// Package explain turns a scheduling cycle into the statements and the arithmetic
// that say why the pod landed on its node, or on none. A statement is data: a kind
// and its operands. The English sentence is rendered from the statements alone, and
// so are the web's sentences in each language; testdata/cases.json keeps the
// English of both the same.
//
// Everything that an explanation says follows from the cycle; the package adds no
// knowledge of its own. It is pure: it may import scheduler/result only.
package explain

import (
	"encoding/json"
	"slices"

	"kube-scheduler-simulator/scheduler/result"
)

// Explanation explains a cycle. It is data first: Sentence only renders Headline and
// Remarks.
type Explanation struct {
	// Sentence says in English what happened and why.
	Sentence string `json:"sentence"`
	// Headline says how the cycle ended, and why. Its kind is one of those that the
	// function Headlines lists.
	Headline Statement `json:"headline"`
	// Remarks add further statements, in the order in which to say them. Each is of
	// one of the kinds that the function Remarks lists.
	Remarks []Statement `json:"remarks,omitempty"`
	// Rejections count the nodes that each plugin and extender rejected, most first.
	Rejections []result.Rejection `json:"rejections,omitempty"`
	// ExtenderFailures are the calls to extenders that failed, in order.
	ExtenderFailures []ExtenderFailure `json:"extenderFailures,omitempty"`
	// Margin is the lead of the selected node over the next one. It is nil when
	// fewer than two nodes were scored.
	Margin *Margin `json:"margin,omitempty"`
	// NotEvaluated is nil when every node was evaluated.
	NotEvaluated *NotEvaluated `json:"notEvaluated,omitempty"`
	// Devices are the requests for devices that nodes could not meet, most nodes
	// first.
	Devices []DeviceShortage `json:"devices,omitempty"`
}

// Margin compares the selected node with the best of the others.
type Margin struct {
	Over  string `json:"over"`
	Total int64  `json:"total"`
	// Tied nodes have the selected node's total: chance or a seed decided between
	// them.
	Tied []string `json:"tied,omitempty"`
	// Parts add up to Total; plugins and extenders that score both nodes the same
	// have none.
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
	// PreFiltered: a PreFilter plugin rejected the pod, or restricted Filter to
	// some nodes.
	PreFiltered = "preFilter"
	// HintUsed: the node that opportunistic batching proposed was taken.
	HintUsed = "hint"
	// NominatedUsed: the node that the pod was nominated to was taken.
	NominatedUsed = "nominatedNode"
	// OutsidePlacement: the pod's group was tried on other nodes only.
	OutsidePlacement = "outsidePlacement"
	// Failed: the cycle ended with an error.
	Failed = "error"
)

// NotEvaluated counts the nodes that the cycle did not evaluate.
type NotEvaluated struct {
	Nodes int    `json:"nodes"`
	Why   string `json:"why"`
	// Wanted is how many feasible nodes the search looked for, with EnoughFound.
	Wanted int `json:"wanted,omitempty"`
	// Plugins that restricted the nodes, with PreFiltered.
	Plugins []string `json:"plugins,omitempty"`
}

// Explained is a cycle with its explanation. Its JSON form is public.
type Explained struct {
	*result.Cycle
	Explanation Explanation `json:"explanation"`
}

// AppendJSON appends what json.Marshal returns, except that the cycle's tables come last: it is for answers about many nodes, see
// result.Cycle.WithoutTables.
func (e Explained) AppendJSON(out []byte) ([]byte, error) {
	document, err := json.Marshal(Explained{e.WithoutTables(), e.Explanation})
	if err == nil {
		document, err = e.AppendTables(document)
	}
	return append(out, document...), err
}

// With returns c with its explanation. It only reads c, and the result refers to it.
func With(c *result.Cycle) Explained { return Explained{c, Cycle(c)} }

// Cycle explains c. It only reads c.
func Cycle(c *result.Cycle) Explanation {
	e := Explanation{
		Rejections:       rejections(c),
		ExtenderFailures: extenderFailures(c),
		Margin:           margin(c),
		NotEvaluated:     notEvaluated(c, ""),
	}
	together := 0
	e.Devices, together = deviceShortages(c)
	e.Headline = Statement{headline(c, e)}
	e.Remarks = remarks(c, e, together)
	e.Sentence = e.english()
	return e
}

// noReason stands for the reason that a plugin or an extender did not give.
const noReason = "no reason given"

func rejections(c *result.Cycle) []result.Rejection {
	out := result.Rejections(c)
	for _, rejection := range out {
		for i := range rejection.Reasons {
			if rejection.Reasons[i].Reason == "" {
				rejection.Reasons[i].Reason = noReason
			}
		}
	}
	return out
}

// margin finds the best of the other nodes, by total and then by name.
func margin(c *result.Cycle) *Margin {
	s := c.Score
	if s == nil || s.Nodes.Len() < 2 || c.SelectedNode == "" {
		return nil
	}
	selected := s.Nodes.Index(c.SelectedNode)
	if selected < 0 {
		return nil
	}
	next := -1
	for i := range s.Nodes.Len() {
		if i == selected {
			continue
		}
		if next < 0 || s.Totals.At(i) > s.Totals.At(next) || (s.Totals.At(i) == s.Totals.At(next) && s.Nodes.At(i) < s.Nodes.At(next)) {
			next = i
		}
	}
	m := &Margin{Over: s.Nodes.At(next), Total: s.Totals.At(selected) - s.Totals.At(next), Parts: []Part{}}
	if m.Total == 0 {
		m.Tied = slices.DeleteFunc(s.Tied(), func(n string) bool { return n == c.SelectedNode })
	}
	m.Parts = append(m.Parts, Difference(s, selected, next)...)
	return m
}

// Difference returns what each plugin and extender adds to the total of the node at index a beyond that of the one
// at b, the largest difference first. Those that score both the same are left out.
func Difference(s *result.Score, a, b int) []Part {
	var out []Part
	for p, plugin := range s.Plugins {
		if d := s.Weighted[p].At(a) - s.Weighted[p].At(b); d != 0 {
			out = append(out, Part{Plugin: plugin.Name, Difference: d})
		}
	}
	for _, extender := range s.Extenders {
		if d := extender.Counted.At(a) - extender.Counted.At(b); d != 0 {
			out = append(out, Part{Plugin: extender.Name, Difference: d})
		}
	}
	slices.SortStableFunc(out, func(a, b Part) int { return int(abs(b.Difference) - abs(a.Difference)) })
	return out
}

func abs(n int64) int64 { return max(n, -n) }

// notEvaluated says why c did not evaluate some nodes, or one of them by its name.
func notEvaluated(c *result.Cycle, node string) *NotEvaluated {
	left := c.Nodes.Total - c.Nodes.Evaluated
	if left <= 0 {
		return nil
	}
	n := &NotEvaluated{Nodes: left}
	restricted := restricting(c.PreFilter, node)
	outside := outsidePlacement(c)
	switch {
	case c.Hint != nil && c.Hint.Used:
		n.Why = HintUsed
	case c.Nomination != nil && c.Nomination.Used:
		n.Why = NominatedUsed
	case c.Outcome == result.Error:
		n.Why = Failed
	case len(restricted) > 0:
		n.Why, n.Plugins = PreFiltered, restricted
	case outside == left, c.PodGroup != nil && c.PodGroup.Placement == nil:
		n.Why = OutsidePlacement
	default:
		n.Why, n.Wanted = EnoughFound, c.Nodes.Wanted
	}
	return n
}

// restricting returns the PreFilter plugins that rejected the pod or some nodes, of which one may
// be named.
func restricting(results []result.PluginResult, node string) []string {
	var out []string
	for _, p := range results {
		if p.Nodes != nil && !slices.Contains(p.Nodes, node) || (p.Status != "Success" && p.Status != "Skip") {
			out = append(out, p.Plugin)
		}
	}
	return out
}
