// Package zonequota provides the scheduler plugin ZoneQuota. It limits the number
// of pods of one application in each zone and prefers the zones with the fewest. It
// is an example of an out-of-tree plugin: it has typed arguments, several extension
// points that share the counts of PreFilter, and facts that explain the decision.
// It may import the scheduling framework, scheduler/pluginfact and
// scheduler/plugins/argument.
//
//	pluginConfig:
//	- name: ZoneQuota
//	  args: {maxPerZone: 3, label: app}
package zonequota

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/plugins/argument"
)

// Name is the name of the plugin.
const Name = "ZoneQuota"

// Arguments configure the plugin.
type Arguments struct {
	// MaxPerZone is how many pods a zone may have. It is required.
	MaxPerZone int `json:"maxPerZone"`
	// Label tells applications apart, within a namespace: "app" by default.
	Label string `json:"label,omitempty"`
}

// Plugin is one instance, for one profile.
type Plugin struct{ args Arguments }

var (
	_ fwk.PreFilterPlugin     = (*Plugin)(nil)
	_ fwk.PreFilterExtensions = (*Plugin)(nil)
	_ fwk.FilterPlugin        = (*Plugin)(nil)
	_ fwk.ScorePlugin         = (*Plugin)(nil)
	_ fwk.EnqueueExtensions   = (*Plugin)(nil)
)

// New is the plugin's factory.
func New(_ context.Context, args runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	p := &Plugin{args: Arguments{Label: "app"}}
	if err := argument.Decode(args, &p.args); err != nil {
		return nil, err
	}
	if p.args.MaxPerZone < 1 {
		return nil, &argument.Error{Field: "maxPerZone", Message: "must be at least 1"}
	}
	return p, nil
}

// Name returns the name under which users enable the plugin.
func (*Plugin) Name() string { return Name }

// counts is the number of the application's pods by zone. It lives in the state of
// the cycle, which the scheduler clones to try the effect of adding or removing
// pods.
type counts map[string]int

// Clone copies the counts.
func (c counts) Clone() fwk.StateData {
	out := make(counts, len(c))
	for zone, n := range c {
		out[zone] = n
	}
	return out
}

// PreFilter counts once per cycle what Filter and Score need for every node. The
// plugin ignores pods without the label.
func (p *Plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	zones := counts{}
	state.Write(Name, zones)
	if pod.Labels[p.args.Label] == "" {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	for _, node := range nodes {
		for _, other := range node.GetPods() {
			zones[zoneOf(node)] += p.counted(pod, other.GetPod())
		}
	}
	for zone, n := range zones {
		pluginfact.Record(state, Name, "zone "+zone, fmt.Sprintf("%d of %d pods", n, p.args.MaxPerZone))
	}
	return nil, nil
}

// counted is 1 for a pod of the same application, otherwise 0.
func (p *Plugin) counted(pod, other *v1.Pod) int {
	if other.Namespace == pod.Namespace && other.Labels[p.args.Label] == pod.Labels[p.args.Label] {
		return 1
	}
	return 0
}

// PreFilterExtensions keep the counts correct when the scheduler tries a node with
// its nominated pods, or without the victims of a preemption.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return p }

// AddPod counts a pod that the scheduler adds to node hypothetically.
func (p *Plugin) AddPod(_ context.Context, state fwk.CycleState, pod *v1.Pod, added fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	countsIn(state)[zoneOf(node)] += p.counted(pod, added.GetPod())
	return nil
}

// RemovePod subtracts a pod that the scheduler removes from node hypothetically.
func (p *Plugin) RemovePod(_ context.Context, state fwk.CycleState, pod *v1.Pod, removed fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	countsIn(state)[zoneOf(node)] -= p.counted(pod, removed.GetPod())
	return nil
}

// Filter rejects the nodes of a zone that is full.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if countsIn(state)[zoneOf(node)] >= p.args.MaxPerZone {
		return fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf("zone %s already has %d pods of this application", zoneOf(node), p.args.MaxPerZone))
	}
	return nil
}

// Score is the unused share of the zone's quota, in percent.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	left := p.args.MaxPerZone - countsIn(state)[zoneOf(node)]
	return int64(max(0, left)) * fwk.MaxScore / int64(p.args.MaxPerZone), nil
}

// ScoreExtensions is nil: the scores need no normalization.
func (*Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

// EventsToRegister names the events that may make a rejected pod schedulable.
func (*Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete | fwk.UpdatePodLabel}},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel}},
		{Event: fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodLabel}},
	}, nil
}

// The plugin has no SignPod: placing a pod changes the answer for other nodes, and
// batching does not allow for that.

func countsIn(state fwk.CycleState) counts {
	data, _ := state.Read(Name)
	zones, _ := data.(counts)
	return zones
}

func zoneOf(node fwk.NodeInfo) string { return node.Node().Labels[v1.LabelTopologyZone] }
