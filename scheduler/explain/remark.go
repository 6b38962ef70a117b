package explain

import (
	"fmt"
	"strings"

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

// Nearest: of the Nodes that lack resources, Node is the nearest to fitting.
type Nearest struct {
	Node  string `json:"node"`
	Nodes int    `json:"nodes"`
	// Lacks are the resources that Node is short of.
	Lacks []Lack `json:"lacks"`
}

// Lack is an amount of a resource that a node lacks: of CPU in thousandths of a core, of
// others in their own unit.
type Lack struct {
	Resource string `json:"resource"`
	Amount   int64  `json:"amount"`
}

func (SearchEnded) Kind() Kind   { return "searchEnded" }
func (Nearest) Kind() Kind       { return "nearest" }
func (RoomMade) Kind() Kind      { return "room" }
func (RoomNominated) Kind() Kind { return "nominated" }

func (s SearchEnded) english() string {
	verb := "were"
	if s.Nodes == 1 {
		verb = "was"
	}
	return fmt.Sprintf("%s %s not evaluated: enough nodes had been found before extenders rejected them.", plural(s.Nodes, "node"), verb)
}

func (s Nearest) english() string {
	var lacks []string
	for _, l := range s.Lacks {
		lacks = append(lacks, fmt.Sprintf("%s %s", amount(l), l.Resource))
	}
	said := strings.Join(lacks, ", ")
	if s.Nodes == 1 {
		return fmt.Sprintf("%s lacks %s.", s.Node, said)
	}
	return fmt.Sprintf("Of the %d nodes that lack resources, %s is the nearest to fitting: it lacks %s.", s.Nodes, s.Node, said)
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
		add(nearest(c)...)
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
				return append(out, RoomMade{Node: p.Chosen, Victims: len(candidate.Victims)})
			}
		}
	}
	// A member's node after preemption for its whole group is not its own yet.
	if c.NominatedNode != "" && c.PodGroup == nil {
		out = append(out, RoomNominated{Node: c.NominatedNode})
	}
	return out
}

// nearest names the node that lacks the smallest part of the pod's requests, unless
// preemption makes room, or the pod's group decides. A plugin's comparisons begin with
// the nearest node.
func nearest(c *result.Cycle) []Operands {
	if c.NominatedNode != "" || c.PodGroup != nil || c.Filter == nil {
		return nil
	}
	for i := range c.Filter.Comparisons {
		first := &c.Filter.Comparisons[i]
		if len(first.Resources) == 0 {
			continue
		}
		s := Nearest{Node: first.Node, Lacks: []Lack{}}
		for _, r := range result.Rejections(c) {
			if r.Plugin == first.Plugin {
				s.Nodes = r.Nodes
			}
		}
		for _, r := range first.Resources {
			s.Lacks = append(s.Lacks, Lack{Resource: r.Name, Amount: r.Requested + r.InUse - r.Allocatable})
		}
		return []Operands{s}
	}
	return nil
}
