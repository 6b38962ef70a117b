package explain

import (
	"slices"
	"strconv"
	"time"

	"kube-scheduler-simulator/scheduler/result"
)

// MembersMissing: Coscheduling refused the pod, because its group has Members pods and needs
// Needs.
type MembersMissing struct {
	Pod     string `json:"pod"`
	Group   string `json:"group"`
	Needs   int    `json:"needs"`
	Members int    `json:"members"`
}

// MembersGated: Coscheduling refused the pod, because too many of its group's pods have
// scheduling gates.
type MembersGated struct {
	Pod     string `json:"pod"`
	Group   string `json:"group"`
	Needs   int    `json:"needs"`
	Members int    `json:"members"`
	Gated   int    `json:"gated"`
}

// GroupBackedOff: Coscheduling refused the pod, because its group failed recently.
type GroupBackedOff struct {
	Pod   string `json:"pod"`
	Group string `json:"group"`
	// Left is how long the backoff still lasted, in a readable form.
	Left string `json:"left"`
}

// GroupLacksResources: Coscheduling refused the pod, because the nodes together lack some of its
// group's minResources.
type GroupLacksResources struct {
	Pod   string `json:"pod"`
	Group string `json:"group"`
	// Lacking is a list such as "cpu 2, memory 1Gi".
	Lacking string `json:"lacking"`
}

// GroupMissing: Coscheduling rejected the pod at Permit, because its group does not exist.
type GroupMissing struct {
	Pod   string `json:"pod"`
	Node  string `json:"node"`
	Group string `json:"group"`
}

// MembersAwaited: the pod has a place and waits until Needs members of its group have one.
type MembersAwaited struct {
	Pod   string `json:"pod"`
	Node  string `json:"node"`
	Group string `json:"group"`
	Needs int    `json:"needs"`
	Has   int    `json:"has"`
	// More is Needs minus Has.
	More int `json:"more"`
}

// MemberFitsNowhere: the pod lost its place because Member of its group fits no node.
type MemberFitsNowhere struct {
	Pod    string `json:"pod"`
	Node   string `json:"node"`
	Group  string `json:"group"`
	Member string `json:"member"`
}

// MemberLostPlace: the pod lost its place because Member of its group lost its own.
type MemberLostPlace struct {
	Pod    string `json:"pod"`
	Node   string `json:"node"`
	Group  string `json:"group"`
	Member string `json:"member"`
}

// MembersSentBack: because the pod fits no node, Coscheduling took their places from the Sent
// members of its group that waited.
type MembersSentBack struct {
	Group string `json:"group"`
	Needs int    `json:"needs"`
	Has   int    `json:"has"`
	Sent  int    `json:"sent"`
}

// MembersKept: the pod fits no node, but so few members lack a place that Coscheduling lets the
// others wait.
type MembersKept struct {
	Group string `json:"group"`
	Needs int    `json:"needs"`
	Has   int    `json:"has"`
}

// MembersComplete: as many members of the pod's group have a place as it needs.
type MembersComplete struct {
	Group string `json:"group"`
	Needs int    `json:"needs"`
	Has   int    `json:"has"`
}

// MembersShort: when the pod began to wait, its group had fewer places than it needs.
type MembersShort struct {
	Group string `json:"group"`
	Needs int    `json:"needs"`
	Has   int    `json:"has"`
}

func (s MembersMissing) english() string {
	return sprintf("%s was rejected before any node was checked: its pod group %s needs %s and has only %d.", s.Pod, s.Group, plural(s.Needs, "pod"), s.Members)
}

func (s MembersGated) english() string {
	return sprintf("%s was rejected before any node was checked: its pod group %s needs %s, and %d of its %d have scheduling gates.", s.Pod, s.Group, plural(s.Needs, "pod"), s.Gated, s.Members)
}

func (s GroupBackedOff) english() string {
	return sprintf("%s was rejected before any node was checked: its pod group %s failed recently and is in backoff for another %s.", s.Pod, s.Group, s.Left)
}

func (s GroupLacksResources) english() string {
	return sprintf("%s was rejected before any node was checked: for its pod group %s, all nodes together lack %s.", s.Pod, s.Group, s.Lacking)
}

func (s GroupMissing) english() string {
	return sprintf("%s was assigned to %s and then rejected: its pod group %s does not exist.", s.Pod, s.Node, s.Group)
}

func (s MembersAwaited) english() string {
	return sprintf("%s was assigned to %s and waits: its pod group %s needs %s, and has places for %d of %d.", s.Pod, s.Node, s.Group, plural(s.More, "more member"), s.Has, s.Needs)
}

func (s MemberFitsNowhere) english() string {
	return sprintf("%s was assigned to %s and lost its place: %s of its pod group %s fits no node, so the members that waited were sent back.", s.Pod, s.Node, s.Member, s.Group)
}

func (s MemberLostPlace) english() string {
	return sprintf("%s was assigned to %s and lost its place: %s of its pod group %s lost its own, so the members that waited were sent back.", s.Pod, s.Node, s.Member, s.Group)
}

func (s MembersSentBack) english() string {
	return sprintf("Its pod group %s has places for %d of the %d members that it needs, so Coscheduling sent %s back.", s.Group, s.Has, s.Needs, plural(s.Sent, "waiting member"))
}

func (s MembersKept) english() string {
	return sprintf("Its pod group %s has places for %d of the %d members that it needs, which is close enough for Coscheduling to let them wait.", s.Group, s.Has, s.Needs)
}

func (s MembersComplete) english() string {
	return sprintf("Its pod group %s needs %s and has places for %d.", s.Group, plural(s.Needs, "member"), s.Has)
}

func (s MembersShort) english() string {
	return sprintf("When it began to wait, its pod group %s had places for %d of the %d members that it needs.", s.Group, s.Has, s.Needs)
}

type coscheduling map[string]string

// coscheduled returns the plugin's facts; they are empty for a pod without a group.
func coscheduled(c *result.Cycle) coscheduling {
	facts := coscheduling{}
	for _, f := range c.Facts {
		if f.Plugin == result.Coscheduling && f.Node == "" {
			facts[f.Key] = f.Value
		}
	}
	return facts
}

// count returns a number; 0 if there is none.
func (f coscheduling) count(key string) int {
	n, err := strconv.Atoi(f[key])
	if err != nil {
		return 0
	}
	return n
}

// refusedByGroup returns the headline of a pod that Coscheduling refused before Filter, or nil.
func refusedByGroup(c *result.Cycle) Operands {
	f := coscheduled(c)
	pod, group, needs, members := c.Pod.Name, f[result.GroupKey], f.count(result.GroupMinMember), f.count(result.GroupMembers)
	switch f[result.GroupRefusal] {
	case result.RefusedMembers:
		return MembersMissing{Pod: pod, Group: group, Needs: needs, Members: members}
	case result.RefusedGates:
		return MembersGated{Pod: pod, Group: group, Needs: needs, Members: members, Gated: f.count(result.GroupGated)}
	case result.RefusedResources:
		return GroupLacksResources{Pod: pod, Group: group, Lacking: f[result.GroupLacking]}
	case result.RefusedBackoff:
		until, err := time.Parse(time.RFC3339Nano, f[result.GroupBackoffUntil])
		if err != nil {
			return nil
		}
		left := until.Sub(c.StartTime).Seconds()
		return GroupBackedOff{Pod: pod, Group: group, Left: duration(&left)}
	}
	return nil
}

// releasedByGroup returns the headline of a pod that lost its place because of its group, or nil.
func releasedByGroup(c *result.Cycle) Operands {
	f := coscheduled(c)
	pod, node, group, member := c.Pod.Name, c.SelectedNode, f[result.GroupKey], f[result.GroupCause]
	switch {
	case f[result.GroupRefusal] == result.RefusedNoGroup:
		return GroupMissing{Pod: pod, Node: node, Group: group}
	case c.PermitWait == nil || c.PermitWait.Plugin != result.Coscheduling || c.PermitWait.TimedOut:
		return nil
	case f[result.GroupCauseStage] == result.CauseUnschedulable:
		return MemberFitsNowhere{Pod: pod, Node: node, Group: group, Member: member}
	case f[result.GroupCauseStage] == result.CauseReleased:
		return MemberLostPlace{Pod: pod, Node: node, Group: group, Member: member}
	}
	return nil
}

// awaitingGroup returns the headline of a pod that waits for nothing but its group, or nil.
func awaitingGroup(c *result.Cycle) Operands {
	f := coscheduled(c)
	needs, has := f.count(result.GroupMinMember), f.count(result.GroupAssigned)
	if needs <= has || !slices.Equal(waitingFor(c.Permit), []string{result.Coscheduling}) {
		return nil
	}
	return MembersAwaited{Pod: c.Pod.Name, Node: c.SelectedNode, Group: f[result.GroupKey], Needs: needs, Has: has, More: needs - has}
}

// coschedulingRemarks says how the pod's group stands after the attempt.
func coschedulingRemarks(c *result.Cycle, e Explanation) []Operands {
	f := coscheduled(c)
	group, needs, has := f[result.GroupKey], f.count(result.GroupMinMember), f.count(result.GroupAssigned)
	_, timedOut := e.Headline.Operands.(PermitTimeout)
	switch {
	case needs == 0:
	case c.Outcome == result.Scheduled && f[result.GroupPlaced] != "":
		return []Operands{MembersComplete{Group: group, Needs: needs, Has: f.count(result.GroupPlaced)}}
	case timedOut:
		return []Operands{MembersShort{Group: group, Needs: needs, Has: has}}
	case f[result.GroupTolerated] != "" && f[result.GroupRefusal] == "":
		return []Operands{MembersKept{Group: group, Needs: needs, Has: has}}
	case f.count(result.GroupSentBackCount) > 0:
		return []Operands{MembersSentBack{Group: group, Needs: needs, Has: has, Sent: f.count(result.GroupSentBackCount)}}
	}
	return nil
}
