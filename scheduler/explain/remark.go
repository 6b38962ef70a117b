package explain

import (
	"fmt"

	"kube-scheduler-simulator/scheduler/result"
)

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

// RoomNominated: preemption made room on Node, and the cycle does not hold the victims.
type RoomNominated struct {
	Node string `json:"node"`
}

func (SearchEnded) Kind() Kind   { return "searchEnded" }
func (RoomMade) Kind() Kind      { return "room" }
func (RoomNominated) Kind() Kind { return "nominated" }

func (s SearchEnded) english() string {
	verb := "were"
	if s.Nodes == 1 {
		verb = "was"
	}
	return fmt.Sprintf("%s %s not evaluated: enough nodes had been found before extenders rejected them.", plural(s.Nodes, "node"), verb)
}

func (s RoomMade) english() string {
	return fmt.Sprintf("Preemption makes room on %s by removing %s.", s.Node, plural(s.Victims, "pod"))
}

func (s RoomNominated) english() string {
	return fmt.Sprintf("Preemption makes room on %s.", s.Node)
}

// remarks returns the statements that supplement the headline.
func remarks(c *result.Cycle, e Explanation, devicesTogether int) []Statement {
	var out []Statement
	add := func(all ...Operands) {
		for _, s := range all {
			out = append(out, Statement{s})
		}
	}
	if _, none := e.Headline.Operands.(NoNodeFits); none {
		add(roomRemarks(c, e)...)
	}
	if heldByGroup(c) {
		add(groupPreemption(c.PodGroup)...)
	}
	add(deviceRemarks(c, e.Devices, devicesTogether)...)
	add(groupRemarks(c)...)
	for _, f := range e.ExtenderFailures {
		// A failure that was not ignored and ended the cycle is in the headline.
		if f.Ignored || c.Outcome != result.Error {
			add(f)
		}
	}
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
				return append(out, RoomMade{Node: p.Chosen, Victims: len(candidate.Victims) + candidate.VictimsDropped})
			}
		}
	}
	// A member's node after preemption for its whole group is not its own yet.
	if c.NominatedNode != "" && c.PodGroup == nil {
		out = append(out, RoomNominated{Node: c.NominatedNode})
	}
	return out
}
