package recorder

import (
	"context"
	"slices"
	"sync"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// groupRecord is the record of a pod group's cycle, shared by the cycles of its
// members. The scheduling goroutine writes it; the recorder's goroutine reads it
// when the first member has ended, which for another member may be later.
type groupRecord struct {
	// key is the group's cycle state, by which the calls of one cycle are told.
	key fwk.PodGroupCycleState

	mu    sync.Mutex
	group result.PodGroup
	// generated are the placements that wait to be tried, in order, and states
	// those that were, by the state in which they were tried.
	generated []*fwk.Placement
	states    []fwk.PlacementCycleState
}

// groupCycle returns the record of a group's cycle, a new one for a new cycle.
// It is called on the scheduling goroutine.
func (r *Recorder) groupCycle(key fwk.PodGroupCycleState, info fwk.PodGroupInfo) *groupRecord {
	if r.group == nil || r.group.key != key {
		r.group = &groupRecord{key: key}
	}
	g := r.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if info != nil && g.group.Name == "" {
		g.group.Namespace, g.group.Name = info.GetNamespace(), info.GetName()
		if pg := info.GetPodGroup(); pg != nil && pg.Spec.SchedulingPolicy.Gang != nil {
			g.group.MinCount = int(pg.Spec.SchedulingPolicy.Gang.MinCount)
		}
	}
	return g
}

func (g *groupRecord) addMember(pod result.Pod) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.group.Members, pod) {
		g.group.Members = append(g.group.Members, pod)
	}
}

// placement returns the entry of the placement that is tried in state.
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

// build returns a copy, or nil for the cycle of a pod that is in no group.
func (g *groupRecord) build() *result.PodGroup {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	out := g.group
	out.Members = slices.Clone(out.Members)
	out.Placements = slices.Clone(out.Placements)
	out.PostFilter = slices.Clone(out.PostFilter)
	return &out
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
	g := f.recorder.groupCycle(state.GetPodGroupSchedulingCycle(), group)
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.placement(state)
	p.Assigned = progress.Scheduled
	p.Status, p.Plugin, p.Reasons = status.Code().String(), pluginOf(status), reasons(status)
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

// podGroupPostFilter records the plugins that preempt for a whole group.
type podGroupPostFilter struct {
	to    *base
	inner fwk.PodGroupPostFilterPlugin
}

func newPodGroupPostFilter(b *base) podGroupPostFilter {
	return podGroupPostFilter{b, b.plugin.(fwk.PodGroupPostFilterPlugin)}
}

func (p podGroupPostFilter) PodGroupPostFilter(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, schedule fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	g := p.to.recorder.groupCycle(state, group)
	start := p.to.recorder.now()
	res, status := p.inner.PodGroupPostFilter(ctx, state, group, p.to.recorder.unrecorded(schedule))
	answer := pluginResult(p.to.Name(), status, p.to.since(start))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.group.PostFilter = append(g.group.PostFilter, answer)
	return res, status
}

// unrecorded keeps the trials of preemption, in which the group is scheduled as
// if pods were gone, out of its members' records.
func (r *Recorder) unrecorded(schedule fwk.PodGroupSchedulingFunc) fwk.PodGroupSchedulingFunc {
	return func(ctx context.Context) (*fwk.PodGroupAssignments, *fwk.Status) {
		saved := r.group
		r.trial.Store(true)
		defer func() {
			r.trial.Store(false)
			r.group = saved
		}()
		return schedule(ctx)
	}
}
