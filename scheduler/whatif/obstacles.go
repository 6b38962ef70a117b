package whatif

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/recorder/comparison"
	"kube-scheduler-simulator/scheduler/result"
)

// Obstacle is what keeps a pod off a node: a plugin that rejects it there, or fails.
type Obstacle struct {
	Plugin  string
	Reasons []string
	// PreFilter: the plugin rejected the pod before it looked at any node.
	PreFilter bool
	// Comparison holds what the plugin compared; nil if that is not known. It has no names of the node and of
	// the plugin.
	Comparison *result.Comparison
}

// Obstacles returns, for each of the named nodes in their order, or for all nodes in the order of Nodes if none is named, every
// plugin that rejects the pod there, with what it compared. A node on which the pod fits has none. It asks no extender. It costs
// little more than Feasible, unless a plugin rejects the pod in PreFilter: then it costs what Decide does, and only the nodes that
// are nearest to fitting have comparisons. The error may be a *NotFoundError.
func (t *Trial) Obstacles(ctx context.Context, pod *v1.Pod, profile string, nodes ...string) ([][]Obstacle, error) {
	a, err := attemptOf(ctx, t, pod, profile)
	if err != nil {
		return nil, err
	}
	infos, err := t.nodes(nodes)
	if err != nil {
		return nil, err
	}
	if !a.status.IsSuccess() {
		return t.decidedObstacles(ctx, pod, profile, infos)
	}
	var restricting sets.Set[string]
	if !a.restriction.AllNodes() {
		_, _, restricting = a.framework.RunPreFilterPlugins(ctx, newState(), pod)
	}
	statuses := make([][]*fwk.Status, len(infos))
	a.framework.Parallelizer().Until(ctx, len(infos), func(i int) { statuses[i] = a.rejections(ctx, infos[i], restricting) }, metrics.Filter)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := comparing{attempt: a, comparers: comparersOf(t, a.framework), begun: map[string]recorder.Comparing{}}
	out := make([][]Obstacle, len(infos))
	for i, node := range infos {
		for _, status := range statuses[i] {
			o := Obstacle{Plugin: status.Plugin(), Reasons: status.Reasons()}
			if status.IsRejected() {
				o.Comparison = c.compare(ctx, status.Plugin(), node)
			} else if err := status.AsError(); err != nil {
				o.Reasons = []string{err.Error()}
			}
			out[i] = append(out[i], o)
		}
	}
	return out, nil
}

// rejections returns the statuses of all plugins that reject a node. restricting are the plugins that restricted the search in
// PreFilter.
func (a *attempt) rejections(ctx context.Context, node fwk.NodeInfo, restricting sets.Set[string]) []*fwk.Status {
	var out []*fwk.Status
	skip := a.state.GetSkipFilterPlugins()
	for state := a.state; ; {
		status := a.framework.RunFilterPluginsWithNominatedPods(ctx, state, a.pod, node)
		if status.IsSuccess() {
			break
		}
		if out = append(out, status); status.Plugin() == "" {
			break
		}
		skip = skip.Union(sets.New(status.Plugin()))
		state = &skipping{a.state, skip}
	}
	if a.restriction.AllNodes() || a.restriction.NodeNames.Has(node.Node().Name) || slices.ContainsFunc(out, func(s *fwk.Status) bool { return restricting.Has(s.Plugin()) }) {
		return out
	}
	for _, plugin := range sets.List(restricting) {
		out = append(out, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) didn't satisfy plugin(s) [%s]", plugin)).WithPlugin(plugin))
	}
	return out
}

// skipping is a cycle state in which further plugins are skipped.
type skipping struct {
	fwk.CycleState
	skip sets.Set[string]
}

func (s *skipping) GetSkipFilterPlugins() sets.Set[string] { return s.skip }

func (s *skipping) Clone() fwk.CycleState { return &skipping{s.CycleState.Clone(), s.skip} }

func (t *Trial) decidedObstacles(ctx context.Context, pod *v1.Pod, profile string, infos []fwk.NodeInfo) ([][]Obstacle, error) {
	cycle, err := t.Decide(ctx, pod, profile)
	if err != nil {
		return nil, err
	}
	if cycle.Outcome == result.Error {
		return nil, fmt.Errorf("deciding about %s/%s: %s", pod.Namespace, pod.Name, cycle.Message)
	}
	compared := map[[2]string]*result.Comparison{}
	verdicts := map[string]result.Verdict{}
	if f := cycle.Filter; f != nil {
		for i := range f.Comparisons {
			compared[[2]string{f.Comparisons[i].Node, f.Comparisons[i].Plugin}] = &f.Comparisons[i]
		}
		for i, node := range f.Nodes.All() {
			verdicts[node] = f.Verdict(i)
		}
	}
	var always []Obstacle
	for _, p := range cycle.PreFilter {
		if p.Status == fwk.Unschedulable.String() || p.Status == fwk.UnschedulableAndUnresolvable.String() {
			always = append(always, Obstacle{Plugin: p.Plugin, Reasons: p.Reasons, PreFilter: true})
		}
	}
	out := make([][]Obstacle, len(infos))
	for i, info := range infos {
		out[i] = slices.Clone(always)
		verdict := verdicts[info.Node().Name]
		for _, r := range verdict.Rejections() {
			if at := slices.Index(cycle.Filter.Plugins, r.Plugin); at >= 0 && verdict.States[at] == result.Failed {
				continue // It misses what another plugin would have found out.
			}
			if !slices.ContainsFunc(always, func(o Obstacle) bool { return o.Plugin == r.Plugin }) {
				out[i] = append(out[i], Obstacle{Plugin: r.Plugin, Reasons: r.Reasons, Comparison: compared[[2]string{info.Node().Name, r.Plugin}]})
			}
		}
	}
	return out, nil
}

type comparing struct {
	*attempt
	comparers map[string]recorder.Comparer
	begun     map[string]recorder.Comparing
	// done counts the comparisons of plugins for which one takes long.
	done map[string]int
}

// compare returns what a plugin compared when it rejected a node, with the node's nominated pods if it would not have rejected
// it without them.
func (c *comparing) compare(ctx context.Context, plugin string, node fwk.NodeInfo) *result.Comparison {
	comparer := c.comparers[plugin]
	if comparer == nil {
		return nil
	}
	if limit := comparer.Limit(); limit < result.MaxComparisons {
		if c.done == nil {
			c.done = map[string]int{}
		}
		if c.done[plugin]++; c.done[plugin] > limit {
			return nil
		}
	}
	with, begun := c.begun[plugin]
	if !begun {
		with = comparer.Begin(c.state, c.pod)
		c.begun[plugin] = with
	}
	if with == nil {
		return nil
	}
	if found := (&result.Comparison{}); with.Compare(c.state, node, found) {
		return found
	}
	if state, on := c.nominated(ctx, node); on != nil {
		if found := (&result.Comparison{}); with.Compare(state, on, found) {
			return found
		}
	}
	return nil
}

// nominated returns the state and the node with the pods that are nominated to it and matter to the pod, as the framework
// shows them to Filter; no node if there are none.
func (c *comparing) nominated(ctx context.Context, node fwk.NodeInfo) (state fwk.CycleState, on fwk.NodeInfo) {
	for _, p := range c.framework.NominatedPodsForNode(node.Node().Name) {
		if corev1.PodPriority(p.GetPod()) < corev1.PodPriority(c.pod) || p.GetPod().UID == c.pod.UID {
			continue
		}
		if on == nil {
			state, on = c.state.Clone(), node.Snapshot()
		}
		on.AddPodInfo(p)
		if !c.framework.RunPreFilterExtensionAddPod(ctx, state, c.pod, p, on).IsSuccess() {
			return nil, nil
		}
	}
	return state, on
}

// comparers returns the comparers of a profile's Filter plugins.
func comparersOf(t *Trial, f framework.Framework) map[string]recorder.Comparer {
	if known := in(t).comparers[f.ProfileName()]; known != nil {
		return known
	}
	args := map[string]runtime.Object{}
	for _, profile := range in(t).given.Profiles {
		if profile.SchedulerName == f.ProfileName() {
			for _, c := range profile.PluginConfig {
				args[c.Name] = c.Args
			}
		}
	}
	made := map[string]recorder.Comparer{}
	for _, p := range f.ListPlugins().Filter.Enabled {
		if comparer := (comparison.InTree{}).Comparer(p.Name, args[p.Name], f); comparer != nil {
			made[p.Name] = comparer
		}
	}
	if in(t).comparers == nil {
		in(t).comparers = map[string]map[string]recorder.Comparer{}
	}
	in(t).comparers[f.ProfileName()] = made
	return made
}
