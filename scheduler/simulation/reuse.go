package simulation

import (
	"context"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/internal/upstream"
)

// localFilters and localScores are the plugins whose answer depends only on the pod's spec, the
// node and the node's pods. NodeResourcesFit and NodeResourcesBalancedAllocation also ask for
// DeviceClasses, unless there are none. ImageLocality also compares a node with the others, unless
// it has no images. VolumeBinding and DynamicResources give 0 to all nodes if the pod has no
// claims; if it has, Filter is not local.
var (
	localFilters = sets.New(names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts, names.NodeResourcesFit, names.NodeDeclaredFeatures)
	localScores  = sets.New(names.TaintToleration, names.NodeAffinity, names.NodeResourcesFit, names.NodeResourcesBalancedAllocation, names.ImageLocality, names.VolumeBinding, names.DynamicResources)
)

// reuse remembers what Filter and Score said about nodes. Most pods of a workload have the spec of
// an earlier pod, and few nodes change between two pods, so most answers are known. Verdicts and
// scores are the same, but without a call of the plugins there is no record of what each said.
// reuse calls NormalizeScore, which depends on all nodes.
type reuse struct {
	framework.Framework
	// filters and scores are in the profile's order.
	filters, scores []string
	// whole reports whether the plugins must be asked about a pod, because their answers are kept.
	whole   func(types.UID) bool
	devices func() bool
	// nominates reports whether pods may be nominated to nodes, which Filter then adds to them.
	nominates func() bool
	positions positions
	answers   map[string]*answers
	nodes     int
	// statuses holds one of all equal rejections: there are few reasons, for many nodes and specs.
	statuses map[string]*fwk.Status
	// present holds the answers for the current pod's spec; nil if they cannot be reused.
	present *answers
	// rows, raw and normalizer are reused for each cycle: the scheduler keeps none of their memory.
	rows       []fwk.NodePluginScores
	raw        []fwk.PluginScore
	normalizer *upstream.Normalizer
}

// answers are those for one spec. The slices have an element, or a row, for each of the positions.
type answers struct {
	verdicts []verdict
	// scorers are the plugins whose raw scores are kept, one row of values per node.
	scorers []string
	scored  []int64
	values  []int32
}

// verdict is what Filter said about a node of this generation. With every change Kubernetes gives a
// node another generation, unique in the process and never 0.
type verdict struct {
	generation int64
	status     *fwk.Status
}

// mostSpecs bounds the remembered specs. Each takes some 60 bytes per node.
const mostSpecs = 512

func newReuse(f framework.Framework, plugins map[string]fwk.Plugin, whole func(types.UID) bool, devices, nominates func() bool) *reuse {
	r := &reuse{Framework: f, whole: whole, devices: devices, nominates: nominates, normalizer: upstream.NewNormalizer(f, plugins)}
	r.forget()
	enabled := f.ListPlugins()
	for _, plugin := range enabled.Filter.Enabled {
		r.filters = append(r.filters, plugin.Name)
	}
	for _, plugin := range enabled.Score.Enabled {
		r.scores = append(r.scores, plugin.Name)
	}
	return r
}

func (r *reuse) forget() {
	r.positions, r.answers, r.statuses = positions{of: map[*framework.NodeInfo]int{}}, map[string]*answers{}, map[string]*fwk.Status{}
}

func (r *reuse) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	res, status, plugins := r.Framework.RunPreFilterPlugins(ctx, state, pod)
	r.present = nil
	if status.IsSuccess() && !r.whole(pod.UID) && !state.IsPodGroupSchedulingCycle() && !r.devices() && !r.nominates() && local(localFilters, r.filters, state.GetSkipFilterPlugins()) {
		r.present = r.about(pod)
	}
	return res, status, plugins
}

func local(locals sets.Set[string], plugins []string, skipped sets.Set[string]) bool {
	for _, plugin := range plugins {
		if !locals.Has(plugin) && !skipped.Has(plugin) {
			return false
		}
	}
	return true
}

func (r *reuse) about(pod *v1.Pod) *answers {
	spec, err := pod.Spec.Marshal() // sorts maps
	if err != nil {
		return nil
	}
	nodes, err := r.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil
	}
	r.nodes = len(nodes)
	if len(r.answers) == mostSpecs || len(r.positions.nodes) > 2*r.nodes+100 {
		r.forget() // also the nodes that are gone
	}
	known := r.answers[string(spec)]
	if known == nil {
		known = &answers{}
		r.answers[string(spec)] = known
	}
	return known
}

// RunFilterPluginsWithNominatedPods is called for one node at a time.
func (r *reuse) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if r.present == nil {
		return r.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	}
	at, ok := r.positions.find(node)
	if !ok {
		return r.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	}
	r.present.verdicts = extended(r.present.verdicts, at+1, r.nodes)
	known := &r.present.verdicts[at]
	if generation := node.GetGeneration(); known.generation != generation {
		*known = verdict{generation, r.one(r.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node))}
	}
	return known.status
}

func (r *reuse) one(status *fwk.Status) *fwk.Status {
	if !status.IsRejected() {
		return status
	}
	key := strings.Join(append([]string{status.Plugin(), status.Code().String()}, status.Reasons()...), "\x00")
	if _, known := r.statuses[key]; !known {
		r.statuses[key] = status
	}
	return r.statuses[key]
}

// RunScorePlugins is called after RunPreScorePlugins, with the nodes that passed Filter.
func (r *reuse) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	skipped := state.GetSkipScorePlugins()
	if r.present == nil || !local(localScores, r.scores, skipped) {
		return r.Framework.RunScorePlugins(ctx, state, pod, nodes)
	}
	var scorers []string
	for _, plugin := range r.scores {
		if !skipped.Has(plugin) {
			scorers = append(scorers, plugin)
		}
	}
	if !slices.Equal(scorers, r.present.scorers) {
		r.present.scorers, r.present.scored, r.present.values = scorers, nil, nil
	}
	r.rows, r.raw = slices.Grow(r.rows[:0], len(nodes)), slices.Grow(r.raw[:0], len(nodes)*len(scorers))
	rows, raw := r.rows[:len(nodes)], r.raw[:len(nodes)*len(scorers)]
	for i, node := range nodes {
		row := raw[i*len(scorers) : (i+1)*len(scorers) : (i+1)*len(scorers)]
		if status := r.score(ctx, state, pod, node, row); !status.IsSuccess() {
			return nil, status
		}
		rows[i] = fwk.NodePluginScores{Name: node.Node().Name, RawScores: row}
	}
	if status := r.normalizer.Normalize(ctx, state, pod, rows); !status.IsSuccess() {
		return nil, status
	}
	return rows, nil
}

func (r *reuse) score(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo, row []fwk.PluginScore) *fwk.Status {
	at, ok := r.positions.find(node)
	if ok = ok && len(node.GetImageStates()) == 0; ok {
		r.present.scored = extended(r.present.scored, at+1, r.nodes)
		r.present.values = extended(r.present.values, (at+1)*len(row), r.nodes*len(row))
	}
	generation := node.GetGeneration()
	if ok && r.present.scored[at] == generation {
		values := r.present.values[at*len(row):]
		for i, plugin := range r.present.scorers {
			row[i] = fwk.PluginScore{Name: plugin, Score: int64(values[i])}
		}
		return nil
	}
	scores, status := r.RunRawScorePlugins(ctx, state, pod, node)
	if !status.IsSuccess() {
		return status
	}
	copy(row, scores)
	if !ok {
		return nil
	}
	r.present.scored[at] = generation
	for i, score := range scores {
		value := int32(score.Score)
		if int64(value) != score.Score {
			r.present.scored[at] = 0
		}
		r.present.values[at*len(row)+i] = value
	}
	return nil
}

// extended returns a slice with at least n elements, and at once the usual number.
func extended[E any](s []E, n, usual int) []E {
	switch {
	case n <= len(s):
		return s
	case n <= usual:
		return append(make([]E, 0, usual), s...)[:usual]
	}
	return append(s, make([]E, n-len(s))...)
}

// positions numbers the nodes of the scheduler's snapshot, which keeps the address of a node while
// the node exists.
type positions struct {
	nodes []*framework.NodeInfo
	of    map[*framework.NodeInfo]int
	// next is the position after the latest. The scheduler visits nodes in the snapshot's order.
	next int
}

// near is how far find looks ahead before it asks the map.
const near = 8

// find returns the position of a node. Only Kubernetes' own type has one.
func (p *positions) find(node fwk.NodeInfo) (int, bool) {
	info, ok := node.(*framework.NodeInfo)
	if !ok {
		return 0, false
	}
	for at := p.next; at < min(p.next+near, len(p.nodes)); at++ {
		if p.nodes[at] == info {
			p.next = at + 1
			return at, true
		}
	}
	at, known := p.of[info]
	if !known {
		at = len(p.nodes)
		p.nodes, p.of[info] = append(p.nodes, info), at
	}
	p.next = at + 1
	return at, true
}
