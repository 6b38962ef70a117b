package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
)

var podKind = v1.SchemeGroupVersion.WithKind("Pod")

func requestsOf(pod *v1.Pod) v1.ResourceList {
	return resource.PodRequests(pod, resource.PodResourcesOptions{})
}

// createdAt is nil for an object without a time.
func createdAt(o metav1.Object) *metav1.Time {
	if t := o.GetCreationTimestamp(); !t.IsZero() {
		return &t
	}
	return nil
}

// ReasonsOf returns why plugins and extenders reject nodes, those of the most nodes first; of one node if it is named.
func ReasonsOf(c *result.Cycle, node string) []Reason {
	out := beforeFilter(c, node)
	for _, cause := range explain.Causes(c, false) {
		r := Reason{Plugin: cause.Plugin, Text: cause.Reasons, Nodes: cause.Nodes, Details: []Detail{}}
		for _, v := range cause.Values {
			r.Details = append(r.Details, Detail(v))
		}
		out = append(out, r)
	}
	for _, call := range c.Extenders {
		if call.Rejected == nil {
			continue
		}
		for i, node := range call.Rejected.Nodes {
			text := call.Rejected.Reason(i).Reason
			at := slices.IndexFunc(out, func(r Reason) bool { return r.Plugin == call.Plugin && r.Text == text })
			if at < 0 {
				at = len(out)
				out = append(out, Reason{Plugin: call.Plugin, Text: text, Details: []Detail{}})
			}
			out[at].Nodes = append(out[at].Nodes, node)
		}
	}
	for i := range out {
		out[i].only(node)
		out[i].Count = max(out[i].Count, len(out[i].Nodes))
	}
	if node != "" {
		out = slices.DeleteFunc(out, func(r Reason) bool { return r.Count == 0 })
	}
	slices.SortStableFunc(out, func(a, b Reason) int { return b.Count - a.Count })
	return out
}

// only leaves one node, unless it is empty. A reason without names is about all nodes.
func (r *Reason) only(node string) {
	if node == "" || len(r.Nodes) == 0 {
		return
	}
	other := func(n string) bool { return n != node }
	r.Nodes = slices.DeleteFunc(slices.Clone(r.Nodes), other)
	for i := range r.Details {
		r.Details[i].Nodes = slices.DeleteFunc(slices.Clone(r.Details[i].Nodes), other)
	}
	r.Details = slices.DeleteFunc(r.Details, func(d Detail) bool { return len(d.Nodes) == 0 })
}

// beforeFilter returns the reasons of PreFilter plugins, which reject the pod, or all nodes but some.
func beforeFilter(c *result.Cycle, node string) []Reason {
	out := []Reason{}
	for _, p := range c.PreFilter {
		r := Reason{Plugin: p.Plugin, Text: strings.Join(p.Reasons, ", "), Nodes: []string{}, Details: []Detail{}}
		switch {
		case p.Status != "Success" && p.Status != "Skip":
			r.Count = c.Nodes.Total
		case p.Nodes != nil && !slices.Contains(p.Nodes, node):
			r.Count = c.Nodes.Total - len(p.Nodes)
			r.Text = cmp.Or(r.Text, fmt.Sprintf("lets the pod on %s only", explain.Names(p.Nodes)))
			if node != "" {
				r.Count, r.Nodes = 1, []string{node}
			}
		}
		if r.Count > 0 {
			out = append(out, r)
		}
	}
	return out
}

// nearestOf orders the rejected nodes: those that have none of a resource at all come last, then those that the fewest
// plugins reject come first, then those that lack the least.
func nearestOf(c *result.Cycle) []Nearest {
	if c.Filter == nil {
		return []Nearest{}
	}
	type far struct {
		Nearest
		short result.Shortage
		at    int
	}
	nodes := make([]far, 0, c.Filter.Nodes.Len())
	index := map[string]int{}
	for i, name := range c.Filter.Nodes.All() {
		verdict := c.Filter.Verdict(i)
		rejections := verdict.Rejections()
		if len(rejections) == 0 {
			continue
		}
		n := far{Nearest: Nearest{Node: name, Plugins: []string{}, Texts: []string{}}, at: result.MaxComparisons}
		for _, r := range rejections {
			n.Plugins = append(n.Plugins, r.Plugin)
			n.Texts = append(n.Texts, strings.Join(r.Reasons, ", "))
		}
		index[name] = len(nodes)
		nodes = append(nodes, n)
	}
	rank := map[string]int{}
	for i := range c.Filter.Comparisons {
		compared := &c.Filter.Comparisons[i]
		at, rejected := index[compared.Node]
		if !rejected || !slices.Contains(nodes[at].Plugins, compared.Plugin) {
			continue
		}
		n := &nodes[at]
		// A plugin's comparisons begin with the nearest node.
		n.at = min(n.at, rank[compared.Plugin])
		rank[compared.Plugin]++
		for _, r := range compared.Resources {
			missing := r.Requested + r.InUse - r.Allocatable
			n.short.Add(r.Requested, missing, r.Allocatable <= 0)
			n.Lacks = append(n.Lacks, explain.Lack{Resource: r.Name, Amount: missing})
		}
	}
	slices.SortFunc(nodes, func(a, b far) int {
		return cmp.Or(a.short.Absent-b.short.Absent, len(a.Plugins)-len(b.Plugins), cmp.Compare(a.short.Distance(), b.short.Distance()),
			a.at-b.at, strings.Compare(a.Node, b.Node))
	})
	out := []Nearest{}
	for _, n := range nodes[:min(len(nodes), MaxNearest)] {
		out = append(out, n.Nearest)
	}
	return out
}

// EvictsOf returns what preemption chose; nil if it chose nothing.
func EvictsOf(c *result.Cycle) *Evicts {
	if c.Preemption == nil || c.Preemption.Chosen == "" {
		return nil
	}
	candidate, _ := c.Preemption.Tried(c.Preemption.Chosen)
	if candidate == nil {
		return nil
	}
	out := &Evicts{Node: candidate.Node, Violations: candidate.PDBViolations, Pods: []Victim{}}
	for _, v := range candidate.Victims {
		out.Pods = append(out.Pods, Victim{Namespace: v.Pod.Namespace, Name: v.Pod.Name, Priority: v.Priority})
	}
	return out
}

// ChoiceOf says why a cycle chose its node. The cycle must have one.
func ChoiceOf(c *result.Cycle) *Choice { return choiceOf(explain.With(c)) }

// Lead says in English what puts the chosen node ahead of the others; empty if nothing scores.
func (c *Choice) Lead() string {
	switch {
	case c.Feasible == 1:
		return fmt.Sprintf("the only feasible node of %d", c.Evaluated)
	case c.Over == "":
		return ""
	case c.Margin == 0:
		return "its total is shared with " + explain.Names(tiedWith(c)) + ", and the scheduler chooses among them at random"
	}
	var by []string
	for _, p := range c.Parts {
		by = append(by, fmt.Sprintf("%s %+d", p.Plugin, p.Difference))
	}
	return fmt.Sprintf("%d ahead of %s (%s)", c.Margin, c.Over, strings.Join(by, ", "))
}

func choiceOf(d explain.Explained) *Choice {
	out := &Choice{Feasible: d.Nodes.Feasible, Evaluated: d.Nodes.Evaluated}
	if d.Score == nil {
		return out
	}
	if at := d.Score.Nodes.Index(d.SelectedNode); at >= 0 {
		total := d.Score.Totals.At(at)
		out.Total = &total
	}
	if m := d.Explanation.Margin; m != nil {
		out.Over, out.Margin, out.Parts, out.Tied = m.Over, m.Total, m.Parts, m.Tied
	}
	return out
}

// chosen completes a sentence that ends with the name of the chosen node.
func chosen(d explain.Explained) string {
	choice := choiceOf(d)
	switch {
	case choice.Feasible == 1:
		return fmt.Sprintf(", the only feasible node of %d.", choice.Evaluated)
	case choice.Total == nil:
		return "."
	case choice.Margin == 0 && choice.Over != "":
		return fmt.Sprintf(": its total of %d is shared with %s, and the scheduler chooses among them at random.", *choice.Total, explain.Names(tiedWith(choice)))
	case choice.Over != "":
		return fmt.Sprintf(": the best total, %d, of %d feasible nodes, %d ahead of %s.", *choice.Total, choice.Feasible, choice.Margin, choice.Over)
	}
	return "."
}

func tiedWith(c *Choice) []string {
	if len(c.Tied) > 0 {
		return c.Tied
	}
	return []string{c.Over}
}

// whyNotThere answers about one node.
func (a *asking) whyNotThere(d explain.Explained) string {
	node, title := a.q.Node, a.answer.Subject.title()
	switch {
	case len(a.answer.Reasons) > 0:
		var by []string
		for _, r := range a.answer.Reasons {
			by = append(by, fmt.Sprintf("%s: %s", r.Plugin, cmp.Or(r.Text, "no reason given")))
		}
		return fmt.Sprintf("%s does not take %s. %s.", node, title, strings.Join(by, "; "))
	case d.SelectedNode == node:
		return fmt.Sprintf("%s takes %s, and the scheduler would choose it%s", node, title, chosen(d))
	case d.SelectedNode != "" && d.Score != nil && d.Score.Nodes.Index(node) >= 0:
		at, best := d.Score.Nodes.Index(node), d.Score.Nodes.Index(d.SelectedNode)
		a.answer.Choice = versus(d.Score, at, best)
		return fmt.Sprintf("%s takes %s too, but the scheduler would choose %s: its total is %d, and that of %s is %d.%s",
			node, title, d.SelectedNode, d.Score.Totals.At(best), node, d.Score.Totals.At(at), parts(a.answer.Choice.Parts))
	case d.SelectedNode != "":
		return fmt.Sprintf("%s takes %s too, but the scheduler would choose %s.", node, title, d.SelectedNode)
	case a.answer.Verdict == Fits:
		return fmt.Sprintf("%s takes %s. %s", node, title, said(d.Cycle))
	}
	return said(d.Cycle)
}

// versus compares the best node with another one.
func versus(s *result.Score, at, best int) *Choice {
	total := s.Totals.At(best)
	out := &Choice{Feasible: s.Nodes.Len(), Evaluated: s.Nodes.Len(), Total: &total, Over: s.Nodes.At(at), Margin: total - s.Totals.At(at)}
	out.Parts = explain.Difference(s, best, at)
	return out
}

// parts renders what makes up a margin.
func parts(all []explain.Part) string {
	if len(all) == 0 {
		return ""
	}
	var out []string
	for _, p := range all {
		out = append(out, fmt.Sprintf("%s %+d", p.Plugin, p.Difference))
	}
	return fmt.Sprintf(" The difference: %s.", strings.Join(out, ", "))
}
