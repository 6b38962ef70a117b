package deschedule

import (
	"fmt"
	"io"
	"strings"

	"kube-scheduler-simulator/simulator/cluster/descheduler"
	"kube-scheduler-simulator/simulator/questions/disruption"
	"kube-scheduler-simulator/simulator/questions/why"
)

// sentence is the answer in a few sentences.
func (a *Answer) sentence() string {
	s := a.Summary
	if skipped := a.Rounds[0].Skipped; skipped != "" {
		return "The descheduler would evict no pod: " + skipped + "."
	}
	if s.Evicted == 0 && s.Refused == 0 {
		return "The descheduler would evict no pod." + a.compared()
	}
	text := fmt.Sprintf("The descheduler would evict %s", why.Plural(s.Evicted, "pod"))
	if len(a.Rounds) > 1 {
		text += fmt.Sprintf(" in %d rounds", len(a.Rounds))
	}
	var fates []string
	for _, f := range []struct {
		n    int
		text string
	}{{s.Moved, "%d to another node"}, {s.Back, "%d back to the node that was left"}, {s.Pending, "%d without a node"}, {s.Gone, "%d for good"}, {s.Ended, "%d that had ended"}} {
		if f.n > 0 {
			fates = append(fates, fmt.Sprintf(f.text, f.n))
		}
	}
	if text += "."; len(fates) > 0 {
		text = strings.TrimSuffix(text, ".") + ": " + strings.Join(fates, ", ") + "."
	}
	if s.Refused > 0 {
		text += fmt.Sprintf(" %s would be refused.", why.Plural(s.Refused, "further eviction"))
	}
	if s.Emptied > 0 {
		text += fmt.Sprintf(" It empties %s.", why.Plural(s.Emptied, "node"))
	}
	if c := a.Cost; c != nil && c.BeforePerHour > c.AfterPerHour {
		text += fmt.Sprintf(" Without what it empties, nodes cost $%.4g an hour less.", c.BeforePerHour-c.AfterPerHour)
	}
	if len(a.Rounds) > 1 && !s.Settles {
		text += " It has not come to rest: the last round still evicts."
	}
	return text + a.compared()
}

// compared says what the dry run gets wrong.
func (a *Answer) compared() string {
	if a.Summary.Differs == 0 {
		return ""
	}
	return fmt.Sprintf(" Its own dry run would say %d.", a.Summary.DryRun)
}

// who says in English who refuses an eviction.
var who = map[descheduler.By]string{descheduler.ByBudget: "the budget ", descheduler.ByLimit: "the policy: ", descheduler.ByServer: "the API server: "}

// Print writes an answer for people. What users of the cluster wrote is printed without control characters.
func Print(w io.Writer, a *Answer) error {
	p := &why.Sheet{}
	p.Line("%s", a.Sentence)
	var rows [][]string
	for _, e := range a.Evictions {
		by, said := e.Plugin, e.Reason
		if e.Preempted {
			by = "(preempted)"
		}
		switch {
		case e.Behind != "":
			said = "is created once " + e.Behind + " is ready"
		case e.Fate == disruption.Pending:
			said = reasonText(e.Reasons)
		case e.Fate == disruption.Moves && e.To == e.Node:
			if said = "comes back"; e.Choice != nil && e.Choice.Lead() != "" {
				said += ": " + e.Choice.Lead()
			}
		}
		rows = append(rows, []string{fmt.Sprint(e.Round), e.Namespace + "/" + e.Name, by, why.OrNone(e.Node), string(e.Fate), why.OrNone(e.To), why.OrNone(said)})
	}
	p.Table([]string{"ROUND", "POD", "PLUGIN", "FROM", "FATE", "TO", "WHY"}, rows)
	rows = nil
	for _, r := range a.Refused {
		rows = append(rows, []string{fmt.Sprint(r.Round), r.Namespace + "/" + r.Name, r.Plugin, why.OrNone(r.Node), who[r.By] + r.Text})
	}
	p.Table([]string{"ROUND", "NOT EVICTED", "PLUGIN", "NODE", "REFUSED BY"}, rows)
	rows = nil
	for _, one := range a.Protected {
		pods := strings.Join(one.Pods, ", ")
		if more := one.Count - len(one.Pods); more > 0 {
			pods += fmt.Sprintf(" and %d more", more)
		}
		rows = append(rows, []string{fmt.Sprint(one.Count), one.Text, pods})
	}
	p.Table([]string{"PROTECTED", "THE DESCHEDULER SAYS", "PODS"}, rows)
	rows = nil
	for _, n := range a.Nodes {
		if n.Before.Pods != n.After.Pods || !same(n.Before.CPU, n.After.CPU) || !same(n.Before.Memory, n.After.Memory) {
			rows = append(rows, []string{n.Name, changed("%d", n.Before.Pods, n.After.Pods), changed("%s", percent(n.Before.CPU), percent(n.After.CPU)), changed("%s", percent(n.Before.Memory), percent(n.After.Memory))})
		}
	}
	p.Table([]string{"NODE", "PODS", "CPU", "MEMORY"}, rows)
	rows = nil
	if a.Summary.Differs > 0 {
		for _, one := range a.DryRun {
			if !one.Made {
				rows = append(rows, []string{one.Namespace + "/" + one.Name, one.Plugin, one.Node})
			}
		}
	}
	p.Table([]string{"ONLY IN A DRY RUN", "PLUGIN", "FROM"}, rows)
	for _, r := range a.Rounds {
		for _, failed := range r.Failed {
			p.Line("Failed at %d s: %s", r.At, failed)
		}
	}
	if c := a.Cost; c != nil {
		p.Line("")
		p.Line("Nodes cost $%.4g an hour before, and $%.4g without those that become empty, by their labels; %s without a price.", c.BeforePerHour, c.AfterPerHour, why.Plural(c.Unpriced, "node"))
	}
	p.NotJudged(a.NotJudged)
	j := a.Judged
	p.Line("")
	p.Line("%s Pods are taken to be ready %d s after they have a node, and to stop in %d s. Judged by the descheduler %s and kube-scheduler %s: %s, %s and %s at %s. All of it: -o json.",
		j.Note, j.StartSeconds, j.StopSeconds, j.Descheduler, j.Scheduler, j.Cluster, why.Plural(j.Nodes, "node"), why.Plural(j.Pods, "pod"), j.At.Format("15:04:05 MST"))
	_, err := io.WriteString(w, p.String())
	return err
}

func same(a, b *float64) bool { return percent(a) == percent(b) }

func percent(of *float64) string {
	if of == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", *of)
}

func changed[T comparable](format string, before, after T) string {
	if before == after {
		return fmt.Sprintf(format, before)
	}
	return fmt.Sprintf(format+" → "+format, before, after)
}

func reasonText(reasons []why.Reason) string {
	var out []string
	for _, r := range reasons {
		out = append(out, fmt.Sprintf("%s on %s: %s", r.Plugin, why.Plural(r.Count, "node"), r.Text))
	}
	return why.OrNone(strings.Join(out, "; "))
}
