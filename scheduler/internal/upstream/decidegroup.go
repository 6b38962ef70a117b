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

// DecideGroup makes the decision for the pods of a pod group in one cycle of Kubernetes' own, up to the selection of the nodes or
// PodGroupPostFilter. It calls ended once for each pod, while the cycle runs. Nothing is bound. The cycle starts with a new snapshot, and ends
// with one that the caller must bring up to date with Update. f decides, whatever profile the pods name.
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

// groupTurn is a running call of DecideGroup.
type groupTurn struct {
	info  *framework.QueuedPodGroupInfo
	ended func(*framework.QueuedPodInfo, Decision)
	// selected is the node of the pod for which Permit was called last.
	selected string
}

// nextGroup takes the place of the queue's Pop.
func (d *Decider) nextGroup(klog.Logger) (framework.QueuedEntityInfo, error) {
	if d.group == nil {
		return nil, nil
	}
	return d.group.info, nil
}

// endMember takes the place of the scheduler's failure handler, which ends the cycle of each member: selecting rejects those that
// have a node.
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

// selecting is a framework that ends a pod's cycle when its node is selected. The scheduler then takes the pod off the node again.
type selecting struct {
	framework.Framework
	turn *groupTurn
}

// RunPermitPlugins asks no plugin.
func (s selecting) RunPermitPlugins(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node string) (map[string]time.Duration, *fwk.Status) {
	s.turn.selected = node
	return nil, fwk.AsStatus(errSelected)
}
