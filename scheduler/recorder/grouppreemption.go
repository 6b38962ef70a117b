package recorder

import (
	"cmp"
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"kube-scheduler-simulator/scheduler/result"
)

type podGroupPostFilter struct {
	to    *base
	inner fwk.PodGroupPostFilterPlugin
}

func newPodGroupPostFilter(b *base) podGroupPostFilter {
	return podGroupPostFilter{b, b.guard.PodGroupPostFilter(b.plugin.(fwk.PodGroupPostFilterPlugin))}
}

// PodGroupPostFilter is called on the scheduling goroutine. The plugin's trials do not decide about
// the members, so the members' records leave them out.
func (p podGroupPostFilter) PodGroupPostFilter(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, schedule fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	r := p.to.recorder
	g := r.groupCycle(state, group)
	start := r.now()
	evictions := p.to.expectGroupEvictions(g, group)
	p.to.dryRun.begin(group.GetUnscheduledPods())
	saved := r.groups
	r.groups = map[fwk.PodGroupCycleState]*groupRecord{}
	r.trial.Store(true)
	res, status := p.inner.PodGroupPostFilter(ctx, state, group, p.to.dryRun.observe(schedule))
	r.trial.Store(false)
	r.groups = saved
	evictions.chosen(status, p.to.dryRun.victims())
	answer := pluginResult(p.to.Name(), status, p.to.since(start))
	found := p.to.dryRun.end(status, p.to.handle.SnapshotSharedLister())
	g.mu.Lock()
	defer g.mu.Unlock()
	g.group.PostFilter = append(g.group.PostFilter, answer)
	if found != nil {
		g.group.Preemption = found
	}
	return res, status
}

func (b *base) expectGroupEvictions(g *groupRecord, info fwk.PodGroupInfo) *evictions {
	var uid types.UID
	switch {
	case !b.evicts:
		return nil
	case info.GetCompositePodGroup() != nil:
		uid = info.GetCompositePodGroup().UID
	case info.GetPodGroup() != nil:
		uid = info.GetPodGroup().UID
	}
	e := b.recorder.expectEvictions(uid)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.evictions = e
	return e
}

// dryRunHandle notes the changes to the snapshot by a plugin that preempts for groups.
type dryRunHandle struct {
	fwk.Handle
	run *groupDryRun
}

func (h *dryRunHandle) MutableSnapshotSharedLister() fwk.MutableSnapshotSharedLister {
	lister := h.Handle.MutableSnapshotSharedLister()
	if lister == nil {
		return nil
	}
	return &dryRunLister{lister, h.run}
}

type dryRunLister struct {
	fwk.MutableSnapshotSharedLister
	run *groupDryRun
}

func (l *dryRunLister) AddPod(pod fwk.PodInfo, node string) error {
	err := l.MutableSnapshotSharedLister.AddPod(pod, node)
	if err == nil {
		l.run.add(pod.GetPod())
	}
	return err
}

func (l *dryRunLister) RemovePod(logger klog.Logger, pod *v1.Pod, node string) error {
	err := l.MutableSnapshotSharedLister.RemovePod(logger, pod, node)
	if err == nil {
		l.run.remove(pod)
	}
	return err
}

// groupDryRun follows preemption for a pod group by the plugin's changes to the
// snapshot, because the plugin does not report its victims before the cycle is over. A
// pod that the plugin removes is a possible victim; one that is still removed at the
// end is a victim. All calls come from the scheduling goroutine.
type groupDryRun struct {
	// members are not victims, although the plugin adds and removes them too.
	members  map[types.UID]bool
	possible []*v1.Pod
	out      map[types.UID]bool
	// fits: the group fits while all possible victims are removed.
	fits bool
}

func (d *groupDryRun) begin(members []*v1.Pod) {
	*d = groupDryRun{members: make(map[types.UID]bool, len(members)), out: map[types.UID]bool{}}
	for _, pod := range members {
		d.members[pod.UID] = true
	}
}

func (d *groupDryRun) remove(pod *v1.Pod) {
	if d.members[pod.UID] {
		return
	}
	if _, known := d.out[pod.UID]; !known {
		d.possible = append(d.possible, pod)
	}
	d.out[pod.UID] = true
}

func (d *groupDryRun) add(pod *v1.Pod) {
	if _, known := d.out[pod.UID]; known {
		d.out[pod.UID] = false
	}
}

func (d *groupDryRun) observe(schedule fwk.PodGroupSchedulingFunc) fwk.PodGroupSchedulingFunc {
	return func(ctx context.Context) (*fwk.PodGroupAssignments, *fwk.Status) {
		assignments, status := schedule(ctx)
		d.fits = status.IsSuccess()
		return assignments, status
	}
}

// victims returns the pods that remain removed, if that makes room.
func (d *groupDryRun) victims() []*v1.Pod {
	if !d.fits {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(d.possible), func(pod *v1.Pod) bool { return !d.out[pod.UID] })
}

// end returns nil if the plugin removed no pod or failed.
func (d *groupDryRun) end(status *fwk.Status, snapshot fwk.SharedLister) *result.GroupPreemption {
	found := *d
	*d = groupDryRun{}
	if len(found.possible) == 0 || status.IsError() {
		return nil
	}
	victims := func(of func(*v1.Pod) bool) []result.Victim {
		out := []result.Victim{}
		for _, pod := range found.possible {
			if of(pod) {
				v := victimOf(pod)
				v.Priority = preemption.GetPodPriority(pod, snapshot.PodGroups(), nil)
				out = append(out, v)
			}
		}
		return out
	}
	losing := map[string]bool{}
	gone := victims(func(pod *v1.Pod) bool {
		goes := found.fits && found.out[pod.UID]
		losing[pod.Spec.NodeName] = losing[pod.Spec.NodeName] || goes
		return goes
	})
	beside := victims(func(pod *v1.Pod) bool { return losing[pod.Spec.NodeName] && !found.out[pod.UID] })
	return &result.GroupPreemption{
		Helpful: found.fits,
		Victims: mostImportant(gone), VictimCount: len(gone),
		Reprieved: mostImportant(beside), ReprievedCount: len(found.possible) - len(gone),
	}
}

// mostImportant sorts by priority, then by name, and cuts the list.
func mostImportant(victims []result.Victim) []result.Victim {
	slices.SortFunc(victims, func(a, b result.Victim) int {
		return cmp.Or(
			cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Pod.Namespace, b.Pod.Namespace),
			cmp.Compare(a.PodGroup, b.PodGroup), cmp.Compare(a.Pod.Name, b.Pod.Name),
		)
	})
	return victims[:min(len(victims), result.MaxGroupVictims)]
}
