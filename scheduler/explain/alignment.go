package explain

import (
	"kube-scheduler-simulator/scheduler/result"
)

// Unaligned: of the Nodes on which a part of the pod cannot be aligned, Node is the nearest to
// fitting. None of its NUMA nodes has all that the part asks for.
type Unaligned struct {
	Node  string `json:"node"`
	Nodes int    `json:"nodes"`
	// Role is pod, container, init container or sidecar container.
	Role      string `json:"role"`
	Container string `json:"container"`
	// Resource is set if that is what every NUMA node lacks, and nothing else; Requested is then
	// the amount that the part asks for.
	Resource  string `json:"resource"`
	Requested int64  `json:"requested"`
	// Zones are the NUMA nodes.
	Zones []ZoneLack `json:"zones"`
}

// ZoneLack is a resource of which a NUMA node has too little: Available of Requested. CPU is in
// thousandths of a core, other resources are in their own unit.
type ZoneLack struct {
	Zone      string `json:"zone"`
	Resource  string `json:"resource"`
	Available int64  `json:"available"`
	Requested int64  `json:"requested"`
	// Absent: it does not list the resource at all.
	Absent bool `json:"absent"`
}

func (s Unaligned) english() string {
	part := "the pod as a whole"
	if s.Container != "" {
		part = s.Role + " " + s.Container
	}
	var parts []string
	for _, z := range s.Zones {
		parts = append(parts, z.english(s.Resource != ""))
	}
	where := sprintf("No NUMA node of %s has", s.Node)
	if s.Nodes > 1 {
		where = sprintf("Of the %d nodes that cannot align it, %s is the closest fit: no NUMA node there has", s.Nodes, s.Node)
	}
	if s.Resource != "" {
		return sprintf("%s %s %s for %s: %s.", where, amountOf(s.Resource, s.Requested), s.Resource, part, names(parts))
	}
	if len(parts) == 0 {
		return sprintf("%s all that %s needs.", where, part)
	}
	return sprintf("%s all that %s needs: %s.", where, part, names(parts))
}

// english leaves out what the sentence around it says, if alike.
func (z ZoneLack) english(alike bool) string {
	switch {
	case z.Absent && alike:
		return z.Zone + " has none"
	case z.Absent:
		return sprintf("%s has no %s", z.Zone, z.Resource)
	case alike:
		return sprintf("%s has %s", z.Zone, amountOf(z.Resource, z.Available))
	}
	return sprintf("%s has %s of %s %s", z.Zone, amountOf(z.Resource, z.Available), amountOf(z.Resource, z.Requested), z.Resource)
}

// unaligned names the node that is nearest to aligning the pod. A plugin's comparisons begin with
// the nearest node.
func unaligned(c *result.Cycle) []Operands {
	if c.NominatedNode != "" || c.PodGroup != nil || c.Filter == nil {
		return nil
	}
	for i := range c.Filter.Comparisons {
		first := &c.Filter.Comparisons[i]
		if first.Alignment == nil {
			continue
		}
		s := Unaligned{Node: first.Node, Role: first.Alignment.Role, Container: first.Alignment.Container, Zones: []ZoneLack{}}
		for _, r := range result.Rejections(c) {
			if r.Plugin == first.Plugin {
				s.Nodes = r.Nodes
			}
		}
		s.Resource, s.Requested = onlyShort(first.Alignment)
		for _, z := range first.Alignment.Zones {
			for _, short := range z.Short {
				s.Zones = append(s.Zones, ZoneLack{Zone: z.Zone, Resource: short.Resource, Available: short.Available, Requested: short.Requested, Absent: short.Absent})
			}
		}
		return []Operands{s}
	}
	return nil
}

// onlyShort returns the resource that every NUMA node lacks, if none lacks another.
func onlyShort(a *result.AlignmentComparison) (resource string, requested int64) {
	for _, z := range a.Zones {
		if len(z.Short) != 1 || resource != "" && z.Short[0].Resource != resource {
			return "", 0
		}
		resource, requested = z.Short[0].Resource, z.Short[0].Requested
	}
	return resource, requested
}
