package explain

import (
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// Nearest: of the Nodes that lack resources, Node is the nearest to fitting.
type Nearest struct {
	Node  string `json:"node"`
	Nodes int    `json:"nodes"`
	Lacks []Lack `json:"lacks"`
}

// Lack is an amount of a resource that a node lacks: of CPU in thousandths of a core, of
// others in their own unit.
type Lack struct {
	Resource string `json:"resource"`
	Amount   int64  `json:"amount"`
}

func (s Nearest) english() string {
	var lacks []string
	for _, l := range s.Lacks {
		if l.Resource == "pods" {
			lacks = append(lacks, "room for one more pod")
		} else {
			lacks = append(lacks, amounts([]Lack{l}))
		}
	}
	said := strings.Join(lacks, ", ")
	if s.Nodes == 1 {
		return sprintf("%s lacks %s.", s.Node, said)
	}
	return sprintf("Of the %d nodes that lack resources, %s is the closest fit: it lacks %s.", s.Nodes, s.Node, said)
}

func amounts(all []Lack) string {
	var out []string
	for _, l := range all {
		out = append(out, sprintf("%s %s", amount(l), l.Resource))
	}
	return strings.Join(out, ", ")
}

// nearest names the node on which the pod would have to give up the least, unless
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
