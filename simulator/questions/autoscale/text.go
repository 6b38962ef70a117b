package autoscale

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Print writes an answer for people: the sentence, and a table of each part that says something. What users of the cluster wrote is
// printed without control characters.
func Print(w io.Writer, a *Answer) error {
	p := &page{}
	p.Line("%s", a.Sentence)
	p.newNodes(a)
	p.pods(a)
	p.disagreements(a)
	p.pools(a)
	p.nodes(a)
	p.rounds(a)
	p.NotJudged(a.NotJudged)
	j := a.Judged
	p.Line("")
	p.Line("%s Judged by Karpenter %s with %s, and kube-scheduler %s: %s, %s and %s at %s. Prices: %s. All of it: -o json.", j.Note, j.Karpenter, why.Plural(j.InstanceTypes, "instance type"), j.Scheduler, j.Cluster,
		why.Plural(j.Nodes, "node"), why.Plural(j.Pods, "pod"), j.At.Format("15:04:05 MST"), pricesFrom(j))
	_, err := io.WriteString(w, p.String())
	return err
}

func pricesFrom(j Judged) string {
	if j.Prices.Date == "" {
		return j.Prices.From
	}
	return j.Prices.From + ", of " + j.Prices.Date
}

type page struct{ why.Sheet }

func (p *page) newNodes(a *Answer) {
	var rows, cheaper [][]string
	for _, n := range a.NewNodes {
		pods := strings.Join(n.Pods[:min(3, len(n.Pods))], " ")
		if more := len(n.Pods) - 3; more > 0 {
			pods += fmt.Sprintf(" and %d more", more)
		}
		rows = append(rows, []string{n.Name, n.NodePool, n.InstanceType, n.CapacityType, n.Zone, dollars(n.PricePerHour), pods})
		for _, c := range n.Cheaper {
			lacks := c.Reason
			for _, s := range c.Short {
				lacks += fmt.Sprintf(", %s: %s of %s", s.Resource, s.Has, s.Wanted)
			}
			cheaper = append(cheaper, []string{n.Name, c.InstanceType, c.CapacityType, c.Zone, dollars(c.PricePerHour), lacks})
		}
	}
	p.Table([]string{"NEW NODE", "NODEPOOL", "TYPE", "CAPACITY", "ZONE", "AN HOUR", "PODS"}, rows)
	p.Table([]string{"INSTEAD OF", "CHEAPER", "CAPACITY", "ZONE", "AN HOUR", "NOT, BECAUSE IT"}, cheaper)
}

// pods prints a row for each NodePool that does not help a pod, and one for a pod that no NodePool was asked about.
func (p *page) pods(a *Answer) {
	var rows [][]string
	for _, pod := range a.Pods {
		name := pod.Namespace + "/" + pod.Name
		switch pod.Verdict {
		case dryrun.OnNewNode:
			continue
		case dryrun.OnExistingNode:
			rows = append(rows, []string{name, "room on " + pod.Node, "-", "the autoscaler adds no node"})
			continue
		case dryrun.NotJudged:
			rows = append(rows, []string{name, "not looked at", "-", strings.TrimPrefix(pod.Reason, "not looked at: ")})
			continue
		}
		if pod.Reason != "" || len(pod.Refused) == 0 {
			rows = append(rows, []string{name, "no help", "-", pod.Reason})
		}
		for _, r := range pod.Refused {
			rows = append(rows, []string{name, "no help", r.NodePool, r.Reason})
		}
	}
	p.Table([]string{"POD", "AUTOSCALER", "NODEPOOL", "WHY"}, rows)
}

func (p *page) disagreements(a *Answer) {
	var rows [][]string
	for _, pod := range a.Pods {
		if pod.Disagreement != nil {
			rows = append(rows, []string{pod.Namespace + "/" + pod.Name, pod.Disagreement.Sentence})
		}
	}
	p.Table([]string{"SCHEDULER DISAGREES", "HOW"}, rows)
}

func (p *page) pools(a *Answer) {
	var rows [][]string
	for _, pool := range a.Pools {
		untried := "-"
		if pool.Untried != nil {
			untried = pool.Untried.Reason
		}
		limits := []string{}
		for name, limit := range pool.Limits {
			uses := pool.Uses[name]
			limits = append(limits, fmt.Sprintf("%s %s of %s", name, uses.String(), limit.String()))
		}
		slices.Sort(limits)
		row := []string{pool.Name, fmt.Sprint(pool.Weight), why.OrNone(strings.Join(limits, ", ")), costText(pool.Cost), fmt.Sprintf("+%d", pool.NewNodes), "+" + dollars(pool.NewPricePerHour), untried}
		if a.Before != nil {
			row = slices.Insert(row, 4, "-")
			for _, was := range a.Before.Pools {
				if was.Name == pool.Name {
					row[4] = fmt.Sprintf("+%d for %s", was.NewNodes, dollars(was.NewPricePerHour))
				}
			}
		}
		rows = append(rows, row)
	}
	head := []string{"NODEPOOL", "WEIGHT", "LIMITS", "NOW", "NEW", "AN HOUR", "NOT TRIED"}
	if a.Before != nil {
		head = slices.Insert(head, 4, "NEW BEFORE")
	}
	p.Table(head, rows)
}

// costText says how many nodes there are, and what they cost, as far as it is known.
func costText(c dryrun.Cost) string {
	text := why.Plural(c.Nodes, "node")
	if c.Nodes > c.Unpriced {
		text += " for " + dollars(c.PricePerHour)
	}
	if c.Unpriced > 0 {
		text += fmt.Sprintf(", %d without a price", c.Unpriced)
	}
	return text
}

func (p *page) nodes(a *Answer) {
	var rows [][]string
	for _, n := range a.Nodes {
		row := []string{n.Node, why.OrNone(n.NodePool), "-", "-", "-", "-"}
		if n.Offer != nil {
			row[2] = dollars(n.Offer.PricePerHour)
		}
		outcome := n.Outcome
		if outcome == nil {
			outcome = n.Otherwise
		}
		if outcome != nil {
			row[4], row[5] = dollars(outcome.SavesPerHour), outcomeText(outcome)
		}
		var blockers []string
		for _, b := range n.Blockers {
			text := b.Reason
			if !strings.Contains(text, b.Object) {
				text = b.Object + ": " + text
			}
			blockers = append(blockers, text)
		}
		switch {
		case n.Outcome != nil:
			row[3] = "yes"
		case len(blockers) > 0:
			row[3] = "no: " + strings.Join(blockers, "; ")
			if outcome == nil && n.Needed != nil {
				row[3] += "; and without that: " + n.Needed.Reason
			}
		case n.Needed != nil:
			row[3] = "no: " + n.Needed.Reason
		}
		rows = append(rows, row)
	}
	p.Table([]string{"NODE", "NODEPOOL", "AN HOUR", "COULD GO", "WOULD SAVE", "HOW"}, rows)
}

// rounds prints a row for each round, and what there is at the end.
func (p *page) rounds(a *Answer) {
	if a.Rounds == nil {
		return
	}
	var rows [][]string
	for i, r := range a.Rounds.Rounds {
		var bought []string
		for _, b := range r.Bought {
			bought = append(bought, fmt.Sprintf("%s %s %s %s", b.Name, b.InstanceType, b.CapacityType, b.Zone))
		}
		rows = append(rows, []string{fmt.Sprint(i + 1), string(r.Reason), why.OrNone(strings.Join(r.Gone, " ")), why.OrNone(strings.Join(bought, ", ")), fmt.Sprint(len(r.Moves)), dollars(r.SavesPerHour)})
	}
	p.Table([]string{"ROUND", "FOR", "GONE", "BOUGHT", "PODS MOVED", "SAVES AN HOUR"}, rows)
	p.Line("")
	p.Line("%s", endText("Left alone, the autoscaler would come to ", a.Rounds))
	if a.Before != nil && a.Before.Rounds != nil {
		p.Line("%s", endText("With the NodePools as they are, it would come to ", a.Before.Rounds))
	}
}

func endText(begin string, r *dryrun.Rounds) string {
	text := begin + costText(dryrun.Cost{Nodes: r.Nodes, PricePerHour: r.PricePerHour, Unpriced: r.Unpriced})
	if r.Nodes > r.Unpriced {
		text += " an hour"
	}
	text += fmt.Sprintf(" in %s, in which %s would move", why.Plural(len(r.Rounds), "round"), why.Plural(r.Moved, "pod"))
	if len(r.Evicted) > 0 {
		text += fmt.Sprintf("; %s of them nobody would create again: %s", why.Plural(len(r.Evicted), "pod"), strings.Join(r.Evicted, " "))
	}
	if len(r.Pending) > 0 {
		text += fmt.Sprintf("; %s would wait for ever: %s", why.Plural(len(r.Pending), "pod"), strings.Join(r.Pending, " "))
	}
	return text + "."
}

func outcomeText(o *dryrun.Outcome) string {
	text := why.Plural(len(o.Moves), "pod") + " would move"
	if len(o.Moves) == 0 {
		text = "it is empty"
	}
	if o.Replacement != nil {
		text += fmt.Sprintf(", to %s %s in %s for %s an hour instead", o.Replacement.InstanceType, o.Replacement.CapacityType, o.Replacement.Zone, dollars(o.Replacement.PricePerHour))
	}
	return text
}
