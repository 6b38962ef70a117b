package explain

import (
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// placement returns the placement that c is about, or nil.
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

// HeldByGroup: the pod had a place, but too few members of its group had one.
type HeldByGroup struct {
	Pod   string         `json:"pod"`
	Node  string         `json:"node"`
	Group GroupShortfall `json:"group"`
}

// NotTried: when it was the pod's turn, too few members were left to satisfy the
// group.
type NotTried struct {
	Pod   string         `json:"pod"`
	Group GroupShortfall `json:"group"`
}

// GroupRejected: the group was rejected before any of its members was tried.
type GroupRejected struct {
	Pod     string   `json:"pod"`
	Group   string   `json:"group"`
	Reasons []string `json:"reasons"`
}

// GroupHasEnough: the group has as many members scheduled as it needs, without this
// pod.
type GroupHasEnough struct {
	Group string `json:"group"`
	Needs int    `json:"needs"`
	Has   int    `json:"has"`
}

// GroupShort: no member of the group is scheduled, because too few found a node.
type GroupShort struct {
	Group GroupShortfall `json:"group"`
}

// GroupShortfall says how close a group came to fitting, and which plugins blocked
// it.
type GroupShortfall struct {
	Name string `json:"name"`
	// Needs is 0 for a group without a gang policy, of which no member found a node.
	Needs int `json:"needs"`
	Found int `json:"found"`
	// Nearest is the placement that came closest; absent when the group has no
	// topology constraint.
	Nearest *NearestPlacement `json:"nearest,omitempty"`
	// Blockers are the plugins that rejected nodes for the members that found none.
	Blockers []Blocker `json:"blockers"`
}

// NearestPlacement is the nodes with one value of the group's topology key, the best
// of Placements.
type NearestPlacement struct {
	TopologyKey string `json:"topologyKey"`
	Name        string `json:"name"`
	Placements  int    `json:"placements"`
}

// Blocker is a plugin that rejected nodes for Members that found none.
type Blocker struct {
	Plugin  string   `json:"plugin"`
	Members int      `json:"members"`
	Reasons []string `json:"reasons"`
}

// GroupPlaced: enough members of the group have a place.
type GroupPlaced struct {
	Group   string `json:"group"`
	Has     int    `json:"has"`
	Members int    `json:"members"`
	// Needs is 0 for a group without a gang policy.
	Needs int `json:"needs"`
	// Chosen is the placement that was chosen; absent when the group has no
	// topology constraint.
	Chosen *ChosenPlacement `json:"chosen,omitempty"`
}

// ChosenPlacement is the nodes with one value of the group's topology key.
type ChosenPlacement struct {
	TopologyKey string `json:"topologyKey"`
	Name        string `json:"name"`
	Placements  int    `json:"placements"`
	// Best compares it with the others that fit; absent when no other does.
	Best *BestPlacement `json:"best,omitempty"`
}

// BestPlacement is the total of the chosen placement, compared with the others that
// fit.
type BestPlacement struct {
	Total   int64 `json:"total"`
	Fitting int   `json:"fitting"`
}

// GroupRoom: a plugin preempts for the whole group, and the cycle does not hold the
// victims.
type GroupRoom struct {
	Plugin string `json:"plugin"`
}

// GroupVictims: a plugin preempts for the whole group by removing Victims pods.
type GroupVictims struct {
	Plugin  string `json:"plugin"`
	Victims int    `json:"victims"`
}

// GroupFits: in the dry run of a plugin that preempts, all members found nodes, and no pod had to
// give way.
type GroupFits struct {
	Plugin string `json:"plugin"`
}

// GroupRoomImpossible: the group would not fit even without the Pods pods of lower
// priority.
type GroupRoomImpossible struct {
	Pods int `json:"pods"`
}

func (s HeldByGroup) english() string {
	return sprintf("%s was assigned to %s, but %s", s.Pod, s.Node, s.Group.english())
}

func (s NotTried) english() string {
	return sprintf("%s was not tried, because %s", s.Pod, s.Group.english())
}

func (s GroupRejected) english() string {
	return sprintf("%s was not tried: its pod group %s was rejected before any member was tried: %s.", s.Pod, s.Group, strings.Join(s.Reasons, ", "))
}

func (s GroupHasEnough) english() string {
	return sprintf("Its pod group %s needs %d members and has %d already.", s.Group, s.Needs, s.Has)
}

func (s GroupShort) english() string { return "No member proceeds: " + s.Group.english() }

func (s GroupShortfall) english() string {
	said := sprintf("its pod group %s needs %d members, and nodes were found for only %d", s.Name, s.Needs, s.Found)
	if s.Needs == 0 {
		said = sprintf("no node was found for any member of its pod group %s", s.Name)
	}
	if p := s.Nearest; p != nil {
		said += sprintf(" in %s=%s, the best of %s", p.TopologyKey, p.Name, plural(p.Placements, "placement"))
	}
	var parts []string
	for _, b := range s.Blockers {
		part := sprintf("%s for %s", b.Plugin, plural(b.Members, "member"))
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

func (s GroupPlaced) english() string {
	said := sprintf("Its pod group %s has nodes for %d of %s", s.Group, s.Has, plural(s.Members, "member"))
	if s.Needs > 0 {
		said += sprintf(", and needs %d", s.Needs)
	}
	if s.Chosen == nil {
		return said + "."
	}
	said += sprintf(", in %s=%s", s.Chosen.TopologyKey, s.Chosen.Name)
	if best := s.Chosen.Best; best != nil {
		return said + sprintf(": total %d, the best of %d placements that fit, of %d.", best.Total, best.Fitting, s.Chosen.Placements)
	}
	return said + sprintf(", the only one of %s that fits.", plural(s.Chosen.Placements, "placement"))
}

func (s GroupRoom) english() string { return s.Plugin + " makes room for the group." }

func (s GroupVictims) english() string {
	return sprintf("%s makes room for the group by removing %s.", s.Plugin, plural(s.Victims, "pod"))
}

func (s GroupFits) english() string {
	return sprintf("In its dry run, %s found nodes for the group without removing a pod.", s.Plugin)
}

func (s GroupRoomImpossible) english() string {
	return sprintf("It would not fit even without %s of lower priority.", plural(s.Pods, "pod"))
}

// heldByGroup reports whether the pod found a place, or was not even tried, and its
// group is why it was not scheduled.
func heldByGroup(c *result.Cycle) bool {
	g := c.PodGroup
	return g != nil && c.Outcome == result.Unschedulable && g.Outcome != result.Scheduled && (c.SelectedNode != "" || g.Placement == nil)
}

// byGroup returns the headline of a pod that its group held back, or nil.
func byGroup(c *result.Cycle) Operands {
	if !heldByGroup(c) {
		return nil
	}
	g := c.PodGroup
	tried := len(g.Placements) > 0 && (g.Placement != nil || g.Placements[0].Tried > 0)
	switch {
	case tried && c.SelectedNode != "":
		return HeldByGroup{Pod: c.Pod.Name, Node: c.SelectedNode, Group: shortfall(g)}
	case tried:
		return NotTried{Pod: c.Pod.Name, Group: shortfall(g)}
	case c.SelectedNode != "":
		return LostPlace{Pod: c.Pod.Name, Node: c.SelectedNode, Message: c.Message}
	}
	// The sentence ends with a full stop of its own.
	reasons := []string{strings.TrimSuffix(c.Message, ".")}
	if len(g.Placements) > 0 && len(g.Placements[0].Reasons) > 0 {
		reasons = g.Placements[0].Reasons
	}
	return GroupRejected{Pod: c.Pod.Name, Group: g.Name, Reasons: reasons}
}

// groupRemarks says what happened to the group of a pod whose headline does not
// mention it.
func groupRemarks(c *result.Cycle) []Operands {
	g := c.PodGroup
	switch {
	case g == nil || len(g.Placements) == 0 || heldByGroup(c) || c.Outcome == result.Error:
		return nil
	case g.Outcome != result.Scheduled && placement(c) != nil && g.AlreadyScheduled >= g.MinCount && g.MinCount > 0:
		return []Operands{GroupHasEnough{Group: g.Name, Needs: g.MinCount, Has: g.AlreadyScheduled}}
	case g.Outcome != result.Scheduled:
		return append([]Operands{GroupShort{Group: shortfall(g)}}, groupPreemption(g)...)
	case placement(c) == nil:
		return nil
	}
	p := placement(c)
	placed := GroupPlaced{Group: g.Name, Has: g.Has(p), Members: g.MemberCount + g.AlreadyScheduled, Needs: g.MinCount}
	if g.TopologyKey != "" {
		placed.Chosen = &ChosenPlacement{TopologyKey: g.TopologyKey, Name: p.Name, Placements: g.PlacementCount, Best: bestPlacement(g, p)}
	}
	return []Operands{placed}
}

// bestPlacement compares the chosen placement with the others that fit, or returns nil.
func bestPlacement(g *result.PodGroup, p *result.Placement) *BestPlacement {
	fitting := 0
	for i := range g.Placements {
		if g.Placements[i].Status == "Success" && g.Placements[i].Assigned > 0 {
			fitting++
		}
	}
	if fitting < 2 || p.Total == nil {
		return nil
	}
	return &BestPlacement{Total: *p.Total, Fitting: fitting}
}

// shortfall returns the shortfall of a group that was tried on at least one
// placement.
func shortfall(g *result.PodGroup) GroupShortfall {
	near := &g.Placements[0]
	for i := range g.Placements {
		if g.Placements[i].Assigned > near.Assigned {
			near = &g.Placements[i]
		}
	}
	s := GroupShortfall{Name: g.Name, Needs: g.MinCount, Found: g.Has(near), Blockers: []Blocker{}}
	if g.TopologyKey != "" {
		s.Nearest = &NearestPlacement{TopologyKey: g.TopologyKey, Name: near.Name, Placements: g.PlacementCount}
	}
	for _, b := range near.BlockedBy {
		s.Blockers = append(s.Blockers, Blocker{Plugin: b.Plugin, Members: b.Members, Reasons: append([]string{}, b.Reasons...)})
	}
	return s
}

// groupPreemption says what the plugins that preempt for groups found.
func groupPreemption(g *result.PodGroup) []Operands {
	found := g.Preemption
	for _, p := range g.PostFilter {
		switch {
		case p.Status != "Success":
		case found != nil && found.VictimCount == 0:
			// The members keep the nodes that they found without the possible victims, and then all of
			// these may stay. In the group's own cycle, the members before chose other nodes.
			return []Operands{GroupFits{Plugin: p.Plugin}}
		case found != nil:
			return []Operands{GroupVictims{Plugin: p.Plugin, Victims: found.VictimCount}}
		default:
			return []Operands{GroupRoom{Plugin: p.Plugin}}
		}
	}
	if found != nil && !found.Helpful {
		return []Operands{GroupRoomImpossible{Pods: found.ReprievedCount}}
	}
	return nil
}
