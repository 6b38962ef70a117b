package recorder

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// groupRecord is the record of a pod group's cycle, shared by its members' cycles. The scheduling
// goroutine writes it until the first member has ended; then the recorder's goroutine reads it.
type groupRecord struct {
	mu    sync.Mutex
	group result.PodGroup
	// generated are the untried placements, in order, and states the tried ones, by their state.
	generated []*fwk.Placement
	states    []fwk.PlacementCycleState
	// kept indexes the placements that the final record keeps.
	kept  []int
	final *result.PodGroup
	// evictions is nil when no plugin may preempt for the group.
	evictions *evictions
}

// groupCycle returns the record of a group's cycle, and creates it if necessary, on the scheduling
// goroutine.
func (r *Recorder) groupCycle(key fwk.PodGroupCycleState, info fwk.PodGroupInfo) *groupRecord {
	g := r.groups[key]
	if g == nil {
		g = &groupRecord{}
		r.groups[key] = g
	}
	if info != nil {
		g.describe(info)
	}
	return g
}

// groupOf returns the record of the running cycle of a pod's group, or nil. It runs on the
// scheduling goroutine, for a member that was not tried.
func (r *Recorder) groupOf(pod *v1.Pod) *groupRecord {
	if pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return nil
	}
	for _, g := range r.groups {
		if g.is(pod.Namespace, *pod.Spec.SchedulingGroup.PodGroupName) {
			return g
		}
	}
	return nil
}

func (g *groupRecord) is(namespace, name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.group.Namespace == namespace && g.group.Name == name
}

// describe notes the properties of the group that are known before the scheduler
// tries its members.
func (g *groupRecord) describe(info fwk.PodGroupInfo) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.group.Name != "" {
		return
	}
	g.group.Namespace, g.group.Name = info.GetNamespace(), info.GetName()
	members := info.GetUnscheduledPods()
	g.group.MemberCount = len(members)
	g.group.Members = []result.Pod{}
	for _, pod := range members[:min(len(members), result.MaxGroupMembers)] {
		g.group.Members = append(g.group.Members, podOf(pod))
	}
	pg := info.GetPodGroup()
	if pg == nil {
		return // a group of groups
	}
	if gang := pg.Spec.SchedulingPolicy.Gang; gang != nil {
		g.group.MinCount = int(gang.MinCount)
	}
	if ref := pg.Spec.WorkloadRef; ref != nil {
		g.group.Workload, g.group.Template = ref.WorkloadName, ref.TemplateName
	}
	if c := pg.Spec.SchedulingConstraints; c != nil && len(c.Topology) > 0 {
		g.group.TopologyKey = c.Topology[0].Key // the API allows only one
	}
}

func (g *groupRecord) placement(state fwk.PlacementCycleState) *result.Placement {
	i := slices.Index(g.states, state)
	if i < 0 {
		i = len(g.states)
		g.states = append(g.states, state)
		entry := result.Placement{}
		if i < len(g.generated) {
			entry.Name, entry.Nodes = g.generated[i].Name, len(g.generated[i].Nodes)
		}
		g.group.Placements = append(g.group.Placements, entry)
	}
	return &g.group.Placements[i]
}

// progress notes the answer of PlacementFeasible. The scheduler asks before it tries the first
// member of a placement, and after each member.
func (g *groupRecord) progress(state fwk.PlacementCycleState, progress framework.PlacementProgress, status *fwk.Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := !slices.Contains(g.states, state)
	p := g.placement(state)
	if first {
		g.group.AlreadyScheduled = progress.Scheduled
	} else {
		p.Tried++
	}
	p.Assigned = progress.Scheduled - g.group.AlreadyScheduled
	p.Status, p.Plugin, p.Reasons = status.Code().String(), pluginOf(status), reasons(status)
}

// allNodes notes the number of all nodes, for a placement that no plugin generated.
func (g *groupRecord) allNodes(state fwk.PlacementCycleState, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.placement(state); p.Nodes == 0 {
		p.Nodes = n
	}
}

// nodesOf returns the nodes of the placement tried in state, or nil if they are unknown or the pod
// has no group. The list belongs to the scheduling goroutine.
func (g *groupRecord) nodesOf(state fwk.PlacementCycleState) []fwk.NodeInfo {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.states, state); i >= 0 && i < len(g.generated) {
		return g.generated[i].Nodes
	}
	return nil
}

// block notes why a member found no node in a placement.
func (g *groupRecord) block(state fwk.PlacementCycleState, err error) {
	fit := &framework.FitError{}
	if !errors.As(err, &fit) {
		return
	}
	said := map[string]sets.Set[string]{}
	for plugin := range fit.Diagnosis.UnschedulablePlugins {
		said[plugin] = nil
	}
	if nodes := fit.Diagnosis.NodeToStatus; nodes != nil {
		nodes.ForEachExplicitNode(func(_ string, s *fwk.Status) {
			if said[s.Plugin()] == nil {
				said[s.Plugin()] = sets.New[string]()
			}
			said[s.Plugin()].Insert(reasons(s)...)
		})
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.placement(state)
	for plugin, reasons := range said {
		i := slices.IndexFunc(p.BlockedBy, func(b result.Block) bool { return b.Plugin == plugin })
		if i < 0 {
			i = len(p.BlockedBy)
			p.BlockedBy = append(p.BlockedBy, result.Block{Plugin: plugin})
		}
		b := &p.BlockedBy[i]
		b.Members++
		b.Reasons = sets.List(reasons.Union(sets.New(b.Reasons...)))
		b.Reasons = b.Reasons[:min(len(b.Reasons), result.MaxBlockReasons)]
	}
}

// build returns the group for a member that was tried in state, or nil for a pod
// without a group. The members share the common parts.
func (g *groupRecord) build(state fwk.PlacementCycleState, failed bool) *result.PodGroup {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.final == nil {
		g.finish()
	}
	out := *g.final
	if out.Preemption != nil {
		p := *out.Preemption
		p.Evictions = g.evictions.build()
		out.Preemption = &p
	}
	if failed && out.Outcome != result.Scheduled {
		out.Outcome = result.Error
	}
	if i := slices.Index(g.kept, slices.Index(g.states, state)); state != nil && i >= 0 {
		out.Placement = &i
		if out.Outcome == result.Scheduled {
			out.Chosen = &i // only the tries in the chosen placement count
		}
	}
	return &out
}

func (g *groupRecord) finish() {
	g.generated = nil // a member that waits for a permit would keep their nodes in memory
	all := g.group.Placements
	g.group.PlacementCount = len(all)
	for i := range all {
		slices.SortFunc(all[i].BlockedBy, func(a, b result.Block) int {
			return cmp.Or(cmp.Compare(b.Members, a.Members), cmp.Compare(a.Plugin, b.Plugin))
		})
	}
	for i := range all {
		g.kept = append(g.kept, i)
	}
	fits := func(i int) bool { return all[i].Status == fwk.Success.String() && all[i].Assigned > 0 }
	if len(all) > result.MaxPlacements {
		slices.SortStableFunc(g.kept, func(a, b int) int {
			return cmp.Or(compareBools(fits(b), fits(a)), cmp.Compare(totalOf(all[b]), totalOf(all[a])))
		})
		g.kept = g.kept[:result.MaxPlacements]
	}
	g.group.Outcome = result.Unschedulable
	g.group.Placements = make([]result.Placement, len(g.kept))
	for at, i := range g.kept {
		g.group.Placements[at] = all[i]
		if fits(i) {
			g.group.Outcome = result.Scheduled
		}
	}
	g.group.Chosen = best(g.group.Placements)
	g.final = &g.group
}

// best returns the index of the placement that the scheduler must have chosen: the
// only one that fits, or the one with the highest total.
func best(placements []result.Placement) *int {
	at, tied := -1, false
	for i, p := range placements {
		switch {
		case p.Status != fwk.Success.String() || p.Assigned == 0:
		case at < 0 || totalOf(p) > totalOf(placements[at]):
			at, tied = i, false
		case totalOf(p) == totalOf(placements[at]):
			tied = true
		}
	}
	if at < 0 || tied {
		return nil
	}
	return &at
}

func totalOf(p result.Placement) int64 {
	if p.Total == nil {
		return -1
	}
	return *p.Total
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (f *recorded) RunPlacementGeneratePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, nodes []fwk.NodeInfo) ([]*fwk.Placement, *fwk.Status) {
	placements, status := f.Framework.RunPlacementGeneratePlugins(ctx, state, group, nodes)
	g := f.recorder.groupCycle(state, group)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.generated = append(g.generated, placements...)
	if !status.IsSuccess() {
		g.group.Placements = append(g.group.Placements, result.Placement{
			Nodes: len(nodes), Status: status.Code().String(), Plugin: status.Plugin(), Reasons: reasons(status),
		})
	}
	return placements, status
}

func (f *recorded) RunPlacementFeasiblePlugins(ctx context.Context, state fwk.PlacementCycleState, group fwk.PodGroupInfo, progress framework.PlacementProgress) *fwk.Status {
	status := f.Framework.RunPlacementFeasiblePlugins(ctx, state, group, progress)
	f.recorder.groupCycle(state.GetPodGroupSchedulingCycle(), group).progress(state, progress, status)
	return status
}

func (f *recorded) RunPlacementScorePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, assignments []*fwk.PodGroupAssignments, states []fwk.PlacementCycleState) ([]fwk.PlacementPluginScores, *fwk.Status) {
	scores, status := f.Framework.RunPlacementScorePlugins(ctx, state, group, assignments, states)
	g := f.recorder.groupCycle(state, group)
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, s := range scores {
		p := g.placement(states[i])
		total := s.TotalScore // not a pointer into the scheduler's slice
		p.Total = &total
		p.Scores = make(map[string]int64, len(s.Scores))
		for _, plugin := range s.Scores {
			p.Scores[plugin.Name] = plugin.Score
		}
	}
	return scores, status
}
