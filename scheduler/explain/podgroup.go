package explain

import (
	"fmt"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// placement returns the placement that c tells of, or nil.
func placement(c *result.Cycle) *result.Placement {
	if g := c.PodGroup; g != nil && g.Placement != nil && *g.Placement < len(g.Placements) {
		return &g.Placements[*g.Placement]
	}
	return nil
}

// outsidePlacement counts the nodes that the search left out because they are not
// in the placement.
func outsidePlacement(c *result.Cycle) int {
	if p := placement(c); p != nil && p.Nodes > 0 {
		return c.Nodes.Total - p.Nodes
	}
	return 0
}

// heldByGroup reports whether the pod found a place, or was not even tried, and its
// group is why it did not go there.
func heldByGroup(c *result.Cycle) bool {
	g := c.PodGroup
	return g != nil && c.Outcome == result.Unschedulable && g.Outcome != result.Scheduled && (c.SelectedNode != "" || g.Placement == nil)
}

// heldSentence is for a pod that its group held back.
func heldSentence(c *result.Cycle) string {
	g := c.PodGroup
	said, but := fmt.Sprintf("%s had a place on %s", c.Pod.Name, c.SelectedNode), "but"
	if c.SelectedNode == "" {
		said, but = c.Pod.Name+" was not tried", "because"
	}
	if len(g.Placements) > 0 && (g.Placement != nil || g.Placements[0].Tried > 0) {
		return said + ", " + but + " " + shortGroup(g) + preemptionForGroup(g)
	}
	return fmt.Sprintf("%s: its pod group %s was rejected before any member was: %s%s", said, g.Name, firstReason(c), preemptionForGroup(g))
}

// groupSentence adds to the sentence about a pod what became of its group.
func groupSentence(c *result.Cycle) string {
	g := c.PodGroup
	switch {
	case g == nil || len(g.Placements) == 0 || heldByGroup(c) || c.Outcome == result.Error:
		return ""
	case g.Outcome != result.Scheduled && placement(c) != nil && g.AlreadyScheduled >= g.MinCount && g.MinCount > 0:
		return fmt.Sprintf(" Its pod group %s needs %d members and has %d already.", g.Name, g.MinCount, g.AlreadyScheduled)
	case g.Outcome != result.Scheduled:
		return " No member goes ahead: " + shortGroup(g) + preemptionForGroup(g)
	}
	p := placement(c)
	if p == nil {
		return ""
	}
	said := fmt.Sprintf(" Its pod group %s has a place for %d of %s", g.Name, g.Has(p), plural(g.MemberCount+g.AlreadyScheduled, "member"))
	if g.MinCount > 0 {
		said += fmt.Sprintf(", and needs %d", g.MinCount)
	}
	if g.TopologyKey == "" {
		return said + "."
	}
	return said + fmt.Sprintf(", in %s=%s%s.", g.TopologyKey, p.Name, whyPlacement(g, p))
}

// whyPlacement compares the chosen placement with the others.
func whyPlacement(g *result.PodGroup, p *result.Placement) string {
	fit := 0
	for i := range g.Placements {
		if g.Placements[i].Status == "Success" && g.Placements[i].Assigned > 0 {
			fit++
		}
	}
	if fit < 2 || p.Total == nil {
		return fmt.Sprintf(", the only one of %s that fits", plural(g.PlacementCount, "placement"))
	}
	return fmt.Sprintf(": total %d, the best of %d placements that fit, of %d", *p.Total, fit, g.PlacementCount)
}

// shortGroup says how near the group came, and what blocked it.
func shortGroup(g *result.PodGroup) string {
	near := &g.Placements[0]
	for i := range g.Placements {
		if g.Placements[i].Assigned > near.Assigned {
			near = &g.Placements[i]
		}
	}
	said := fmt.Sprintf("its pod group %s needs %d members, and only %d found one", g.Name, g.MinCount, g.Has(near))
	if g.MinCount == 0 {
		said = fmt.Sprintf("no member of its pod group %s found one", g.Name)
	}
	if g.TopologyKey != "" {
		said += fmt.Sprintf(" in %s=%s, the best of %s", g.TopologyKey, near.Name, plural(g.PlacementCount, "placement"))
	}
	var parts []string
	for _, b := range near.BlockedBy {
		part := fmt.Sprintf("%s for %s", b.Plugin, plural(b.Members, "member"))
		if len(b.Reasons) > 0 {
			part += " (" + strings.Join(b.Reasons, ", ") + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return said + "."
	}
	return said + "; nodes were rejected by " + strings.Join(parts, ", ") + "."
}

// preemptionForGroup says what the plugins that preempt for groups have found.
func preemptionForGroup(g *result.PodGroup) string {
	found := g.Preemption
	for _, p := range g.PostFilter {
		switch {
		case p.Status != "Success":
		case found != nil:
			return fmt.Sprintf(" %s makes room for the group by removing %s.", p.Plugin, plural(found.VictimCount, "pod"))
		default:
			return fmt.Sprintf(" %s makes room for the group.", p.Plugin)
		}
	}
	if found != nil && !found.Helpful {
		return fmt.Sprintf(" Without %s of lower priority it would not fit either.", plural(found.ReprievedCount, "pod"))
	}
	return ""
}

func firstReason(c *result.Cycle) string {
	if ps := c.PodGroup.Placements; len(ps) > 0 && len(ps[0].Reasons) > 0 {
		return strings.Join(ps[0].Reasons, ", ") + "."
	}
	return c.Message
}
