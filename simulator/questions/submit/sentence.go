package submit

import (
	"fmt"
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/explain"
)

// sentence is the answer about a job in English.
func sentence(j *job) string {
	a := j.answer
	name := title(j.subject)
	var parts []string
	switch q := a.Quota; {
	case q == nil && a.Verdict == Admitted:
		parts = append(parts, fmt.Sprintf("%s would start: no queue holds it back, and %s.", name, found(a)))
	case q == nil:
		parts = append(parts, fmt.Sprintf("%s would not start: %s.", name, found(a)))
	case q.Admitted:
		parts = append(parts, fmt.Sprintf("%s would be admitted now, in %s%s, and %s.", name, flavorNames(q), borrowing(q), found(a)))
	case a.Verdict == Never:
		parts = append(parts, fmt.Sprintf("%s would never be admitted as it is written: %s.", name, trimmed(a.Reason.Text)))
		if a.Nodes.Fit >= a.Nodes.Needs {
			parts = append(parts, "The nodes have room, the quota does not.")
		}
	default:
		parts = append(parts, fmt.Sprintf("%s would wait (%s): %s.", name, a.Reason.Tier, trimmed(a.Reason.Text)))
		if a.Nodes.Fit >= a.Nodes.Needs {
			parts = append(parts, "The nodes have room, the quota does not.")
		} else {
			parts = append(parts, fmt.Sprintf("Once admitted, %s.", found(a)))
		}
	}
	if a.Order != nil {
		parts = append(parts, fmt.Sprintf("It would be number %d of %d in %s.", a.Order.Position, a.Order.Of, a.Quota.ClusterQueue))
	}
	var now []string
	for _, v := range a.Preempts {
		if v.Now {
			now = append(now, v.Namespace+"/"+v.Name)
		}
	}
	if len(now) > 0 {
		parts = append(parts, fmt.Sprintf("It would preempt %s.", explain.Names(now)))
	}
	if a.Quota != nil && a.Verdict == Waits {
		parts = append(parts, a.Start.Text)
	}
	if a.Quota != nil && len(a.Quota.Checks) > 0 {
		parts = append(parts, "Its admission checks must agree first: "+explain.Names(a.Quota.Checks)+".")
	}
	return strings.Join(parts, " ")
}

func trimmed(s string) string { return strings.TrimSuffix(s, ".") }

// found says how many pods find nodes.
func found(a *Answer) string {
	n := a.Nodes
	switch {
	case n.Fit >= n.Pods && n.Pods == 1:
		return "its pod fits on " + n.On[0]
	case n.Fit >= n.Pods && n.Pods > 0:
		on := slices.Clone(n.On)
		slices.Sort(on)
		return fmt.Sprintf("its %d pods fit on %s", n.Pods, explain.Names(slices.Compact(on)))
	case n.Pods == 0:
		return "it wants no pods"
	}
	why := ""
	switch n.Sentence {
	case "":
	case noNodes:
		why = ", because " + noNodes
	default:
		why = ", because of " + n.Sentence
	}
	switch {
	case a.Subject.Gang != nil && n.Fit >= n.Needs:
		return fmt.Sprintf("%d of %d members would find a node, and the gang needs %d", n.Fit, n.Pods, n.Needs)
	case a.Subject.Gang != nil:
		return fmt.Sprintf("%d of %d members would find a node, the gang needs %d%s", n.Fit, n.Pods, n.Needs, why)
	case n.Pods == 1:
		return "its pod would find no node" + why
	}
	return fmt.Sprintf("%d of %d pods would find no node%s", n.Pods-n.Fit, n.Pods, why)
}

func flavorNames(q *Quota) string {
	fewer := ""
	for _, set := range q.PodSets {
		if set.Count < set.Asked {
			fewer = fmt.Sprintf(" with %d of %d pods", set.Count, set.Asked)
		}
	}
	return "flavor " + explain.Names(namesOf(q.PodSets)) + fewer
}

// namesOf are the distinct flavors that pod sets get, sorted.
func namesOf(sets []PodSetFlavors) []string {
	names := []string{}
	for _, set := range sets {
		for _, flavor := range set.Flavors {
			if !slices.Contains(names, flavor) {
				names = append(names, flavor)
			}
		}
	}
	return sorted(names)
}

func borrowing(q *Quota) string {
	if len(q.Borrows) == 0 {
		return ""
	}
	return ", borrowing " + borrowed(q.Borrows)
}

// startText says when a job starts.
func startText(a *Answer) string {
	s := a.Start
	switch {
	case s.Now:
		return "It would have its quota at once."
	case a.Verdict == Never:
		return "It would not start."
	case a.Quota == nil:
		return "It starts when nodes have room, which nobody can foresee."
	case s.Runs == 0:
		return "Nobody can tell when it would start: the queues could not be run forward."
	case s.Started == 0:
		return fmt.Sprintf("Nobody can tell when it would start: it did in none of %d runs of the queues, with the durations seen so far.", s.Runs)
	case s.Latest == nil:
		return fmt.Sprintf("It started in %d of %d runs of the queues, %s; in the others something never ended.", s.Started, s.Runs, since(a))
	}
	return fmt.Sprintf("It would start between %s and %s, in 80 %% of %d runs of the queues with the durations seen so far.", clock(s.Earliest.Time), clock(s.Latest.Time), s.Runs)
}

func since(a *Answer) string {
	if a.Start.Earliest == nil {
		return "too few to name a time"
	}
	return "the earliest at " + clock(a.Start.Earliest.Time)
}
