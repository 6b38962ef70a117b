package explain

import (
	"kube-scheduler-simulator/scheduler/result"
)

// Removal says in English what removing pods would change about a node that a plugin rejected: first
// what the plugin would say without them, and then what preemption may do and tried. The two are
// different things: preemption may be forbidden what would help.
// The web renders the same sentences; see Compared.
func Removal(c *result.Cycle, node, plugin string) []string {
	at := -1
	if c.Filter != nil {
		at = c.Filter.Nodes.Index(node)
	}
	if at < 0 {
		return nil
	}
	verdict := c.Filter.Verdict(at)
	rejection := verdict.Rejection(plugin)
	if rejection == nil {
		return nil
	}
	var out []string
	if s := withoutPods(c, node, plugin); s != "" {
		out = append(out, s)
	}
	// Preemption goes by the status of the plugin that rejected the node first.
	if s := preemptionOn(c, node, verdict.Rejections()[0]); s != "" {
		out = append(out, s)
	}
	return out
}

func withoutPods(c *result.Cycle, node, plugin string) string {
	for i := range c.Filter.Comparisons {
		at := &c.Filter.Comparisons[i]
		if at.Node != node || at.Plugin != plugin {
			continue
		}
		switch at.WithoutPods {
		case result.PassesWithoutPods:
			return sprintf("Removing the pods here would make room: without them, %s lets the node through.", plugin)
		case result.RejectsWithoutPods:
			return sprintf("Removing the pods here would not make room: %s rejects the node without them, too.", plugin)
		}
		for _, d := range at.Devices {
			if !d.Enough() && !d.Blocked && int64(d.Matching) >= max(d.Count, 1) {
				return "Devices in use become free when the pods whose claims hold them are gone."
			}
		}
	}
	return ""
}

// Unresolvable is the status of a plugin by which preemption does not try a node.
const Unresolvable = "UnschedulableAndUnresolvable"

func preemptionOn(c *result.Cycle, node string, by result.PluginReasons) string {
	p := c.Preemption
	if p == nil {
		p = &result.Preemption{}
	}
	switch p.Ineligible {
	case "":
	case result.NeverPreempts:
		return "Preemption evicts no pod, because the pod’s preemptionPolicy is Never."
	case result.VictimsTerminating:
		return "Preemption evicts no further pod while those that it evicts terminate on the nominated node."
	default:
		return "Preemption evicts no pod, because the pod is not eligible for it."
	}
	candidate, unhelpful := p.Tried(node)
	switch {
	case candidate != nil:
		return candidateText(candidate, p.Chosen)
	case unhelpful != nil:
		return noVictimsText(unhelpful)
	case by.Status == Unresolvable && len(c.PostFilter) > 0:
		return sprintf("Preemption did not try this node: %s returned %s.", by.Plugin, Unresolvable)
	case by.Status != Unresolvable && len(p.Candidates) > 0 && p.CandidatesDropped == 0:
		return "Preemption did not try this node: it had found enough candidates."
	}
	return ""
}

func candidateText(c *result.Candidate, chosen string) string {
	pods := plural(len(c.Victims)+c.VictimsDropped, "pod")
	switch {
	case c.RemovedBy != "":
		return sprintf("Preemption could make room here by evicting %s, but an extender removed the node.", pods)
	case c.Node == chosen:
		return sprintf("Preemption makes room here by evicting %s.", pods)
	}
	return sprintf("Preemption could make room here by evicting %s.", pods)
}

func noVictimsText(u *result.UnhelpfulNodes) string {
	said := reason(u.Reasons)
	if u.Plugin != "" {
		said = u.Plugin + ": " + said
	}
	switch u.Why {
	case result.NoPods:
		return "Preemption may evict no pod here: none runs on the node."
	case result.NobodyLower:
		return "Preemption may evict no pod here: none has a lower priority."
	case result.NobodyMay:
		return "Preemption may evict no pod here: none may give way."
	case result.NotEnough:
		return sprintf("Preemption finds no room here: in its dry run, the node is rejected without the pods that it may evict, too (%s).", said)
	case result.DryRunFailed:
		return sprintf("The dry run of preemption failed here (%s).", said)
	}
	return ""
}

// PreemptionVerdict says in English how preemption chose between its candidates, or that it had none. It is
// empty without dry runs.
func PreemptionVerdict(c *result.Cycle) string {
	p := c.Preemption
	if p == nil {
		return ""
	}
	switch rule := rules[p.Rule]; {
	case p.Ineligible != "":
		return preemptionOn(c, "", result.PluginReasons{})
	case len(p.Candidates) == 0:
		return noCandidates(p)
	case p.Chosen == "":
		return "Preemption chose no candidate."
	case p.Rule == "" && surplus(p):
		return sprintf("%s is the only candidate that the scheduler considered.", p.Chosen)
	case p.Rule == "":
		return sprintf("%s is the only candidate.", p.Chosen)
	default:
		return sprintf("%s is chosen: %s.", p.Chosen, rule)
	}
}

var rules = map[result.PreemptionRule]string{
	result.FewestPDBViolations:     "its victims violate the fewest PodDisruptionBudgets",
	result.LowestHighestPriority:   "the highest priority among its victims is the lowest",
	result.LowestSumOfPriorities:   "the sum of its victims’ priorities is the smallest. Kubernetes adds 2³¹ to each priority, so fewer victims give a smaller sum",
	result.FewestVictims:           "it has the fewest victims",
	result.LatestEarliestStartTime: "its highest-priority victims started the latest",
	result.FirstFound:              "several candidates tied under every rule, and it came first",
}

func surplus(p *result.Preemption) bool {
	for i := range p.Candidates {
		if p.Candidates[i].Surplus {
			return true
		}
	}
	return false
}

// noCandidates tells apart that no pod may be evicted and that evicting those that may is not enough.
func noCandidates(p *result.Preemption) string {
	nobody, tried := 0, 0
	why := result.NobodyLower
	for _, u := range p.Unhelpful {
		switch u.Why {
		case result.NobodyMay:
			why = result.NobodyMay
			nobody += len(u.Nodes)
		case result.NobodyLower, result.NoPods:
			nobody += len(u.Nodes)
		case result.NotEnough:
			tried += len(u.Nodes)
		}
	}
	switch {
	case tried > 0:
		return "No candidates: in no dry run do the pods that preemption may evict make room."
	case nobody > 0 && why == result.NobodyMay:
		return "No candidates: on none of the nodes that preemption tried may a pod give way."
	case nobody > 0:
		return "No candidates: on none of the nodes that preemption tried does a pod have a lower priority, so it may evict none."
	}
	return "No candidates."
}
