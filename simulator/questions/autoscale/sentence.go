package autoscale

import (
	"fmt"
	"slices"
	"strings"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/questions/why"
)

// dollars is a price with as many digits as small ones need.
func dollars(price float64) string {
	switch {
	case price < 0:
		return "-" + dollars(-price)
	case price != 0 && price < 0.1:
		return fmt.Sprintf("$%.4f", price)
	}
	return fmt.Sprintf("$%.2f", price)
}

// sentence is the answer about all pods.
func (a *Answer) sentence() string {
	s := a.Summary
	if s.Pods == 0 {
		if len(a.Nodes) > 0 {
			return a.nodesSentence()
		}
		return "No pod waits, so the autoscaler would add no node."
	}
	if len(a.Pools) == 0 {
		return fmt.Sprintf("The cluster has no NodePool, so the autoscaler adds no node. %s.", capital(waiting(s.Pods)))
	}
	text := fmt.Sprintf("No new node would come for %s.", these(s.Pods))
	if s.NewNode > 0 {
		of := fmt.Sprintf("%d of %s", s.NewNode, these(s.Pods))
		if s.NewNode == s.Pods {
			of = capital(these(s.Pods))
		}
		text = fmt.Sprintf("%s would get a new node: %s for %s an hour.", of, why.Plural(a.Cost.NewNodes, "node"), dollars(a.Cost.NewPricePerHour))
	}
	var parts []string
	if s.ExistingNode > 0 {
		parts = append(parts, fmt.Sprintf("the autoscaler finds room for %d already", s.ExistingNode))
	}
	if s.None > 0 {
		parts = append(parts, fmt.Sprintf("no NodePool helps %d", s.None))
	}
	if s.NotJudged > 0 {
		parts = append(parts, fmt.Sprintf("the autoscaler does not look at %d", s.NotJudged))
	}
	if len(parts) > 0 {
		text += " " + capital(strings.Join(parts, "; ")) + "."
	}
	if s.Disagreements > 0 {
		text += fmt.Sprintf(" About %s the scheduler disagrees.", why.Plural(s.Disagreements, "pod"))
	}
	if len(a.Nodes) > 0 {
		text += " " + a.nodesSentence()
	}
	return text
}

func (a *Answer) nodesSentence() string {
	gone, saves := 0, 0.0
	for _, n := range a.Nodes {
		if n.Outcome != nil {
			gone++
			saves = max(saves, n.Outcome.SavesPerHour)
		}
	}
	if gone == 0 {
		return fmt.Sprintf("Of %s none could go.", why.Plural(len(a.Nodes), "node"))
	}
	return fmt.Sprintf("Of %s, %d could go, each alone; the most that one saves is %s an hour.", why.Plural(len(a.Nodes), "node"), gone, dollars(saves))
}

func waiting(n int) string {
	if n == 1 {
		return "1 pod waits"
	}
	return fmt.Sprintf("%d pods wait", n)
}

// these are the pods of a question.
func these(n int) string {
	if n == 1 {
		return "the pod that waits"
	}
	return fmt.Sprintf("the %d pods that wait", n)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// podSentence is the answer about a pod.
func (a *Answer) podSentence(p *Pod) string {
	name := p.Namespace + "/" + p.Name
	switch p.Verdict {
	case dryrun.OnExistingNode:
		return fmt.Sprintf("%s needs no new node: the autoscaler finds room on %s.", name, p.Node)
	case dryrun.OnNewNode:
		i := slices.IndexFunc(a.NewNodes, func(n dryrun.NewNode) bool { return n.Name == p.Node })
		n := &a.NewNodes[i]
		with := ""
		if len(n.Pods) > 1 {
			with = " with " + why.Plural(len(n.Pods)-1, "other pod")
		}
		return fmt.Sprintf("%s would get the new node %s%s: %s, %s in %s, for %s an hour.", name, n.Name, with, n.InstanceType, n.CapacityType, n.Zone, dollars(n.PricePerHour))
	case dryrun.OnNone:
		if p.Reason != "" {
			return fmt.Sprintf("No new node helps %s: %s.", name, p.Reason)
		}
		var parts []string
		for _, r := range p.Refused {
			parts = append(parts, r.NodePool+": "+r.Reason)
		}
		return fmt.Sprintf("No new node helps %s: %s.", name, strings.Join(parts, "; "))
	}
	return fmt.Sprintf("The autoscaler does not look at %s: %s.", name, strings.TrimPrefix(p.Reason, "not looked at: "))
}
