package decide

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"

	"kube-scheduler-simulator/scheduler/versions/wire"
)

// recorded is the framework of a profile. While a decision is made, it records what the methods that SchedulePod calls return, and returns the
// same.
type recorded struct {
	framework.Framework
	// scorers are the Score plugins by name, with their weights, and filters the names of the Filter plugins in their order.
	scorers map[string]scorePlugin
	filters []string
	weights map[string]int32
	// preempting is nil if the profile has no DefaultPreemption.
	preempting *preempting
	// record is that of the decision that is being made. It changes only between decisions.
	record *record
}

// newRecorded returns a recorded framework. It reads two fields of Kubernetes' framework that are not exported.
func newRecorded(f framework.Framework) (*recorded, error) {
	scorers, err := fieldOf[[]scorePlugin](f, "scorePlugins")
	if err != nil {
		return nil, err
	}
	all, err := fieldOf[map[string]plugin](f, "pluginsMap")
	if err != nil {
		return nil, err
	}
	r := &recorded{Framework: f, scorers: map[string]scorePlugin{}, weights: map[string]int32{}}
	for _, p := range *scorers {
		r.scorers[p.Name()] = p
	}
	for _, p := range f.ListPlugins().Filter.Enabled {
		r.filters = append(r.filters, p.Name)
	}
	for _, p := range f.ListPlugins().Score.Enabled {
		r.weights[p.Name] = p.Weight
	}
	for _, p := range *all {
		if preemption, ok := p.(*defaultpreemption.DefaultPreemption); ok {
			if r.preempting, err = observePreemption(preemption); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// fieldOf returns the address of a field, which need not be exported, of the struct that v points to. It is an error if the field is not there or
// has another type.
func fieldOf[T any](v any, name string) (*T, error) {
	s := reflect.ValueOf(v)
	if s.Kind() != reflect.Pointer || s.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%T is no pointer to a struct", v)
	}
	field := s.Elem().FieldByName(name)
	if !field.IsValid() || field.Type() != reflect.TypeFor[T]() {
		return nil, fmt.Errorf("%T has no field %s of type %s", v, name, reflect.TypeFor[T]())
	}
	return (*T)(field.Addr().UnsafePointer()), nil
}

// record is what is known about the decision that is being made.
type record struct {
	request *wire.Decide
	pod     *v1.Pod
	state   fwk.CycleState
	nodes   []fwk.NodeInfo
	index   map[string]int
	// rank holds the place of each of nodes by name.
	rank []int

	preFilter  *fwk.Status
	restricted []string
	// seen tells which nodes were filtered, and verdicts and further what rejected them. Each worker of Filter writes those of its node.
	seen     []bool
	verdicts []*fwk.Status
	further  [][]*fwk.Status
	// scored are the nodes that were scored, in the order of scores.
	scored []fwk.NodeInfo
	scores []nodePluginScores
}

func (r *recorded) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*preFilterResult, *fwk.Status, sets.Set[string]) {
	res, status, plugins := r.Framework.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		r.record.preFilter = status
	} else if !res.AllNodes() {
		r.record.restricted = sets.List(res.NodeNames)
	}
	return res, status, plugins
}

func (r *recorded) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	status := r.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	at := r.record.index[node.Node().Name]
	r.record.seen[at], r.record.verdicts[at] = true, status
	if r.record.request.Every && status.IsRejected() {
		r.record.further[at] = r.others(ctx, state, pod, node, status)
	}
	return status
}

// others returns the rejections of a node after the first.
func (r *recorded) others(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo, first *fwk.Status) []*fwk.Status {
	var found []*fwk.Status
	skip := state.GetSkipFilterPlugins()
	for status := first; status.IsRejected() && status.Plugin() != ""; {
		skip = skip.Union(sets.New(status.Plugin()))
		if status = r.Framework.RunFilterPluginsWithNominatedPods(ctx, &skipping{state, skip}, pod, node); !status.IsSuccess() {
			found = append(found, status)
		}
	}
	return found
}

// skipping is a cycle state in which further plugins are skipped.
type skipping struct {
	fwk.CycleState
	skip sets.Set[string]
}

func (s *skipping) GetSkipFilterPlugins() sets.Set[string] { return s.skip }

func (s *skipping) Clone() fwk.CycleState { return &skipping{s.CycleState.Clone(), s.skip} }

// HasScorePlugins returns true: without Score plugins the scheduler would end its search at the first node that fits.
func (r *recorded) HasScorePlugins() bool { return true }

func (r *recorded) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]nodePluginScores, *fwk.Status) {
	if !r.Framework.HasScorePlugins() {
		equal := make([]nodePluginScores, len(nodes))
		for i, n := range nodes {
			equal[i] = nodePluginScores{Name: n.Node().Name, TotalScore: 1}
		}
		return equal, nil
	}
	scores, status := r.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if status.IsSuccess() {
		// The scheduler sorts its own list.
		r.record.scored, r.record.scores = nodes, slices.Clone(scores)
	}
	return scores, status
}

// decide decides about a pod, up to the selection of a node or, if none fits, PostFilter.
func (r *recorded) decide(ctx context.Context, s *scheduler.Scheduler, rec *record) (*wire.Decision, error) {
	r.record = rec
	defer func() { r.record = nil }()
	out := &wire.Decision{Pod: wire.Reference{Namespace: rec.pod.Namespace, Name: rec.pod.Name, UID: string(rec.pod.UID)}, Nodes: len(rec.nodes)}
	for _, p := range r.PreEnqueuePlugins() {
		if status := p.PreEnqueue(ctx, rec.pod); !status.IsSuccess() {
			out.PreEnqueue = append(out.PreEnqueue, *statusOf(status.WithPlugin(p.Name())))
		}
	}
	host, err := schedulePod(ctx, s, r, rec.state, rec.pod)
	rec.describe(out, r)
	var unfit *framework.FitError
	switch {
	case err == nil:
		return out, r.chosen(ctx, out, host)
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		out.Status = &wire.Status{Code: fwk.UnschedulableAndUnresolvable.String(), Reasons: []string{err.Error()}}
	case !errors.As(err, &unfit):
		out.Status = &wire.Status{Code: fwk.Error.String(), Reasons: []string{err.Error()}}
	default:
		if r.HasPostFilterPlugins() {
			var message string
			out.Preemption, message = r.preempt(ctx, unfit.Diagnosis.NodeToStatus)
			unfit.Diagnosis.PostFilterMsg = message
		}
		out.Status = &wire.Status{Code: fwk.Unschedulable.String(), Reasons: []string{unfit.Error()}}
	}
	out.Digest = rec.digest(out)
	return out, nil
}

// chosen completes a decision that has selected host.
func (r *recorded) chosen(ctx context.Context, out *wire.Decision, host string) error {
	rec := r.record
	if rec.scores == nil {
		out.Best = []string{host}
		switch {
		case rec.pod.Status.NominatedNodeName == host && rec.evaluated() == 1:
			out.Unscored = wire.Nominated
		case out.Feasible == 1:
			out.Unscored = wire.OnlyFeasible
		default:
			out.Unscored, out.Best = wire.NoScores, rec.passed()
		}
	} else {
		out.Best = rec.best()
		if !slices.Contains(out.Best, host) {
			return fail(wire.Internal, fmt.Errorf("the scheduler chose %s for pod %s, which has not the best total", host, klog.KObj(rec.pod)))
		}
	}
	slices.Sort(out.Best)
	out.BestCount, out.BestDigest = len(out.Best), digestOf(out.Best...)
	if rec.request.Table {
		out.Table = rec.table(r.weights)
	}
	if rec.request.Full {
		var err error
		if out.Scores, err = r.scoresOf(ctx); err != nil {
			return err
		}
	} else if len(out.Best) > wire.BestShown {
		out.Best = out.Best[:wire.BestShown]
	}
	out.Digest = rec.digest(out)
	return nil
}

func (rec *record) best() []string {
	total := int64(math.MinInt64)
	var names []string
	for i := range rec.scores {
		switch s := &rec.scores[i]; {
		case s.TotalScore > total:
			total, names = s.TotalScore, append(names[:0], s.Name)
		case s.TotalScore == total:
			names = append(names, s.Name)
		}
	}
	return names
}

func (rec *record) evaluated() (count int) {
	for _, seen := range rec.seen {
		if seen {
			count++
		}
	}
	return count
}

func (rec *record) passed() []string {
	var names []string
	for i, n := range rec.nodes {
		if rec.seen[i] && rec.verdicts[i].IsSuccess() {
			names = append(names, n.Node().Name)
		}
	}
	return names
}

// scoresOf returns the table of scores. The framework returns what plugins made of their scores, so it asks the plugins for the raw ones again.
func (r *recorded) scoresOf(ctx context.Context) (*wire.Scores, error) {
	rec := r.record
	if len(rec.scores) == 0 {
		return nil, nil
	}
	out := &wire.Scores{}
	for _, s := range rec.scores[0].Scores {
		out.Plugins = append(out.Plugins, wire.Plugin{Name: s.Name, Weight: r.weights[s.Name]})
	}
	for i := range rec.scores {
		node := &rec.scores[i]
		raw, normalized := make([]int64, len(out.Plugins)), make([]int64, len(out.Plugins))
		for j, s := range node.Scores {
			normalized[j] = s.Score / int64(max(1, r.weights[s.Name]))
			score, status := r.scorers[s.Name].Score(ctx, rec.state, rec.pod, rec.scored[i])
			if !status.IsSuccess() {
				return nil, fail(wire.Internal, fmt.Errorf("scoring %s again: %w", node.Name, status.AsError()))
			}
			raw[j] = score
		}
		out.Nodes = append(out.Nodes, node.Name)
		out.Raw, out.Normalized, out.Totals = append(out.Raw, raw), append(out.Normalized, normalized), append(out.Totals, node.TotalScore)
	}
	return out, nil
}

func (r *recorded) preempt(ctx context.Context, statuses *framework.NodeToStatus) (*wire.Preemption, string) {
	rec, out := r.record, &wire.Preemption{}
	r.preempting.begin()
	res, status := r.RunPostFilterPlugins(ctx, rec.state, rec.pod, statuses)
	candidates := r.preempting.end()
	out.Status = statusOf(status)
	if res != nil && res.NominatingInfo != nil {
		out.Node = res.NominatedNodeName
	}
	for _, c := range candidates {
		if c.Node == out.Node {
			out.Victims = c.Victims
		}
	}
	if rec.request.Full {
		out.Candidates = candidates
	}
	return out, status.Message()
}

// statusOf returns nil for a success.
func statusOf(s *fwk.Status) *wire.Status {
	if s.IsSuccess() {
		return nil
	}
	return &wire.Status{Plugin: s.Plugin(), Code: s.Code().String(), Reasons: reasonsOf(s)}
}

// reasonsOf returns the reasons in the order in which the scheduler shows them: plugins collect some of theirs from a map.
func reasonsOf(s *fwk.Status) []string {
	reasons := s.Reasons()
	if err := s.AsError(); len(reasons) == 0 && err != nil {
		reasons = []string{err.Error()}
	}
	return slices.SortedStableFunc(slices.Values(reasons), strings.Compare)
}
