package recorder

import (
	"context"
	"io"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/guard"
	"kube-scheduler-simulator/scheduler/result"
)

// base is part of every composition.
type base struct {
	recorder *Recorder
	profile  *profile
	handle   fwk.Handle
	plugin   fwk.Plugin
	name     string
	guard    *guard.Guard
	dryRun   *groupDryRun
	args     runtime.Object
	evicts   bool
}

func (b *base) Name() string { return b.name }

func (b *base) Unwrap() fwk.Plugin { return b.plugin }

func (b *base) since(start time.Time) time.Duration { return b.recorder.now().Sub(start) }

// Each of the recorders below has the methods of exactly one interface, without Name.
// The constructors are called for the interfaces that the plugin has.

type preEnqueue struct {
	to    *base
	inner fwk.PreEnqueuePlugin
}

func newPreEnqueue(b *base) preEnqueue {
	return preEnqueue{b, b.guard.PreEnqueue(b.plugin.(fwk.PreEnqueuePlugin))}
}

// PreEnqueue is called by the queue, under its lock, from many goroutines.
func (p preEnqueue) PreEnqueue(ctx context.Context, pod *v1.Pod) *fwk.Status {
	start := p.to.recorder.now()
	status := p.inner.PreEnqueue(ctx, pod)
	p.to.recorder.notePreEnqueue(pod.UID, pluginResult(p.to.Name(), status, p.to.since(start)))
	return status
}

func (r *Recorder) notePreEnqueue(uid types.UID, answer result.PluginResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answers := r.preEnqueue[uid]
	for i := range answers {
		if answers[i].Plugin == answer.Plugin {
			answers[i] = answer
			return
		}
	}
	r.preEnqueue[uid] = append(answers, answer)
}

type queueSort struct{ inner fwk.QueueSortPlugin }

func newQueueSort(b *base) queueSort {
	return queueSort{b.guard.QueueSort(b.plugin.(fwk.QueueSortPlugin))}
}

func (p queueSort) Less(a, b fwk.QueuedEntityInfo) bool { return p.inner.Less(a, b) }

type preFilter struct {
	to    *base
	inner fwk.PreFilterPlugin
}

func newPreFilter(b *base) preFilter {
	return preFilter{b, b.guard.PreFilter(b.plugin.(fwk.PreFilterPlugin))}
}

func (p preFilter) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	c := p.to.recorder.scheduling(pod)
	if c == nil {
		return p.inner.PreFilter(ctx, state, pod, nodes)
	}
	if c.others.leavesOut(p.to.Name()) {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	start := p.to.recorder.now()
	res, status := p.inner.PreFilter(ctx, state, pod, nodes)
	answer := pluginResult(p.to.Name(), status, p.to.since(start))
	if !res.AllNodes() {
		answer.Nodes = sortedNames(res.NodeNames)
	}
	return c.preFiltered(answer, res, status), status
}

func (p preFilter) PreFilterExtensions() fwk.PreFilterExtensions {
	inner := p.inner.PreFilterExtensions()
	if inner == nil {
		return nil
	}
	return preFilterExtensions{p.to, inner}
}

// filter and score hold a pointer: a composition that held the recorder by value would copy it for
// each node.
type filter struct{ *filtering }

type filtering struct {
	to      *base
	inner   fwk.FilterPlugin
	sampler *sampler
	nearest *nearest // nil for a plugin without comparisons
}

func newFilter(b *base) filter {
	f := &filtering{to: b, inner: b.guard.Filter(b.plugin.(fwk.FilterPlugin)), sampler: &sampler{plugin: b.Name()}}
	b.profile.filterSamplers = append(b.profile.filterSamplers, f.sampler)
	if comparer := b.recorder.plugins.Comparer(b.Name(), b.args, b.handle); comparer != nil {
		f.nearest = &nearest{plugin: b.Name(), comparer: comparer}
		b.profile.nearest = append(b.profile.nearest, f.nearest)
	}
	return filter{f}
}

// Filter is called by many workers at once, each for a different node. The framework's decorator
// notes the answer, once per node.
func (p *filtering) Filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	sampled := p.sampler.wants(node.GetGeneration())
	var start time.Time
	if sampled {
		start = p.to.recorder.now()
	}
	status := p.inner.Filter(ctx, state, pod, node)
	if status.IsSuccess() && !sampled && !p.to.recorder.nominating.Load() {
		return status
	}
	c := p.to.recorder.scheduling(pod)
	if c == nil || !c.searching {
		return status
	}
	if sampled {
		p.sampler.add(p.to.since(start))
	}
	state = calledWith(state)
	if state != c.state { // a clone, with nominated pods added
		c.noteNominatedPass(node)
	}
	if !status.IsSuccess() {
		if p.nearest != nil && status.IsRejected() {
			p.nearest.offer(state, state != c.state, pod, node, status)
		}
		if state != c.state {
			c.nominated.reject(node.Node().Name)
		}
	}
	return status
}

type postFilter struct {
	to    *base
	inner fwk.PostFilterPlugin
}

func newPostFilter(b *base) postFilter {
	return postFilter{b, b.guard.PostFilter(b.plugin.(fwk.PostFilterPlugin))}
}

func (p postFilter) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	start := p.to.recorder.now()
	evictions := p.to.expectEvictions(pod)
	res, status := p.inner.PostFilter(ctx, state, pod, statuses)
	if c := p.to.recorder.scheduling(pod); c != nil {
		evictions.chosen(status, c.preemption.victimsFor(res))
		answer := pluginResult(p.to.Name(), status, p.to.since(start))
		if res != nil && res.NominatingInfo != nil {
			answer.NominatedNode = res.NominatedNodeName
		}
		c.note(&c.answers.PostFilter, answer)
	}
	return res, status
}

type preScore struct {
	to    *base
	inner fwk.PreScorePlugin
}

func newPreScore(b *base) preScore {
	return preScore{b, b.guard.PreScore(b.plugin.(fwk.PreScorePlugin))}
}

func (p preScore) PreScore(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	start := p.to.recorder.now()
	status := p.inner.PreScore(ctx, state, pod, nodes)
	if c := p.to.recorder.scheduling(pod); c != nil && state == c.state { // batching scores again with a clone
		c.note(&c.answers.PreScore, pluginResult(p.to.Name(), status, p.to.since(start)))
	}
	return status
}

type score struct{ *scoring }

type scoring struct {
	to      *base
	inner   fwk.ScorePlugin
	sampler *sampler
}

func newScore(b *base) score {
	s := &scoring{b, b.guard.Score(b.plugin.(fwk.ScorePlugin)), &sampler{plugin: b.Name()}}
	b.profile.scoreSamplers = append(b.profile.scoreSamplers, s.sampler)
	b.profile.scorers = append(b.profile.scorers, b.newScorer(s.inner))
	return score{s}
}

// Score is called by many workers at once. The framework's decorator notes the scores, as the
// scheduler receives them.
func (p *scoring) Score(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	if !p.sampler.wants(node.GetGeneration()) {
		return p.inner.Score(ctx, state, pod, node)
	}
	start := p.to.recorder.now()
	value, status := p.inner.Score(ctx, state, pod, node)
	if c := p.to.recorder.scheduling(pod); c != nil && state == c.state {
		p.sampler.add(p.to.since(start))
	}
	return value, status
}

// NormalizeScore's effect is in the scores that the framework returns.
func (p *scoring) ScoreExtensions() fwk.ScoreExtensions { return p.inner.ScoreExtensions() }

type reserve struct {
	to    *base
	inner fwk.ReservePlugin
}

func newReserve(b *base) reserve {
	return reserve{b, b.guard.Reserve(b.plugin.(fwk.ReservePlugin))}
}

func (p reserve) Reserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	start := p.to.recorder.now()
	status := p.inner.Reserve(ctx, state, pod, node)
	if c := p.to.recorder.scheduling(pod); c != nil {
		c.note(&c.answers.Reserve, pluginResult(p.to.Name(), status, p.to.since(start)))
	}
	return status
}

func (p reserve) Unreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	start := p.to.recorder.now()
	p.inner.Unreserve(ctx, state, pod, node)
	if c := p.to.recorder.reserved(state, pod); c != nil {
		c.note(&c.answers.Unreserve, pluginResult(p.to.Name(), nil, p.to.since(start)))
	}
}

type permit struct {
	to    *base
	inner fwk.PermitPlugin
}

func newPermit(b *base) permit {
	return permit{b, b.guard.Permit(b.plugin.(fwk.PermitPlugin))}
}

func (p permit) Permit(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (*fwk.Status, time.Duration) {
	start := p.to.recorder.now()
	status, timeout := p.inner.Permit(ctx, state, pod, node)
	if c := p.to.recorder.scheduling(pod); c != nil {
		answer := pluginResult(p.to.Name(), status, p.to.since(start))
		if status.IsWait() {
			answer.TimeoutSeconds = timeout.Seconds()
		}
		c.note(&c.answers.Permit, answer)
	}
	return status, timeout
}

type preBind struct {
	to    *base
	inner fwk.PreBindPlugin
}

func newPreBind(b *base) preBind {
	return preBind{b, b.guard.PreBind(b.plugin.(fwk.PreBindPlugin))}
}

// PreBindPreFlight is called before the wait for a permit.
func (p preBind) PreBindPreFlight(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	start := p.to.recorder.now()
	res, status := p.inner.PreBindPreFlight(ctx, state, pod, node)
	if c := p.to.recorder.binding(pod); c != nil {
		answer := pluginResult(p.to.Name(), status, p.to.since(start))
		answer.Parallel = status.IsSuccess() && res != nil && res.AllowParallel
		c.note(&c.answers.PreBindPreFlight, answer)
	}
	return res, status
}

// PreBind may take minutes, for example until a claim has its volume.
func (p preBind) PreBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	c := p.to.recorder.binding(pod)
	if c != nil {
		p.to.recorder.searchEarly(c)
	}
	start := p.to.recorder.now()
	status := p.inner.PreBind(ctx, state, pod, node)
	if c != nil {
		c.note(&c.answers.PreBind, pluginResult(p.to.Name(), status, p.to.since(start)))
		if plugins := p.to.recorder.plugins; status.IsSuccess() && plugins.AllocatesClaims(p.to.Name()) {
			c.noteClaims(plugins.Claims(p.to.handle, pod))
		}
	}
	return status
}

type bind struct {
	to    *base
	inner fwk.BindPlugin
}

func newBind(b *base) bind {
	return bind{b, b.guard.Bind(b.plugin.(fwk.BindPlugin))}
}

func (p bind) Bind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	start := p.to.recorder.now()
	status := p.inner.Bind(ctx, state, pod, node)
	if c := p.to.recorder.binding(pod); c != nil {
		c.note(&c.answers.Bind, pluginResult(p.to.Name(), status, p.to.since(start)))
	}
	return status
}

type postBind struct {
	to    *base
	inner fwk.PostBindPlugin
}

func newPostBind(b *base) postBind {
	return postBind{b, b.guard.PostBind(b.plugin.(fwk.PostBindPlugin))}
}

func (p postBind) PostBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	start := p.to.recorder.now()
	p.inner.PostBind(ctx, state, pod, node)
	if c := p.to.recorder.binding(pod); c != nil {
		c.note(&c.answers.PostBind, pluginResult(p.to.Name(), nil, p.to.since(start)))
	}
}

type sign struct{ inner fwk.SignPlugin }

func newSign(b *base) sign { return sign{b.guard.Sign(b.plugin.(fwk.SignPlugin))} }

func (p sign) SignPod(ctx context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return p.inner.SignPod(ctx, pod)
}

type placementGenerate struct{ inner fwk.PlacementGeneratePlugin }

func newPlacementGenerate(b *base) placementGenerate {
	return placementGenerate{b.guard.PlacementGenerate(b.plugin.(fwk.PlacementGeneratePlugin))}
}

func (p placementGenerate) GeneratePlacements(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, parent *fwk.Placement) (*fwk.GeneratePlacementsResult, *fwk.Status) {
	return p.inner.GeneratePlacements(ctx, state, group, parent)
}

type placementScore struct{ inner fwk.PlacementScorePlugin }

func newPlacementScore(b *base) placementScore {
	return placementScore{b.guard.PlacementScore(b.plugin.(fwk.PlacementScorePlugin))}
}

func (p placementScore) ScorePlacement(ctx context.Context, state fwk.PlacementCycleState, group fwk.PodGroupInfo, placement *fwk.PodGroupAssignments) (int64, *fwk.Status) {
	return p.inner.ScorePlacement(ctx, state, group, placement)
}

func (p placementScore) PlacementScoreExtensions() fwk.PlacementScoreExtensions {
	return p.inner.PlacementScoreExtensions()
}

type placementFeasible struct {
	inner framework.PlacementFeasiblePlugin
}

func newPlacementFeasible(b *base) placementFeasible {
	return placementFeasible{b.guard.PlacementFeasible(b.plugin.(framework.PlacementFeasiblePlugin))}
}

func (p placementFeasible) PlacementFeasible(ctx context.Context, state fwk.PlacementCycleState, group fwk.PodGroupInfo, progress framework.PlacementProgress) *fwk.Status {
	return p.inner.PlacementFeasible(ctx, state, group, progress)
}

type closer struct{ inner io.Closer }

func newCloser(b *base) closer { return closer{b.guard.Closer(b.plugin.(io.Closer))} }

func (p closer) Close() error {
	if p.inner == nil {
		return nil
	}
	return p.inner.Close()
}
