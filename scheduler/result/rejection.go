package result

import (
	"cmp"
	"slices"
	"strings"
)

// Rejection counts the nodes that one plugin, or one extender, rejected.
type Rejection struct {
	// Plugin is a plugin, or an extender by its URL prefix.
	Plugin string `json:"plugin"`
	Nodes  int    `json:"nodes"`
	// Reasons holds each reason with its number of nodes, most first. The empty reason counts nodes
	// rejected without one.
	Reasons []ReasonCount `json:"reasons"`
}

// ReasonCount counts the nodes that were rejected for one reason.
type ReasonCount struct {
	Reason string `json:"reason"`
	Nodes  int    `json:"nodes"`
}

// Rejections counts the nodes of c that each plugin and extender rejected or failed on, most nodes
// first. A node rejected for several reasons counts once for its plugin and once for each reason.
func Rejections(c *Cycle) []Rejection { return rejections(c, Rejected, Failed) }

// rejections counts the nodes that each plugin left in one of the given states. Extenders only
// reject.
func rejections(c *Cycle, states ...byte) []Rejection {
	t := tally{plugins: map[string]int{}, reasons: map[reasonOf]int{}}
	if c.Filter != nil {
		t.addVerdicts(c.Filter, string(states))
	}
	if slices.Contains(states, Rejected) {
		t.addExtenders(c.Extenders)
	}
	return t.sorted()
}

// tally counts rejected nodes. The maps hold indexes into counted and into the
// reasons of its elements.
type tally struct {
	counted []Rejection
	plugins map[string]int
	reasons map[reasonOf]int
}

type reasonOf struct{ plugin, reason string }

func (t *tally) add(plugin string, nodes int, reasons ...string) {
	i, known := t.plugins[plugin]
	if !known {
		i = len(t.counted)
		t.plugins[plugin] = i
		t.counted = append(t.counted, Rejection{Plugin: plugin})
	}
	r := &t.counted[i]
	r.Nodes += nodes
	if len(reasons) == 0 {
		reasons = []string{""}
	}
	for _, reason := range reasons {
		key := reasonOf{plugin, reason}
		at, known := t.reasons[key]
		if !known {
			at = len(r.Reasons)
			t.reasons[key] = at
			r.Reasons = append(r.Reasons, ReasonCount{Reason: reason})
		}
		r.Reasons[at].Nodes += nodes
	}
}

func (t *tally) addVerdicts(f *Filter, states string) {
	nodes := make([]int, len(f.Verdicts))
	for _, v := range f.VerdictOf {
		nodes[v]++
	}
	for v, verdict := range f.Verdicts {
		for _, r := range verdict.Rejections() {
			if strings.IndexByte(states, f.stateOf(v, r.Plugin)) >= 0 {
				t.add(r.Plugin, nodes[v], r.Reasons...)
			}
		}
	}
}

func (f *Filter) stateOf(verdict int, plugin string) byte {
	at, states := slices.Index(f.Plugins, plugin), f.Verdicts[verdict].States
	if at < 0 || at >= len(states) {
		return Rejected
	}
	return states[at]
}

// addExtenders ignores a rejection of the nominated node, which the search tried again.
func (t *tally) addExtenders(calls []ExtenderCall) {
	for _, call := range calls {
		if call.Rejected == nil || call.Nominated {
			continue
		}
		nodes := make([]int, len(call.Rejected.Reasons))
		for _, r := range call.Rejected.ReasonOf {
			nodes[r]++
		}
		for r, reason := range call.Rejected.Reasons {
			t.add(call.Plugin, nodes[r], reason.Reason)
		}
	}
}

func (t *tally) sorted() []Rejection {
	for _, r := range t.counted {
		slices.SortFunc(r.Reasons, func(a, b ReasonCount) int {
			return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), strings.Compare(a.Reason, b.Reason))
		})
	}
	slices.SortFunc(t.counted, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), strings.Compare(a.Plugin, b.Plugin))
	})
	return t.counted
}
