package recorder

import (
	"context"
	"time"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/internal/upstream"
)

// Attach makes sched report the start and the end of every cycle. It must be called
// before sched runs. nodes lists the nodes of sched's snapshot; it is called on the
// scheduling goroutine, while the snapshot does not change.
func (r *Recorder) Attach(sched *scheduler.Scheduler, nodes func() []fwk.NodeInfo) {
	schedulePod := sched.SchedulePod
	sched.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, podInfo *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		if r.trial.Load() {
			return schedulePod(ctx, f, state, podInfo)
		}
		c := r.begin(r.profile(f.ProfileName()), state, podInfo, nodes())
		res, err := schedulePod(ctx, f, state, podInfo)
		c.endSearch()
		c.err = err
		c.selected = res.SuggestedHost
		c.counts.Feasible = res.FeasibleNodes
		if c.searched {
			c.counts.Wanted = upstream.NodesToFind(c.searchable(), c.profile.percentageOfNodesToScore)
		}
		if c.group != nil && err != nil {
			c.group.block(c.placement, err)
		}
		if c.hint != nil {
			c.hint.Used = c.hint.Node == res.SuggestedHost && c.scores == nil
		}
		return res, err
	}

	next := sched.NextEntity
	sched.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		clear(r.groups)
		return next(logger)
	}

	fail := sched.FailureHandler
	sched.FailureHandler = func(ctx context.Context, f framework.Framework, podInfo *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		r.failing.Add(1)
		defer r.failing.Add(-1)
		e := endingOf(status, nominating)
		if !r.end(podInfo.Pod.UID, e) {
			r.endWithout(f.ProfileName(), podInfo, nodes(), e)
		}
		fail(ctx, f, podInfo, status, nominating, start)
	}
}

// searchable returns how many nodes the search may visit. For a member of a pod group
// that is tried in a placement, those are the placement's nodes.
func (c *cycle) searchable() int {
	if c.group != nil {
		if n := c.group.nodesIn(c.placement); n > 0 {
			return n
		}
	}
	return len(c.nodes.names)
}

// endWithout records a cycle that ended before SchedulePod was called: because of an
// error, or because the pod's group had failed already.
func (r *Recorder) endWithout(profile string, podInfo *framework.QueuedPodInfo, nodes []fwk.NodeInfo, e ending) {
	pod := podInfo.Pod
	e.at = r.now()
	if !upstream.SameNodes(r.nodes.list, nodes) {
		r.nodes = newNodeTable(nodes)
	}
	c := &cycle{
		recorder: r,
		profile:  r.profile(profile),
		pod:      podOf(pod),
		start:    e.at,
		nodes:    r.nodes,
		verdicts: &verdicts{},
		queue:    queueOf(podInfo),
		group:    r.groupOf(pod),
	}
	r.mu.Lock()
	c.preEnqueue = append(c.preEnqueue, r.preEnqueue[pod.UID]...)
	c.queue.RequeuedBy = r.requeued[pod.UID]
	delete(r.requeued, pod.UID)
	r.mu.Unlock()
	r.send(c, e)
}
