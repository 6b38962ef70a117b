package drain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kube-scheduler-simulator/simulator/questions/why"
)

// clock is a time since the drain began.
func clock(seconds int) string {
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

func clockOr(seconds *int, never string) string {
	if seconds == nil {
		return never
	}
	return clock(*seconds)
}

// sentence is the answer in a few sentences.
func (a *Answer) sentence() string {
	s := a.Summary
	what := why.Plural(s.Nodes, "node")
	if s.Nodes == 1 {
		what = a.Nodes[0].Name
	}
	text := ""
	switch {
	case s.Empty == s.Nodes && s.Nodes == 1:
		text = fmt.Sprintf("Draining %s empties it after %s.", what, clock(*a.Nodes[0].Ends))
	case s.Empty == s.Nodes:
		text = fmt.Sprintf("Draining %s empties them all.", what)
	case s.Nodes == 1:
		text = fmt.Sprintf("Draining %s %s.", what, outcomes[a.Nodes[0].Outcome])
	default:
		text = fmt.Sprintf("Draining %s empties %d of them.", what, s.Empty)
		for _, outcome := range []NodeOutcome{Stuck, GivenUp, Refused, NotReached} {
			var names []string
			for _, n := range a.Nodes {
				if n.Outcome == outcome {
					names = append(names, n.Name)
				}
			}
			if len(names) > 0 {
				text += fmt.Sprintf(" Of %s, it %s.", strings.Join(names, ", "), outcomes[outcome])
			}
		}
	}
	if s.Pending > 0 {
		text += fmt.Sprintf(" %s would stay pending.", why.Plural(s.Pending, "pod"))
	}
	if s.Gone > 0 {
		text += fmt.Sprintf(" Nobody would create %s again.", why.Plural(s.Gone, "pod"))
	}
	if c := a.Cost; c != nil && c.BeforePerHour > c.AfterPerHour {
		text += fmt.Sprintf(" It saves $%.4g an hour.", c.BeforePerHour-c.AfterPerHour)
	}
	return text
}

// outcomes complete the sentence "The drain …".
var outcomes = map[NodeOutcome]string{
	Stuck:      "never ends, because a budget allows no further eviction",
	GivenUp:    "gives up, and leaves pods behind",
	Refused:    "evicts nothing",
	NotReached: "never begins",
}

// Print writes an answer for people. What users of the cluster wrote is printed without control characters.
func Print(w io.Writer, a *Answer) error {
	p := &why.Sheet{}
	p.Line("%s", a.Sentence)
	var rows [][]string
	for _, n := range a.Nodes {
		said := n.Warnings
		if len(n.Errors) > 0 {
			said = strings.Join(n.Errors, "; ")
		}
		rows = append(rows, []string{n.Name, string(n.Outcome), clockOr(n.Begins, "-"), clockOr(n.Ends, "never"), fmt.Sprint(n.Stay), why.OrNone(strings.ReplaceAll(said, "\n", "; "))})
	}
	p.Table([]string{"NODE", "OUTCOME", "BEGINS", "ENDS", "STAY", "KUBECTL SAYS"}, rows)
	rows = nil
	for _, e := range a.Evictions {
		on, said := e.Node, "-"
		if e.Preempted {
			on += " (preempted)"
		}
		switch {
		case e.Error != "":
			said = e.Error
		case e.Behind != "":
			said = "is created once " + e.Behind + " is ready"
		case e.Fate == Pending:
			said = reasonText(e.Reasons)
		case e.Budget != "":
			said = "waits for the budget " + e.Budget
		}
		rows = append(rows, []string{e.Namespace + "/" + e.Name, on, clock(e.Asked), clockOr(e.Evicted, "never"), string(e.Fate), why.OrNone(e.To), clockOr(e.Ready, "-"), said})
	}
	p.Table([]string{"POD", "FROM", "ASKED", "EVICTED", "FATE", "TO", "READY", "WHY"}, rows)
	rows = nil
	for _, b := range a.Budgets {
		least := slices.MinFunc(b.Steps, func(x, y Step) int { return x.Allowed - y.Allowed })
		rows = append(rows, []string{b.Namespace + "/" + b.Name, fmt.Sprintf("%d of %d", b.Desired, b.Expected), fmt.Sprint(b.Allowed), fmt.Sprintf("%d at %s", least.Allowed, clock(least.At)), fmt.Sprint(len(b.Waits)), fmt.Sprint(len(b.Blocks))})
	}
	p.Table([]string{"BUDGET", "TO BE HEALTHY", "ALLOWS AT FIRST", "AT LEAST", "MADE WAIT", "BLOCKS"}, rows)
	rows = nil
	for _, one := range a.Passed {
		rows = append(rows, []string{one.Node, one.Text})
	}
	p.Table([]string{"PASSED OVER", "WITH IT"}, rows)
	if c := a.Cost; c != nil {
		p.Line("")
		p.Line("Nodes cost $%.4g an hour before and $%.4g after, by their labels; %s without a price.", c.BeforePerHour, c.AfterPerHour, why.Plural(c.Unpriced, "node"))
	}
	p.NotJudged(a.NotJudged)
	j := a.Judged
	p.Line("")
	p.Line("%s Pods are taken to be ready %s after they have a node, and to stop in %s. Judged by kube-scheduler %s and kubectl's rules: %s, %s and %s at %s. All of it: -o json.",
		j.Note, seconds(j.StartSeconds), seconds(j.StopSeconds), j.Scheduler, j.Cluster, why.Plural(j.Nodes, "node"), why.Plural(j.Pods, "pod"), j.At.Format("15:04:05 MST"))
	_, err := io.WriteString(w, p.String())
	return err
}

func seconds(n int) string { return fmt.Sprintf("%d s", n) }

func reasonText(reasons []why.Reason) string {
	var out []string
	for _, r := range reasons {
		out = append(out, fmt.Sprintf("%s on %s: %s", r.Plugin, why.Plural(r.Count, "node"), r.Text))
	}
	return why.OrNone(strings.Join(out, "; "))
}
