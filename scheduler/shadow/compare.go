package shadow

import (
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// Verdict says how the shadow's decision relates to the live one.
type Verdict string

const (
	// Same: both choose the same node, or neither finds one.
	Same Verdict = "same"
	// AsGood: the shadow gives its best total to the live node and to nodes that were behind it, so
	// chance would decide.
	AsGood Verdict = "asGood"
	// Elsewhere: the shadow prefers another node.
	Elsewhere Verdict = "elsewhere"
	// Pending: the shadow finds no node for a pod that got one.
	Pending Verdict = "pending"
	// Placed: the shadow finds a node for a pod that got none.
	Placed Verdict = "placed"
)

// Verdicts lists every verdict, in the order for display.
var Verdicts = []Verdict{Same, AsGood, Elsewhere, Pending, Placed}

// Differs reports whether the shadow would have changed what happens to the pod.
func (v Verdict) Differs() bool { return v == Elsewhere || v == Pending || v == Placed }

// Place is where one of the two configurations puts the pod.
type Place struct {
	// Node is empty if it finds none.
	Node string `json:"node"`
	// Total is the node's total score. It is nil when fewer than two nodes were feasible, because
	// nothing was scored.
	Total *int64 `json:"total,omitempty"`
}

// Side is one of the two configurations.
type Side string

const (
	Live   Side = "live"
	Shadow Side = "shadow"
)

// Parting names the plugin that parted the two decisions; see Compare.
type Parting struct {
	Plugin string `json:"plugin"`
	// ExtensionPoint is preFilter, filter or score.
	ExtensionPoint string `json:"extensionPoint"`
	// By is the side of the plugin's verdict; Shadow for a score.
	By Side `json:"by"`
	// Node is the rejected node, and for a score the shadow's. It is empty when the plugin
	// rejected the pod on every node.
	Node string `json:"node"`
	// Reasons are the plugin's, for a rejection.
	Reasons []string `json:"reasons,omitempty"`
	// Live and Shadow, for a score, are the plugin's weighted scores on either side, of the live
	// node and the shadow's. A plugin that a side does not run counts as 0.
	Live   []int64 `json:"live,omitempty"`
	Shadow []int64 `json:"shadow,omitempty"`
}

// Comparison is what the shadow says about a live decision.
type Comparison struct {
	Live    Place   `json:"live"`
	Shadow  Place   `json:"shadow"`
	Verdict Verdict `json:"verdict"`
	// Differs is Verdict.Differs, for readers of the JSON form.
	Differs bool `json:"differs"`
	// Message says why the shadow finds no node, with Pending.
	Message string `json:"message,omitempty"`
	// PartedBy is nil when the verdict does not differ, and when no single plugin parted the
	// decisions.
	PartedBy *Parting `json:"partedBy,omitempty"`
}

// Compare compares a live decision with the shadow's hypothetical one about the same pod on the
// same state.
//
// The live scheduler may stop its search early, a hypothetical decision never does. So the shadow
// chooses among the nodes that the live scheduler chose among or rejected, and among all only if
// none of these is feasible for it, because it would then have searched on.
//
// Hypothetical decisions ask no extenders. The answers to the live decision hold for both sides:
// rejected nodes are left out, and scores count in both totals.
//
// The plugin that parted the decisions is
//   - when the shadow finds the live node infeasible: the first plugin that rejects it there;
//   - when the live scheduler found the shadow's node infeasible: the first plugin that
//     rejected it there;
//   - otherwise, both nodes being feasible on both sides: the plugin that moved the balance most. A
//     plugin's balance on one side is its weighted score of the live node minus that of the
//     shadow's node. The balances sum to at least 0 under the live configuration and to less than 0
//     under the shadow, so some must fall. The plugin is the one whose balance falls most; of
//     several, the one that runs first, where the shadow's plugins come before those that only the
//     live configuration has.
func Compare(live, shadow *result.Cycle) Comparison { return compare(newSide(live), newSide(shadow)) }

func compare(live, shadow *side) Comparison {
	l, s := live, *shadow
	s.extended = l.extended
	c := Comparison{Live: l.place(live.SelectedNode)}
	best := s.best(l.considered)
	if len(best) == 0 {
		best = s.best(func(node string) bool { return !l.refused[node] })
	}
	node := ""
	switch {
	case len(best) == 0:
	case slices.Contains(best, live.SelectedNode):
		node = live.SelectedNode
	case slices.Contains(best, shadow.SelectedNode):
		node = shadow.SelectedNode
	default:
		node = best[0]
	}
	c.Shadow = s.place(node)
	c.Verdict = verdict(c.Live, c.Shadow)
	if c.Verdict == Same && l.behind(node, best) {
		c.Verdict = AsGood
	}
	c.Differs = c.Verdict.Differs()
	if c.Verdict == Pending {
		c.Message = shadow.Message
	}
	if c.Differs {
		c.PartedBy = parting(l, &s, c.Live.Node, node)
	}
	return c
}

func verdict(live, shadow Place) Verdict {
	switch {
	case live.Node == shadow.Node:
		return Same
	case shadow.Node == "":
		return Pending
	case live.Node == "":
		return Placed
	}
	return Elsewhere
}

func parting(live, shadow *side, from, to string) *Parting {
	if from != "" {
		if p := shadow.rejection(from, Shadow); p != nil {
			return p
		}
	}
	if to == "" {
		return nil
	}
	if p := live.rejection(to, Live); p != nil {
		return p
	}
	if from == "" {
		return nil
	}
	return balance(live, shadow, from, to)
}

// balance returns nil when one side did not score the nodes.
func balance(live, shadow *side, from, to string) *Parting {
	var best *Parting
	var most int64
	for _, plugin := range slices.Concat(shadow.scorers(), live.scorers()) {
		p := Parting{Plugin: plugin, ExtensionPoint: "score", By: Shadow, Node: to, Live: live.scores(plugin, from, to), Shadow: shadow.scores(plugin, from, to)}
		if p.Live == nil || p.Shadow == nil {
			return nil
		}
		if fell := (p.Live[0] - p.Live[1]) - (p.Shadow[0] - p.Shadow[1]); fell > most {
			best, most = &p, fell
		}
	}
	return best
}

type side struct {
	*result.Cycle
	filtered, scored map[string]int
	// refused are the nodes that extenders rejected.
	refused map[string]bool
	// extended are the scores that extenders added.
	extended map[string]int64
}

func newSide(c *result.Cycle) *side {
	s := &side{Cycle: c, filtered: map[string]int{}, scored: map[string]int{}, refused: map[string]bool{}, extended: map[string]int64{}}
	if c.Filter != nil {
		for i, node := range c.Filter.Nodes.All() {
			s.filtered[node] = i
		}
	}
	for _, call := range c.Extenders {
		if call.Rejected != nil {
			for _, node := range call.Rejected.Nodes {
				s.refused[node] = true
			}
		}
	}
	if c.Score != nil {
		for i, node := range c.Score.Nodes.All() {
			s.scored[node] = i
			for _, e := range c.Score.Extenders {
				s.extended[node] += e.Counted.At(i)
			}
		}
	}
	return s
}

// considered reports whether the scheduler scored the node, selected it, or rejected it other than
// by an extender. The scheduler drops surplus nodes that fit, which it evaluated beside the last
// one that it needed.
func (s *side) considered(node string) bool {
	i, evaluated := s.filtered[node]
	_, scored := s.scored[node]
	return evaluated && !s.refused[node] && (scored || node == s.SelectedNode || s.Filter.Verdict(i).Plugin != "")
}

// feasible reports whether the node passed. A hypothetical decision also evaluates nodes that
// PreFilter excluded, so a node may pass Filter in vain.
func (s *side) feasible(node string) bool {
	if s.Score != nil {
		_, scored := s.scored[node]
		return scored
	}
	i, evaluated := s.filtered[node]
	return node == s.SelectedNode || evaluated && !s.refused[node] && !failed(s.Filter.Verdict(i)) && s.rejection(node, Shadow) == nil
}

func failed(v result.Verdict) bool { return strings.ContainsRune(v.States, result.Failed) }

// total returns false when the node has no score.
func (s *side) total(node string) (int64, bool) {
	i, scored := s.scored[node]
	if !scored {
		return 0, false
	}
	own := s.Score.Totals.At(i)
	for _, e := range s.Score.Extenders {
		own -= e.Counted.At(i)
	}
	return own + s.extended[node], true
}

func (s *side) place(node string) Place {
	p := Place{Node: node}
	if total, scored := s.total(node); scored {
		p.Total = &total
	}
	return p
}

// best returns the feasible nodes with the best total among those that are eligible, by name.
func (s *side) best(eligible func(node string) bool) []string {
	var best []string
	var most int64
	for node := range s.filtered {
		if !s.feasible(node) || !eligible(node) {
			continue
		}
		total, _ := s.total(node)
		if len(best) > 0 && total < most {
			continue
		}
		if total > most {
			best = nil
		}
		best, most = append(best, node), total
	}
	slices.Sort(best)
	return best
}

// behind reports whether the live scheduler ranked one of the others below the node.
func (s *side) behind(node string, others []string) bool {
	own, _ := s.total(node)
	for _, other := range others {
		total, scored := s.total(other)
		if other != node && (!scored || total < own) {
			return true
		}
	}
	return false
}

func (s *side) rejection(node string, by Side) *Parting {
	for _, answer := range s.PreFilter {
		if answer.Status == "Unschedulable" || answer.Status == "UnschedulableAndUnresolvable" {
			return &Parting{Plugin: answer.Plugin, ExtensionPoint: "preFilter", By: by, Reasons: answer.Reasons}
		}
		if answer.Nodes != nil && !slices.Contains(answer.Nodes, node) {
			return &Parting{Plugin: answer.Plugin, ExtensionPoint: "preFilter", By: by, Node: node, Reasons: answer.Reasons}
		}
	}
	i, evaluated := s.filtered[node]
	if !evaluated {
		return nil
	}
	if v := s.Filter.Verdict(i); v.Plugin != "" {
		return &Parting{Plugin: v.Plugin, ExtensionPoint: "filter", By: by, Node: node, Reasons: v.Reasons}
	}
	return nil
}

func (s *side) scorers() []string {
	if s.Score == nil {
		return nil
	}
	names := make([]string, len(s.Score.Plugins))
	for i, p := range s.Score.Plugins {
		names[i] = p.Name
	}
	return names
}

// scores returns a plugin's weighted scores of two nodes, or nil.
func (s *side) scores(plugin, a, b string) []int64 {
	i, first := s.scored[a]
	j, second := s.scored[b]
	if !first || !second {
		return nil
	}
	for column, p := range s.Score.Plugins {
		if p.Name == plugin {
			return []int64{s.Score.Weighted[column].At(i), s.Score.Weighted[column].At(j)}
		}
	}
	return []int64{0, 0}
}
