package upstream

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// DecideGroup decides about a pod group in one cycle of Kubernetes' own, up to the selection of the
// nodes or PodGroupPostFilter. During the cycle it calls ended once for each pod. It binds nothing.
// The cycle starts with a new snapshot; the caller must call Update after it. f decides, whatever
// profile the pods name.
//
// Unlike Decide, the cycle counts in the process-wide metrics about pod groups.
func (d *Decider) DecideGroup(ctx context.Context, f framework.Framework, group *framework.QueuedPodGroupInfo, ended func(*framework.QueuedPodInfo, Decision)) {
	d.group = &groupTurn{info: group, ended: ended}
	defer func() { d.group = nil }()
	group.ForEachPodInfo(func(pod *framework.QueuedPodInfo) bool {
		name := pod.Pod.Spec.SchedulerName
		before, had := d.Profiles[name]
		d.Profiles[name] = selecting{f, d.group}
		defer func() {
			if delete(d.Profiles, name); had {
				d.Profiles[name] = before
			}
		}()
		d.ScheduleOne(ctx)
		return false // Kubernetes refuses a group whose pods name different profiles
	})
}

type groupTurn struct {
	info  *framework.QueuedPodGroupInfo
	ended func(*framework.QueuedPodInfo, Decision)
	// selected is the node of the pod for which Permit was called last.
	selected string
}

// nextGroup replaces the queue's Pop.
func (d *Decider) nextGroup(klog.Logger) (framework.QueuedEntityInfo, error) {
	if d.group == nil {
		return nil, nil
	}
	return d.group.info, nil
}

// endMember replaces the scheduler's failure handler, which ends every member's cycle, because
// selecting rejects those that have a node.
func (d *Decider) endMember(_ context.Context, _ framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, _ time.Time) {
	switch {
	case d.group == nil:
	case errors.Is(status.AsError(), errSelected):
		d.group.ended(pod, Decision{Node: d.group.selected})
	default:
		d.group.ended(pod, Decision{Status: status, Nominating: nominating})
	}
}

var errSelected = errors.New("a node is selected, and nothing is bound")

// selecting ends a pod's cycle after the choice of its node. The scheduler then takes the pod off
// the node again.
type selecting struct {
	framework.Framework
	turn *groupTurn
}

// RunPermitPlugins asks no plugin.
func (s selecting) RunPermitPlugins(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node string) (map[string]time.Duration, *fwk.Status) {
	s.turn.selected = node
	return nil, fwk.AsStatus(errSelected)
}
