package ask

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// PrintWhatIf prints where a pod would go.
func PrintWhatIf(w io.Writer, target Target, a *hypothesis.WhatIfAnswer, format Format) error {
	if format == JSON || format == YAML {
		return encode(w, a, format)
	}
	p := &printer{w: w}
	p.asked(target, a.State)
	if len(a.Decisions) > 1 {
		p.copies(a.Decisions)
	}
	// The decisions about several copies are alike; the first without a node says why no more fit.
	switch at := slices.IndexFunc(a.Decisions, func(d explain.Explained) bool { return !placed(d) }); {
	case len(a.Decisions) == 1:
		p.decision(a.Decisions[0], format)
	case at >= 0:
		p.line("")
		p.decision(a.Decisions[at], format)
	}
	p.turn(a.Turn)
	if len(a.NotCounted) > 0 {
		p.line("")
		for _, unknown := range a.NotCounted {
			p.line("%s", unknown)
		}
	}
	p.notAsked(a.NotAsked, "\n--extenders asks them.")
	return p.err
}

// notAsked says who was not asked and may decide otherwise, and how to ask the extenders.
func (p *printer) notAsked(n whatif.NotAsked, extenders string) {
	for i, who := range n.Unasked() {
		if i == 0 {
			p.line("")
		}
		text := who.Text
		if who.Of == whatif.OfExtenders {
			text += extenders
		}
		p.line("%s", text)
	}
}

// copies prints a row for each copy that fits, and one for the rest.
func (p *printer) copies(all []explain.Explained) {
	p.table([]string{"COPY", "POD", "NODE", "TOTAL"}, func(t table) {
		for i, d := range all {
			switch {
			case placed(d):
				t.row(strconv.Itoa(i+1), podName(d.Cycle), d.SelectedNode, totalOf(d.Cycle, d.SelectedNode))
			case i < len(all)-1 && !slices.ContainsFunc(all[i:], placed):
				t.row(fmt.Sprintf("%d-%d", i+1, len(all)), none, none, none)
				return
			default:
				t.row(strconv.Itoa(i+1), podName(d.Cycle), none, none)
			}
		}
	})
}

func podName(c *result.Cycle) string { return c.Pod.Namespace + "/" + c.Pod.Name }

func (p *printer) decision(d explain.Explained, format Format) {
	p.line("%s", sentence(d))
	p.victims(d.Cycle)
	rows := rowsOf(d.Cycle)
	if len(rows) == 0 {
		return
	}
	if format != Wide {
		rows = alike(rows)
	}
	headers := []string{"NODE", "VERDICT", "TOTAL"}
	if format == Wide && d.Score != nil {
		for _, plugin := range d.Score.Plugins {
			headers = append(headers, plugin.Name)
		}
		for _, extender := range d.Score.Extenders {
			headers = append(headers, extender.Name)
		}
	}
	p.table(append(headers, "REJECTED BY"), func(t table) {
		for _, r := range rows {
			cells := []string{r.node, r.verdict, r.total}
			if format == Wide {
				cells = append(cells, r.scores...)
			}
			t.row(append(cells, r.why)...)
		}
	})
	p.causes(d.Cycle, format)
}

// alike makes one row of the nodes that the same plugins reject for the same reasons.
func alike(rows []row) []row {
	var out []row
	nodes := map[string][]string{}
	for _, r := range rows {
		if r.verdict != rejected {
			out = append(out, r)
			continue
		}
		key := r.total + r.why
		if nodes[key] = append(nodes[key], r.node); len(nodes[key]) == 1 {
			out = append(out, r)
		}
	}
	for i := range out {
		if r := &out[i]; r.verdict == rejected {
			r.node = explain.Names(nodes[r.total+r.why])
		}
	}
	return out
}

// Of the nodes that a plugin rejects for the same reason, at most mostAlike get their values
// printed.
const mostAlike = 3

// causes prints why each plugin rejected nodes, in the words of the page. It names nodes with the
// same causes together.
func (p *printer) causes(c *result.Cycle, format Format) {
	for _, cause := range explain.Causes(c, format == Wide) {
		p.values(cause, format)
	}
}

func (p *printer) values(cause explain.Cause, format Format) {
	shown := cause.Values
	if format != Wide {
		shown = shown[:min(len(shown), mostAlike)]
	}
	for _, one := range shown {
		p.line("")
		p.line("%s", strings.TrimSuffix(fmt.Sprintf("%s on %s: %s", cause.Plugin, explain.Names(one.Nodes), cause.Reasons), ": "))
		for _, line := range one.Lines {
			p.line("  %s", line)
		}
	}
	if left := cause.Values[len(shown):]; len(left) > 0 {
		var nodes []string
		for _, one := range left {
			nodes = append(nodes, one.Nodes...)
		}
		p.line("")
		p.line("%s on %s: the same, with other values (-o wide prints them).", cause.Plugin, explain.Names(nodes))
	}
}

// sentence says where the pod would go, or why it would stay pending.
func sentence(d explain.Explained) string {
	if !placed(d) {
		return d.Explanation.Sentence
	}
	said := []string{podName(d.Cycle) + " would go to " + d.SelectedNode + because(d.Cycle)}
	for _, remark := range d.Explanation.Remarks {
		said = append(said, remark.String())
	}
	return strings.Join(said, " ")
}

// because completes a sentence about the chosen node.
func because(c *result.Cycle) string {
	if c.Nodes.Feasible == 1 {
		return ", the only feasible node."
	}
	if c.Score == nil {
		return "."
	}
	if tied := c.Score.Tied(); len(tied) > 0 {
		others := slices.DeleteFunc(tied, func(node string) bool { return node == c.SelectedNode })
		return fmt.Sprintf(". %s the same total, and the scheduler chooses among them at random.", have(others))
	}
	return fmt.Sprintf(", which has the best total of %d feasible nodes.", c.Nodes.Feasible)
}

func have(nodes []string) string {
	const most = 3
	switch n := len(nodes); {
	case n == 1:
		return nodes[0] + " has"
	case n > most:
		return fmt.Sprintf("%s and %d more have", strings.Join(nodes[:most], ", "), n-most)
	default:
		return strings.Join(nodes[:n-1], ", ") + " and " + nodes[n-1] + " have"
	}
}

// victims names the pods that would make room, and says why those.
func (p *printer) victims(of *result.Cycle) {
	preemption := of.Preemption
	if said := explain.PreemptionVerdict(of); said != "" {
		p.line("%s", said)
	}
	if preemption == nil || preemption.Chosen == "" {
		return
	}
	for _, c := range preemption.Candidates {
		if c.Node != preemption.Chosen {
			continue
		}
		p.table([]string{"PREEMPTED ON " + c.Node, "PRIORITY"}, func(t table) {
			for _, v := range c.Victims {
				t.row(v.Pod.Namespace+"/"+v.Pod.Name, strconv.Itoa(int(v.Priority)))
			}
		})
	}
}

type row struct {
	node, verdict, total, why string
	scores                    []string
	// order sorts: the chosen node, then feasible ones by total, then the rejected ones, those that
	// fewer plugins reject first.
	order [2]int64
}

// The verdicts on a node.
const (
	chosen   = "chosen"
	feasible = "feasible"
	rejected = "rejected"
)

func rowsOf(c *result.Cycle) []row {
	if c.Filter == nil {
		return nil
	}
	var rows []row
	extenders, scored := extenderRejections(c), scoredAt(c.Score)
	for i, node := range c.Filter.Nodes.All() {
		verdict := c.Filter.Verdict(i)
		r := row{node: node, verdict: rejected, total: none, why: none}
		at, isScored := scored[node]
		if c.Score != nil {
			r.scores = scoresOf(c.Score, at, isScored)
		}
		switch by := append(verdict.Rejections(), extenders[node]...); {
		case len(by) > 0:
			r.why, r.order = reasons(by), [2]int64{2, int64(len(by))}
		case node == c.SelectedNode:
			r.verdict = chosen
		default:
			r.verdict, r.order = feasible, [2]int64{1}
		}
		if isScored {
			r.total = strconv.FormatInt(c.Score.Totals.At(at), 10)
			r.order[1] -= c.Score.Totals.At(at)
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(slices.Compare(a.order[:], b.order[:]), strings.Compare(a.node, b.node))
	})
	return rows
}

func scoredAt(s *result.Score) map[string]int {
	at := map[string]int{}
	if s != nil {
		for i, node := range s.Nodes.All() {
			at[node] = i
		}
	}
	return at
}

func extenderRejections(c *result.Cycle) map[string][]result.PluginReasons {
	out := map[string][]result.PluginReasons{}
	for _, call := range c.Extenders {
		if call.Rejected == nil {
			continue
		}
		for i, node := range call.Rejected.Nodes {
			out[node] = append(out[node], result.PluginReasons{Plugin: call.Plugin, Reasons: []string{call.Rejected.Reason(i).Reason}})
		}
	}
	return out
}

func reasons(by []result.PluginReasons) string {
	var said []string
	for _, r := range by {
		text := r.Plugin
		if given := slices.DeleteFunc(slices.Clone(r.Reasons), func(s string) bool { return s == "" }); len(given) > 0 {
			text += ": " + strings.Join(given, ", ")
		}
		said = append(said, text)
	}
	return strings.Join(said, "; ")
}

// totalOf also writes that a node has no total.
func totalOf(c *result.Cycle, node string) string {
	if at, isScored := scoredAt(c.Score)[node]; isScored {
		return strconv.FormatInt(c.Score.Totals.At(at), 10)
	}
	return none
}

// The scores are weighted, in the order of the headers.
func scoresOf(s *result.Score, at int, isScored bool) []string {
	columns := slices.Clone(s.Weighted)
	for _, extender := range s.Extenders {
		columns = append(columns, extender.Counted)
	}
	out := slices.Repeat([]string{none}, len(columns))
	if isScored {
		for i, column := range columns {
			out[i] = strconv.FormatInt(column.At(at), 10)
		}
	}
	return out
}

// placed reports whether the pod finds a node and keeps it: a gang may give it back.
func placed(d explain.Explained) bool { return d.Outcome == result.Scheduled }
