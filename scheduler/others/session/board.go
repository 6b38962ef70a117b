package session

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/utils/ptr"

	schedulerconfig "kube-scheduler-simulator/scheduler/config"
)

// Names of the plugins by which a session takes part in kube-scheduler's decisions, as users see them.
const (
	// RoomPlugin rejects nodes without room, as the session counts it.
	RoomPlugin = "SessionRoom"
	// MostRequestedPlugin is NodeResourcesFit with the strategy MostAllocated, beside the one with LeastAllocated.
	MostRequestedPlugin = "NodeResourcesMostAllocated"
)

// Board connects the plugins of a session with the session that runs. Give Registry to the engine on which Run works. An engine
// answers one question at a time, so a board has one session at a time.
type Board struct{ running *session }

// NewBoard returns a board without a session.
func NewBoard() *Board { return &Board{} }

func (b *Board) Registry() frameworkruntime.Registry {
	return frameworkruntime.Registry{
		RoomPlugin: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return room{b}, nil },
		BinPack:    func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return binPack{b}, nil },
		MostRequestedPlugin: func(ctx context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			args := &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{
				Type:      config.MostAllocated,
				Resources: []config.ResourceSpec{{Name: string(v1.ResourceCPU), Weight: 1}, {Name: string(v1.ResourceMemory), Weight: 1}},
			}}
			fit, err := noderesources.NewFit(ctx, args, handle, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
			if err != nil {
				return nil, err
			}
			return mostRequested{fit.(fwk.ScorePlugin)}, nil
		},
	}
}

// room is the plugin RoomPlugin. Its Score is 0 for every node: with it, the search does not stop at the first node that fits.
type room struct{ board *Board }

var (
	_ fwk.FilterPlugin = room{}
	_ fwk.ScorePlugin  = room{}
	_ fwk.SignPlugin   = room{}
	_ fwk.SignPlugin   = binPack{}
	_ fwk.SignPlugin   = mostRequested{}
)

// unsigned is the signature of no pod: what is alike in its spec is not alike in a session.
func unsigned() ([]fwk.SignFragment, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Unschedulable, "a session judges each pod by its own state")
}

func (room) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) { return unsigned() }

func (binPack) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) { return unsigned() }

func (mostRequested) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return unsigned()
}

func (room) Name() string { return RoomPlugin }

func (r room) Filter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, on fwk.NodeInfo) *fwk.Status {
	if s := r.board.running; s != nil {
		if reasons := s.crowded(pod, on.Node().Name); len(reasons) > 0 {
			return fwk.NewStatus(fwk.Unschedulable, reasons...)
		}
	}
	return nil
}

func (room) Score(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) (int64, *fwk.Status) {
	return 0, nil
}

func (room) ScoreExtensions() fwk.ScoreExtensions { return nil }

type mostRequested struct{ fwk.ScorePlugin }

func (mostRequested) Name() string { return MostRequestedPlugin }

// binPack prefers nodes that are full already.
type binPack struct{ board *Board }

var _ fwk.ScorePlugin = binPack{}

func (binPack) Name() string { return BinPack }

func (b binPack) Score(_ context.Context, _ fwk.CycleState, pod *v1.Pod, on fwk.NodeInfo) (int64, *fwk.Status) {
	s := b.board.running
	if s == nil {
		return 0, nil
	}
	return s.binPacked(pod, on.Node().Name), nil
}

func (binPack) ScoreExtensions() fwk.ScoreExtensions { return nil }

// crowded returns why a pod does not fit on a node, as kube-scheduler says it.
func (s *session) crowded(pod *v1.Pod, name string) []string {
	t, n := s.tasks[pod], s.byNode[name]
	if t == nil || n == nil {
		return nil
	}
	var out []string
	if n.outOfSync {
		return []string{"the pods on the node ask for more than it has"}
	}
	if reason := s.pressed(n); reason != "" {
		out = append(out, reason)
	}
	if n.pods >= n.maxPods {
		out = append(out, "Too many pods")
	}
	if s.anyRoom || t.bestEffort {
		return out
	}
	if s.roomy(t, n) {
		return out
	}
	for i, name := range s.units.names {
		most := math.Max(n.idle[i], s.leaving(n)[i])
		if t.initial[i] > 0 && t.initial[i] >= most+s.units.slack[i] {
			out = append(out, "Insufficient "+string(name))
		}
	}
	if len(out) == 0 {
		out = append(out, "neither the idle nor the releasing resources suffice alone")
	}
	return out
}

// leaving is the room that a node offers beside Idle: kube-batch's Releasing, and Volcano's FutureIdle.
func (s *session) leaving(n *node) amounts {
	if s.rules == Volcano {
		return n.future()
	}
	return n.releasing.minus(n.pipelined)
}

// roomy reports whether a task fits on a node now or once others have left.
func (s *session) roomy(t *task, n *node) bool {
	return s.units.fits(t.initial, s.leaving(n)) || s.rules == KubeBatch && s.units.fits(t.initial, n.idle)
}

// pressed returns why kube-batch keeps pods off a node with too little of something.
func (s *session) pressed(n *node) string {
	p := s.configuration.plugin(Predicates)
	if p == nil || s.rules != KubeBatch {
		return ""
	}
	for _, c := range n.object.Status.Conditions {
		kind := strings.TrimSuffix(string(c.Type), "Pressure")
		if c.Status == v1.ConditionTrue && kind != string(c.Type) && p.enabled("predicate."+kind+"PressureEnable", false) {
			return fmt.Sprintf("node(s) had the condition %s", c.Type)
		}
	}
	return ""
}

// binPacked is the score of binpack, from 0 to 100 before its weight.
func (s *session) binPacked(pod *v1.Pod, name string) int64 {
	t, n, p := s.tasks[pod], s.byNode[name], s.configuration.plugin(BinPack)
	if t == nil || n == nil || p == nil {
		return 0
	}
	score, weights := 0.0, 0.0
	for i, resource := range s.units.names {
		w := float64(p.resourceWeight(string(resource)))
		if t.request[i] == 0 || w == 0 {
			continue
		}
		weights += w
		if used := n.used[i] + n.pipelined[i] + t.request[i]; n.allocatable[i] > 0 && used <= n.allocatable[i] {
			score += w * used / n.allocatable[i]
		}
	}
	if weights == 0 {
		return 0
	}
	return int64(score / weights * float64(fwk.MaxScore))
}

// resourceWeight is binpack's weight of a resource; 0 leaves it out.
func (p *Plugin) resourceWeight(resource string) int {
	switch resource {
	case string(v1.ResourceCPU), string(v1.ResourceMemory):
		return p.weight("binpack."+resource, 1)
	}
	for _, name := range strings.Split(p.Arguments["binpack.resources"], ",") {
		if strings.TrimSpace(name) == resource {
			return p.weight("binpack.resources."+resource, 1)
		}
	}
	return 0
}

// predicate is a plugin of kube-scheduler that a configuration may switch off.
type predicate struct{ plugin, argument string }

var predicates = map[Rules][]predicate{
	KubeBatch: {{"NodeUnschedulable", ""}, {"NodeName", ""}, {"TaintToleration", ""}, {"NodeAffinity", ""}, {"NodePorts", ""}, {"InterPodAffinity", ""}},
	Volcano: {
		{"NodeUnschedulable", ""}, {"NodeName", ""},
		{"TaintToleration", "predicate.TaintTolerationEnable"}, {"NodeAffinity", "predicate.NodeAffinityEnable"},
		{"NodePorts", "predicate.NodePortsEnable"}, {"NodeVolumeLimits", "predicate.NodeVolumeLimitsEnable"},
		{"VolumeBinding", "predicate.VolumeBindingEnable"}, {"VolumeZone", "predicate.VolumeZoneEnable"},
		{"PodTopologySpread", "predicate.PodTopologySpreadEnable"}, {"InterPodAffinity", "predicate.PodAffinityEnable"},
	},
}

// priority is a plugin of kube-scheduler that scores nodes, with its weight.
type priority struct {
	plugin, argument string
	weight           int
}

var priorityFunctions = map[Rules][]priority{
	KubeBatch: {
		{"NodeResourcesFit", "leastrequested.weight", 1}, {MostRequestedPlugin, "mostrequested.weight", 0},
		{"NodeAffinity", "nodeaffinity.weight", 1}, {"InterPodAffinity", "podaffinity.weight", 1},
		{"NodeResourcesBalancedAllocation", "balancedresource.weight", 1},
	},
	Volcano: {
		{"NodeResourcesFit", "leastrequested.weight", 1}, {MostRequestedPlugin, "mostrequested.weight", 0},
		{"NodeAffinity", "nodeaffinity.weight", 2}, {"InterPodAffinity", "podaffinity.weight", 2},
		{"NodeResourcesBalancedAllocation", "balancedresource.weight", 1}, {"TaintToleration", "tainttoleration.weight", 3},
		{"ImageLocality", "imagelocality.weight", 1}, {"PodTopologySpread", "podtopologyspread.weight", 2},
	},
}

// profile is the scheduler name of the profile that judges nodes for a session.
const profile = "session"

// Judge returns the kube-scheduler configuration that judges nodes for the sessions of c: its predicates as Filter plugins, and its
// node order as Score plugins with their weights. kube-batch's old scores from 0 to 10 are kube-scheduler's from 0 to 100, all of them, so
// their order is the same but for rounding.
//
// Volcano's search ends early on 100 nodes or more, at as many feasible ones as kube-scheduler's; kube-batch judges all nodes.
func (c *Configuration) Judge() (*config.KubeSchedulerConfiguration, error) {
	filters := []string{RoomPlugin}
	if p := c.plugin(Predicates); p != nil && !p.Disabled["enablePredicate"] {
		filters = nil
		for _, f := range predicates[c.Rules] {
			if f.argument == "" || p.enabled(f.argument, true) {
				filters = append(filters, f.plugin)
			}
		}
		filters = append(filters, RoomPlugin) // last, as predicates come first
	}
	var scores []priority
	if p := c.plugin(NodeOrder); p != nil && !p.Disabled["enableNodeOrder"] {
		for _, f := range priorityFunctions[c.Rules] {
			if w := p.weight(f.argument, f.weight); w > 0 {
				scores = append(scores, priority{plugin: f.plugin, weight: w})
			}
		}
	}
	if p := c.plugin(BinPack); p != nil && !p.Disabled["enableNodeOrder"] && p.weight("binpack.weight", 1) > 0 {
		scores = append(scores, priority{plugin: BinPack, weight: p.weight("binpack.weight", 1)})
	}
	if scores == nil {
		scores = []priority{{plugin: RoomPlugin, weight: 1}}
	}
	var enabled []string
	for _, name := range filters {
		enabled = append(enabled, "{name: "+name+"}")
	}
	out, err := schedulerconfig.ParseWith(fmt.Appendf(nil, judge, profile, strings.Join(enabled, ", "), entries(scores, true), entries(scores, false)),
		schedulerconfig.Options{OutOfTree: []string{RoomPlugin, BinPack, MostRequestedPlugin}})
	if err != nil {
		return nil, fmt.Errorf("making the predicates of a session: %w", err)
	}
	if c.Rules == KubeBatch {
		out.Internal.PercentageOfNodesToScore = ptr.To[int32](100)
	}
	return out.Internal, nil
}

const judge = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: %s
  plugins:
    multiPoint:
      disabled: [{name: "*"}]
      enabled: [{name: PrioritySort}, {name: DefaultBinder}, %s]
    score:
      disabled: [{name: "*"}]
      enabled: [%s]
    preScore:
      disabled: [{name: "*"}]
      enabled: [%s]
`

// preparing are the scoring plugins that prepare their scores.
var preparing = []string{"NodeResourcesFit", "NodeAffinity", "InterPodAffinity", "NodeResourcesBalancedAllocation", "TaintToleration", "PodTopologySpread"}

// entries writes plugins as a configuration lists them. Weights are only for Score.
func entries(plugins []priority, weights bool) string {
	var out []string
	for _, p := range plugins {
		switch {
		case weights:
			out = append(out, fmt.Sprintf("{name: %s, weight: %d}", p.plugin, p.weight))
		case slices.Contains(preparing, p.plugin):
			out = append(out, "{name: "+p.plugin+"}")
		}
	}
	return strings.Join(out, ", ")
}
