package schedulertest

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Observer wraps the parts of a scheduler, recorded or bare, and notes the calls
// between them in the transcript.
type Observer struct {
	transcript *Transcript

	mu sync.Mutex
	// current is the running attempt of each pod.
	current  map[types.UID]*Attempt
	attempts []*Attempt
	// trial is true while preemption tries a pod group with its possible victims
	// removed, which is not an attempt.
	trial bool
	// groupBackoff is when the last popped pod group's backoff ended.
	groupBackoff time.Time
	// evicted counts the events of evictions, by the preemptor's UID.
	evicted map[types.UID]int
}

// Attempt is one attempt to schedule a pod, as observed from outside.
type Attempt struct {
	Pod      string // namespace/name
	UID      types.UID
	Profile  string
	Searched bool // SchedulePod was called
	// FilterPlugins and Weights (by Score plugin) are those of the profile.
	FilterPlugins []string
	Weights       map[string]int64
	// Points are the extension points in the order of their last runs.
	Points    []string
	PreFilter *fwk.Status
	// Skipped are the Filter plugins that PreFilter skipped.
	Skipped sets.Set[string]
	// Verdicts are the latest combined answers of all Filter plugins, by node.
	Verdicts map[string]*fwk.Status
	Scores   []fwk.NodePluginScores
	Feasible int
	Selected string
	// Nomination is the pod's nominated node at the start.
	Nomination string
	// Hint is the node that batching proposed.
	Hint string
	// Visits are the nodes that were filtered, in order, with repetitions.
	Visits []string
	// Passes are the nodes that a Witness saw with nominated pods, by node.
	Passes map[string]*Pass
	// PreScore has the answers of the plugins, as "Plugin Status", as has PreFlight.
	PreScore, PreFlight []string
	// Prepared are the PreBind plugins in their order, with their answers, after a
	// success.
	Prepared []string
	// Wait is nil when the pod did not wait at Permit.
	Wait *Wait
	// Unreserved are the Reserve plugins in reverse order, if the pod lost its place.
	Unreserved []string
	// Backoff is when the backoff of the pod, or of its group, ended; zero for none.
	Backoff time.Time
	// state and err distinguish the tries of a pod group's member, which is tried
	// in several placements; only one of them counts.
	state    fwk.CycleState
	err      error
	tries    []Attempt
	visiting map[string]bool

	// Ended is set together with the fields below.
	Ended     bool
	Bound     bool
	Status    *fwk.Status
	Message   string
	Nominated string
}

// Pass is a pass of Filter over a node with its nominated pods.
type Pass struct {
	// Pods are their names, in order.
	Pods []string
	// Repeated: the node passed, and was filtered again without them.
	Repeated bool
}

// Wait is a pod's wait for a permit.
type Wait struct {
	Plugins []string
	// Seconds is the time from the start of the timeouts to the end of the wait.
	Seconds float64
	Status  *fwk.Status
	begun   time.Time
}

// NewObserver returns an observer that writes to t.
func NewObserver(t *Transcript) *Observer {
	return &Observer{transcript: t, current: map[types.UID]*Attempt{}, evicted: map[types.UID]int{}}
}

// Attempts returns the attempts in the order of their start.
func (o *Observer) Attempts() []*Attempt {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.attempts)
}

func (o *Observer) busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.current) > 0
}

func (o *Observer) begin(profile string, pod *v1.Pod) *Attempt {
	o.mu.Lock()
	defer o.mu.Unlock()
	if a := o.current[pod.UID]; a != nil {
		tries := append(a.tries, *a)
		*a = Attempt{Pod: a.Pod, UID: a.UID, Profile: a.Profile, tries: tries}
		return a
	}
	a := &Attempt{Pod: pod.Namespace + "/" + pod.Name, UID: pod.UID, Profile: profile}
	o.current[pod.UID] = a
	o.attempts = append(o.attempts, a)
	return a
}

func (o *Observer) of(pod *v1.Pod) *Attempt {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.trial {
		return nil
	}
	return o.current[pod.UID]
}

// choose restores an earlier try if that is the one that meant selects.
func (a *Attempt) choose(meant func(*Attempt) bool) {
	if a == nil || meant(a) {
		return
	}
	for i := range a.tries {
		if meant(&a.tries[i]) {
			*a = a.tries[i]
			return
		}
	}
}

func (o *Observer) end(profile string, pod *v1.Pod, note func(*Attempt)) {
	a := o.of(pod)
	if a == nil {
		a = o.begin(profile, pod)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	a.Ended = true
	note(a)
	delete(o.current, pod.UID)
}

// Attach wraps the parts of a scheduler that does not run yet. The wrappers change
// nothing, except that names break ties between equal nodes and equal placements,
// and that the scheduler pauses between pods.
func (o *Observer) Attach(sched *kubescheduler.Scheduler) {
	q := newQueue(o.transcript, sched.SchedulingQueue)
	sched.SchedulingQueue = q
	next := q.next(sched.NextEntity, sched.StopEverything)
	sched.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		entity, err := next(logger)
		o.popped(entity)
		return entity, err
	}
	for name, f := range sched.Profiles {
		sched.Profiles[name] = &observed{Framework: f, observer: o, transcript: o.transcript}
	}

	schedulePod := sched.SchedulePod
	sched.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (kubescheduler.ScheduleResult, error) {
		if o.inTrial() {
			return schedulePod(ctx, f, state, info)
		}
		a := o.begin(f.ProfileName(), info.Pod)
		a.state = state
		a.learn(f)
		a.Nomination = info.Pod.Status.NominatedNodeName
		a.Backoff = o.backoffOf(info)
		o.transcript.note(scheduling, "cycle of %s, queue attempt %d, profile %s", podKey(info.Pod), info.Attempts, f.ProfileName())
		res, err := schedulePod(ctx, f, state, info)
		a.Selected, a.Feasible = res.SuggestedHost, res.FeasibleNodes
		a.err = err
		o.ran(info.Pod, "filter")
		o.noteVerdicts(a)
		if err != nil {
			o.transcript.note(scheduling, "  no node: %v", err)
		} else {
			o.transcript.note(scheduling, "  selected %s: %d evaluated, %d feasible", res.SuggestedHost, res.EvaluatedNodes, res.FeasibleNodes)
		}
		return res, err
	}

	fail := sched.FailureHandler
	sched.FailureHandler = func(ctx context.Context, f framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		o.noteFailure(f.ProfileName(), info, status, nominating)
		fail(ctx, f, info, status, nominating, start)
	}
}

func (o *Observer) popped(entity framework.QueuedEntityInfo) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.groupBackoff = time.Time{}
	if group, ok := entity.(*framework.QueuedPodGroupInfo); ok {
		o.groupBackoff = group.BackoffExpiration
	}
}

func (o *Observer) backoffOf(info *framework.QueuedPodInfo) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if info.Pod.Spec.SchedulingGroup != nil {
		return o.groupBackoff
	}
	return info.BackoffExpiration
}

// Evicted returns how many evictions the scheduler reported for a preemptor.
func (o *Observer) Evicted(preemptor types.UID) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.evicted[preemptor]
}

func (o *Observer) inTrial() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.trial
}

func (o *Observer) setTrial(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.trial = on
}

func (a *Attempt) learn(f framework.Framework) {
	a.Searched, a.Weights = true, map[string]int64{}
	plugins := f.ListPlugins()
	for _, p := range plugins.Filter.Enabled {
		a.FilterPlugins = append(a.FilterPlugins, p.Name)
	}
	for _, p := range plugins.Score.Enabled {
		a.Weights[p.Name] = int64(p.Weight)
	}
}

// ran notes an extension point. Filter ends when the next one runs.
func (o *Observer) ran(pod *v1.Pod, point string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a := o.current[pod.UID]
	if a == nil || o.trial {
		return
	}
	if len(a.Points) == 1 && a.Points[0] == "preFilter" && a.PreFilter.IsSuccess() {
		a.Points = append(a.Points, "filter")
	}
	if point != "filter" {
		a.Points = slices.DeleteFunc(a.Points, func(p string) bool { return p == point })
		a.Points = append(a.Points, point)
	}
}

// unreserved notes that a pod loses its place of the try with this state.
func (o *Observer) unreserved(pod *v1.Pod, state fwk.CycleState, plugins []string) {
	reversed := slices.Clone(plugins)
	slices.Reverse(reversed)
	o.mu.Lock()
	defer o.mu.Unlock()
	a := o.current[pod.UID]
	if a == nil {
		return
	}
	for i := range a.tries {
		if a.tries[i].state == state {
			a = &a.tries[i]
			break
		}
	}
	if a.state == state {
		a.forgetPoint("unreserve")
		a.Points = append(a.Points, "unreserve")
		a.Unreserved = reversed
	}
}

func (a *Attempt) forgetPoint(point string) {
	a.Points = slices.DeleteFunc(a.Points, func(p string) bool { return p == point })
}

func (o *Observer) noteVerdicts(a *Attempt) {
	for _, node := range slices.Sorted(maps.Keys(a.Verdicts)) {
		o.transcript.note(scheduling, "  filter %s: %s", node, words(a.Verdicts[node]))
	}
	scores := slices.Clone(a.Scores)
	slices.SortFunc(scores, func(x, y fwk.NodePluginScores) int { return strings.Compare(x.Name, y.Name) })
	for _, s := range scores {
		var b strings.Builder
		for i, p := range s.Scores {
			fmt.Fprintf(&b, " %s %d→%d", p.Name, s.RawScores[i].Score, p.Score)
		}
		o.transcript.note(scheduling, "  score %s: %d =%s", s.Name, s.TotalScore, b.String())
	}
}

func (o *Observer) noteFailure(profile string, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo) {
	pod, backoff := info.Pod, o.backoffOf(info)
	o.transcript.note(scheduling, "failure of %s: %s", podKey(pod), words(status))
	if fit, ok := status.AsError().(*framework.FitError); ok {
		d := fit.Diagnosis
		o.transcript.note(scheduling, "  unschedulable %v pending %v preFilter %q postFilter %q absent nodes: %s",
			sets.List(d.UnschedulablePlugins), sets.List(d.PendingPlugins), d.PreFilterMsg, d.PostFilterMsg, words(d.NodeToStatus.AbsentNodesStatus()))
	}
	nominated := ""
	if nominating != nil {
		o.transcript.note(scheduling, "  nominates %q, mode %d", nominating.NominatedNodeName, nominating.NominatingMode)
		if nominating.Mode() == fwk.ModeOverride {
			nominated = nominating.NominatedNodeName
		}
	}
	o.of(pod).choose(func(a *Attempt) bool { return a.err == status.AsError() })
	o.end(profile, pod, func(a *Attempt) {
		a.Status, a.Message, a.Nominated = clone(status), status.Message(), nominated
		if !a.Searched {
			a.Backoff = backoff
		}
	})
}

func enabled(set config.PluginSet) []string {
	var out []string
	for _, plugin := range set.Enabled {
		out = append(out, plugin.Name)
	}
	return out
}

// answered lists the plugins as skipped or successful.
func answered(plugins []string, skipped sets.Set[string]) []string {
	var out []string
	for _, plugin := range plugins {
		status := fwk.Success
		if skipped.Has(plugin) {
			status = fwk.Skip
		}
		out = append(out, plugin+" "+status.String())
	}
	return out
}

func (o *Observer) visit(a *Attempt, node string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a.Visits = append(a.Visits, node)
	if a.visiting == nil {
		a.visiting = map[string]bool{}
	}
	a.visiting[node] = true
	delete(a.Passes, node)
}

// witnessed notes what a Filter plugin sees on a node that the scheduler filters.
// Nominated pods count as running although they have no node yet.
func (o *Observer) witnessed(pod *v1.Pod, node fwk.NodeInfo) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a, name := o.current[pod.UID], node.Node().Name
	if a == nil || o.trial || !a.visiting[name] {
		return
	}
	var nominated []string
	for _, running := range node.GetPods() {
		if running.GetPod().Spec.NodeName == "" {
			nominated = append(nominated, running.GetPod().Name)
		}
	}
	slices.Sort(nominated)
	switch pass := a.Passes[name]; {
	case len(nominated) > 0:
		if a.Passes == nil {
			a.Passes = map[string]*Pass{}
		}
		a.Passes[name] = &Pass{Pods: nominated}
		o.transcript.note(scheduling, "  nominated to %s: %v", name, nominated)
	case pass != nil:
		pass.Repeated = true
	}
}

func words(s *fwk.Status) string {
	if s == nil {
		return "Success"
	}
	text := s.Code().String()
	if s.Plugin() != "" {
		text += " by " + s.Plugin()
	}
	if m := s.Message(); m != "" {
		text += ": " + m
	}
	return text
}

// clone copies a status; nil means success.
func clone(s *fwk.Status) *fwk.Status {
	if s == nil {
		return nil
	}
	return s.Clone()
}

func podKey(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }

// rank orders equal candidates by name, differently for each pod.
func rank(pod, name string) int {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, pod, " ", name)
	return int(h.Sum32())
}

type observed struct {
	framework.Framework
	observer   *Observer
	transcript *Transcript
}

func (f *observed) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	res, status, plugins := f.Framework.RunPreFilterPlugins(ctx, state, pod)
	nodes := "all"
	if !res.AllNodes() {
		nodes = fmt.Sprint(sets.List(res.NodeNames))
	}
	f.transcript.note(scheduling, "  preFilter: %s, nodes %s, by %v, skips %v", words(status), nodes, sets.List(plugins), sets.List(state.GetSkipFilterPlugins()))
	if a := f.observer.of(pod); a != nil {
		a.PreFilter, a.Skipped = clone(status), state.GetSkipFilterPlugins()
		a.Verdicts = map[string]*fwk.Status{}
		f.observer.ran(pod, "preFilter")
	}
	return res, status, plugins
}

func (f *observed) GetNodeHint(ctx context.Context, pod *v1.Pod, signature fwk.PodSignature, state fwk.CycleState, cycle int64) string {
	hint := f.Framework.GetNodeHint(ctx, pod, signature, state, cycle)
	if a := f.observer.of(pod); a != nil {
		a.Hint = hint
	}
	f.transcript.note(scheduling, "  hint: %q, signed %t", hint, signature != nil)
	return hint
}

// RunFilterPluginsWithNominatedPods is called by many workers at once.
func (f *observed) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	a := f.observer.of(pod)
	if a == nil {
		return f.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	}
	name := node.Node().Name
	f.observer.visit(a, name)
	status := f.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	f.observer.mu.Lock()
	defer f.observer.mu.Unlock()
	a.Verdicts[name] = clone(status)
	delete(a.visiting, name)
	return status
}

func (f *observed) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	res, status := f.Framework.RunPostFilterPlugins(ctx, state, pod, statuses)
	f.observer.ran(pod, "postFilter")
	f.transcript.note(scheduling, "  postFilter: %s", words(status))
	return res, status
}

func (f *observed) RunPreScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	status := f.Framework.RunPreScorePlugins(ctx, state, pod, nodes)
	if a := f.observer.of(pod); a != nil && status.IsSuccess() {
		a.PreScore = answered(enabled(f.ListPlugins().PreScore), state.GetSkipScorePlugins())
	}
	f.observer.ran(pod, "preScore")
	f.transcript.note(scheduling, "  preScore: %s, skips %v", words(status), sets.List(state.GetSkipScorePlugins()))
	return status
}

// RunScorePlugins fixes the choice among equal nodes.
func (f *observed) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	for i := range scores {
		scores[i].Randomizer = rank(podKey(pod), scores[i].Name)
	}
	f.observer.ran(pod, "score")
	if a := f.observer.of(pod); a != nil {
		a.Scores = nil
		for _, s := range scores {
			s.Scores, s.RawScores = slices.Clone(s.Scores), slices.Clone(s.RawScores)
			a.Scores = append(a.Scores, s)
		}
	}
	return scores, status
}

func (f *observed) StoreScheduleResults(ctx context.Context, signature fwk.PodSignature, hinted, chosen string, others framework.SortedScoredNodes, cycle int64) {
	f.transcript.note(scheduling, "  batch: hinted %q, chosen %q", hinted, chosen)
	f.Framework.StoreScheduleResults(ctx, signature, hinted, chosen, others, cycle)
}

func (f *observed) RunReservePluginsReserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	f.observer.of(pod).choose(func(a *Attempt) bool { return a.state == state })
	status := f.Framework.RunReservePluginsReserve(ctx, state, pod, node)
	f.observer.ran(pod, "reserve")
	if a := f.observer.of(pod); a != nil {
		a.forgetPoint("unreserve")
		a.Unreserved = nil
	}
	f.transcript.note(scheduling, "  reserve %s on %s: %s", podKey(pod), node, words(status))
	return status
}

// RunReservePluginsUnreserve is the first call of a failed binding cycle. If
// preemption made it fail, the preemptor's cycle ends first.
func (f *observed) RunReservePluginsUnreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	if !state.IsPodGroupSchedulingCycle() {
		time.Sleep(100*time.Microsecond + time.Duration(rank(podKey(pod), "unreserve")%100_000))
	}
	f.transcript.note(binding+podKey(pod), "  unreserve %s on %s", podKey(pod), node)
	f.Framework.RunReservePluginsUnreserve(ctx, state, pod, node)
	f.observer.unreserved(pod, state, enabled(f.ListPlugins().Reserve))
}

func (f *observed) RunPermitPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (map[string]time.Duration, *fwk.Status) {
	wait, status := f.Framework.RunPermitPlugins(ctx, state, pod, node)
	f.observer.ran(pod, "permit")
	f.transcript.note(scheduling, "  permit %s on %s: %s %v", podKey(pod), node, words(status), wait)
	return wait, status
}

func (f *observed) AddWaitingPod(pod *v1.Pod, timeouts map[string]time.Duration) {
	if a := f.observer.of(pod); a != nil {
		a.Wait = &Wait{begun: time.Now()}
		for _, plugin := range enabled(f.ListPlugins().Permit) {
			if _, waits := timeouts[plugin]; waits {
				a.Wait.Plugins = append(a.Wait.Plugins, plugin)
			}
		}
	}
	f.Framework.AddWaitingPod(pod, timeouts)
}

func (f *observed) WaitOnPermit(ctx context.Context, pod *v1.Pod) *fwk.Status {
	waits := f.Framework.WillWaitOnPermit(ctx, pod)
	status := f.Framework.WaitOnPermit(ctx, pod)
	if waits {
		f.observer.ran(pod, "waitOnPermit")
		if a := f.observer.of(pod); a != nil {
			a.Wait.Seconds, a.Wait.Status = time.Since(a.Wait.begun).Seconds(), clone(status)
		}
	}
	f.transcript.note(binding+podKey(pod), "  permitted %s: %s", podKey(pod), words(status))
	return status
}

// RunPreBindPreFlights is the first call of a binding cycle. The binding cycles of a
// pod group start together; here each starts at a different instant.
func (f *observed) RunPreBindPreFlights(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	time.Sleep(100*time.Microsecond + time.Duration(rank(podKey(pod), "binding")%100_000))
	status := f.Framework.RunPreBindPreFlights(ctx, state, pod, node)
	f.observer.ran(pod, "preBindPreFlight")
	if a := f.observer.of(pod); a != nil && !status.IsError() {
		a.PreFlight = answered(enabled(f.ListPlugins().PreBind), state.GetSkipPreBindPlugins())
	}
	f.transcript.note(binding+podKey(pod), "  preBindPreFlight %s: %s", podKey(pod), words(status))
	return status
}

func (f *observed) RunPreBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	status := f.Framework.RunPreBindPlugins(ctx, state, pod, node)
	f.observer.ran(pod, "preBind")
	if a := f.observer.of(pod); a != nil && status.IsSuccess() {
		a.Prepared = answered(enabled(f.ListPlugins().PreBind), state.GetSkipPreBindPlugins())
	}
	f.transcript.note(binding+podKey(pod), "  preBind %s: %s", podKey(pod), words(status))
	return status
}

// RunBindPlugins lets an asynchronous call for the pod start before the binding,
// which could otherwise replace it.
func (f *observed) RunBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	time.Sleep(time.Microsecond)
	status := f.Framework.RunBindPlugins(ctx, state, pod, node)
	f.observer.ran(pod, "bind")
	f.transcript.note(binding+podKey(pod), "  bind %s to %s: %s", podKey(pod), node, words(status))
	return status
}

func (f *observed) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	f.observer.ran(pod, "postBind")
	f.observer.end(f.ProfileName(), pod, func(a *Attempt) { a.Bound = true })
	f.transcript.note(binding+podKey(pod), "  bound %s to %s", podKey(pod), node)
	f.Framework.RunPostBindPlugins(ctx, state, pod, node)
}

func (f *observed) RunPlacementGeneratePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, nodes []fwk.NodeInfo) ([]*fwk.Placement, *fwk.Status) {
	placements, status := f.Framework.RunPlacementGeneratePlugins(ctx, state, group, nodes)
	// The plugins read them from a map, in random order.
	slices.SortStableFunc(placements, func(a, b *fwk.Placement) int { return strings.Compare(a.Name, b.Name) })
	names := make([]string, len(placements))
	for i, p := range placements {
		names[i] = fmt.Sprintf("%s:%d", p.Name, len(p.Nodes))
	}
	f.transcript.note(scheduling, "  placements of %s: %s %v", group.GetName(), words(status), names)
	return placements, status
}

func (f *observed) RunPlacementFeasiblePlugins(ctx context.Context, state fwk.PlacementCycleState, group fwk.PodGroupInfo, progress framework.PlacementProgress) *fwk.Status {
	status := f.Framework.RunPlacementFeasiblePlugins(ctx, state, group, progress)
	f.transcript.note(scheduling, "  placement of %s feasible, %d scheduled, %d remaining: %s", group.GetName(), progress.Scheduled, progress.Remaining, words(status))
	return status
}

// RunPlacementScorePlugins fixes the choice among equal placements: only the order of the totals
// counts.
func (f *observed) RunPlacementScorePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, placements []*fwk.PodGroupAssignments, states []fwk.PlacementCycleState) ([]fwk.PlacementPluginScores, *fwk.Status) {
	scores, status := f.Framework.RunPlacementScorePlugins(ctx, state, group, placements, states)
	slices.SortStableFunc(scores, func(a, b fwk.PlacementPluginScores) int { return strings.Compare(a.Placement.Name, b.Placement.Name) })
	for i := range scores {
		f.transcript.note(scheduling, "  placement %s of %s: %d %v", scores[i].Placement.Name, group.GetName(), scores[i].TotalScore, scores[i].Scores)
		scores[i].TotalScore = scores[i].TotalScore*1000 + int64(i)
	}
	return scores, status
}

func (f *observed) RunPodGroupPostFilterPlugins(ctx context.Context, state *framework.CycleState, group fwk.PodGroupInfo, schedule fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	f.observer.setTrial(true)
	res, status := f.Framework.RunPodGroupPostFilterPlugins(ctx, state, group, schedule)
	f.observer.setTrial(false)
	f.transcript.note(scheduling, "  podGroupPostFilter %s: %s", group.GetName(), words(status))
	return res, status
}

// Events returns a function that creates event recorders, which note the
// scheduler's events.
func (o *Observer) Events() func(string) events.EventRecorderLogger {
	return func(profile string) events.EventRecorderLogger { return reporter{o.transcript, profile, o} }
}

type reporter struct {
	transcript *Transcript
	profile    string
	observer   *Observer
}

var _ events.EventRecorderLogger = reporter{}

func (r reporter) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

// Eventf prevents a preemption with nothing to wait for from ending before the
// preemptor's cycle.
func (r reporter) Eventf(regarding, related runtime.Object, kind, reason, action, format string, args ...any) {
	if reason == "Preempted" {
		if preemptor, err := meta.Accessor(related); err == nil {
			r.observer.mu.Lock()
			r.observer.evicted[preemptor.GetUID()]++
			r.observer.mu.Unlock()
		}
		time.Sleep(50 * time.Microsecond)
	}
	who := fmt.Sprintf("%T", regarding)
	if o, ok := regarding.(klog.KMetadata); ok {
		who = klog.KObj(o).String()
	}
	r.transcript.note(reporting+who, "event of %s for %s: %s %s %s: %s", r.profile, who, kind, reason, action, fmt.Sprintf(format, args...))
}
