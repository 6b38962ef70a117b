package explain

import (
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// Waited: the pod waited at Permit until Plugins had allowed it.
type Waited struct {
	// Waited is the time in a readable form, such as 10 s.
	Waited  string   `json:"waited"`
	Plugins []string `json:"plugins"`
}

// NominatedCounted: Nodes were rejected as if Pods, which are nominated to them, ran
// there already. The scheduler does not say whether they fit without.
type NominatedCounted struct {
	Nodes int `json:"nodes"`
	// Pods are distinct, in order, as namespace/name.
	Pods []string `json:"pods"`
	// Node is the nearest node, and Holds is what the pods nominated to it count of the
	// resources that it lacks; both are empty if they count nothing.
	Node  string `json:"node,omitempty"`
	Holds []Lack `json:"holds,omitempty"`
}

// SearchEnded: Nodes were not evaluated, because the search stopped when it had
// found enough nodes, and extenders then rejected those.
type SearchEnded struct {
	Nodes int `json:"nodes"`
}

// RoomMade: preemption removes Victims pods from Node.
type RoomMade struct {
	Node    string `json:"node"`
	Victims int    `json:"victims"`
}

// RoomMissed: preemption removes Victims pods from Node, where Plugin rejects the pod without them,
// too. In the dry run, the plugin counted otherwise.
type RoomMissed struct {
	Node    string `json:"node"`
	Victims int    `json:"victims"`
	Plugin  string `json:"plugin"`
}

// RoomNominated: preemption made room on Node, and the cycle does not hold the victims.
type RoomNominated struct {
	Node string `json:"node"`
}

// NotEvicted: some of the victims were not evicted, because calls failed with Errors.
type NotEvicted struct {
	Victims int      `json:"victims"`
	Errors  []string `json:"errors"`
}

func (s Waited) english() string {
	return sprintf("It waited %s until %s allowed it.", s.Waited, strings.Join(s.Plugins, ", "))
}

func (s NominatedCounted) english() string {
	said := sprintf("%d nodes were rejected with the pods nominated to them counted as running there (%s); the scheduler did not try them without those pods.", s.Nodes, names(s.Pods))
	if s.Nodes == 1 {
		said = sprintf("1 node was rejected with the pods nominated to it counted as running there (%s); the scheduler did not try it without them.", names(s.Pods))
	}
	if len(s.Holds) > 0 {
		said += sprintf(" The pods nominated to %s count %s there.", s.Node, amounts(s.Holds))
	}
	return said
}

func (s NotEvicted) english() string {
	verb := "were"
	if s.Victims == 1 {
		verb = "was"
	}
	return sprintf("%d of them %s not evicted: %s", s.Victims, verb, strings.Join(s.Errors, ", "))
}

func (s SearchEnded) english() string {
	verb := "were"
	if s.Nodes == 1 {
		verb = "was"
	}
	return sprintf("%s %s not evaluated: enough nodes had been found before extenders rejected them.", plural(s.Nodes, "node"), verb)
}

func (s RoomMade) english() string {
	return sprintf("Preemption makes room on %s by removing %s.", s.Node, plural(s.Victims, "pod"))
}

func (s RoomMissed) english() string {
	return sprintf("Preemption removes %s from %s, but %s still rejects the pod there: in a dry run, it counts differently.", plural(s.Victims, "pod"), s.Node, s.Plugin)
}

func (s RoomNominated) english() string {
	return sprintf("Preemption makes room on %s.", s.Node)
}

func remarks(c *result.Cycle, e Explanation, devicesTogether int) []Statement {
	var out []Statement
	add := func(all ...Operands) {
		for _, s := range all {
			out = append(out, Statement{s})
		}
	}
	if w := c.PermitWait; w != nil && w.Status == "Success" && c.Outcome == result.Scheduled {
		add(Waited{Waited: duration(w.DurationSeconds), Plugins: w.Plugins})
	}
	if _, none := e.Headline.Operands.(NoNodeFits); none {
		near := nearest(c)
		add(nominatedRemarks(c, near)...)
		add(roomRemarks(c, e)...)
		add(near...)
		add(inUse(c, near)...)
		add(unaligned(c)...)
	}
	if heldByGroup(c) {
		add(groupPreemption(c.PodGroup)...)
	}
	add(deviceRemarks(c, e.Devices, devicesTogether)...)
	add(groupRemarks(c)...)
	add(coschedulingRemarks(c, e)...)
	add(quotaRemarks(c, e)...)
	add(nodesFromExtender(c)...)
	for _, f := range e.ExtenderFailures {
		// A failure that was not ignored and ended the cycle is in the headline.
		if f.Ignored || c.Outcome != result.Error {
			add(f)
		}
	}
	add(panicked(c)...)
	return out
}

// roomRemarks is for a pod that fits no node.
func roomRemarks(c *result.Cycle, e Explanation) []Operands {
	var out []Operands
	if n := e.NotEvaluated; n != nil && n.Why == EnoughFound && len(c.Extenders) > 0 {
		out = append(out, SearchEnded{Nodes: n.Nodes})
	}
	if p := c.Preemption; p != nil && p.Chosen != "" {
		for _, candidate := range p.Candidates {
			if candidate.Node == p.Chosen {
				victims := len(candidate.Victims) + candidate.VictimsDropped
				if plugin := missedBy(c, p.Chosen); plugin != "" {
					out = append(out, RoomMissed{Node: p.Chosen, Victims: victims, Plugin: plugin})
				} else {
					out = append(out, RoomMade{Node: p.Chosen, Victims: victims})
				}
				return append(out, evictionRemarks(p.Evictions)...)
			}
		}
	}
	// A member's node after preemption for its whole group is not its own yet.
	if c.NominatedNode != "" && c.PodGroup == nil {
		out = append(out, RoomNominated{Node: c.NominatedNode})
	}
	return out
}

// missedBy returns the plugin that rejects a candidate of preemption without its victims, too; empty
// if none is known to.
func missedBy(c *result.Cycle, node string) string {
	for _, f := range c.Facts {
		if f.Plugin == result.CapacityScheduling && f.Node == node && f.Key == result.QuotaStays {
			return f.Plugin
		}
	}
	if c.Filter != nil {
		for _, compared := range c.Filter.Comparisons {
			if compared.Node == node && compared.WithoutPods == result.RejectsWithoutPods {
				return compared.Plugin
			}
		}
	}
	return ""
}

// nominatedRemarks is for a pod that fits no node.
func nominatedRemarks(c *result.Cycle, nearest []Operands) []Operands {
	if c.Filter == nil {
		return nil
	}
	counted := NominatedCounted{Pods: []string{}}
	for _, pass := range c.Filter.Nominated {
		if !pass.Rejected {
			continue
		}
		counted.Nodes++
		for _, pod := range pass.Pods {
			counted.Pods = append(counted.Pods, pod.Namespace+"/"+pod.Name)
		}
	}
	if counted.Nodes == 0 {
		return nil
	}
	slices.Sort(counted.Pods)
	counted.Pods = slices.Compact(counted.Pods)
	for _, s := range nearest {
		if s, ok := s.(Nearest); ok {
			counted.hold(c, s.Node)
		}
	}
	return []Operands{counted}
}

// hold notes what the pods nominated to a node count of the resources that it lacks.
func (s *NominatedCounted) hold(c *result.Cycle, node string) {
	for _, r := range resourcesShortOn(c, node) {
		if r.Use != nil && r.Use.Nominated > 0 {
			s.Node, s.Holds = node, append(s.Holds, Lack{Resource: r.Name, Amount: r.Use.Nominated})
		}
	}
}

func evictionRemarks(e *result.Evictions) []Operands {
	if e == nil || e.Failed == 0 {
		return nil
	}
	s := NotEvicted{Victims: e.Failed + e.NotTried(), Errors: []string{}}
	for _, f := range e.Failures {
		if !slices.Contains(s.Errors, f.Error) {
			s.Errors = append(s.Errors, f.Error)
		}
	}
	return []Operands{s}
}
