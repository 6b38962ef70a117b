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

// Attach makes sched report the start and the end of every cycle. Call it before sched runs. nodes
// lists the nodes of sched's snapshot; Attach calls it on the scheduling goroutine, while the
// snapshot does not change.
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
		c.tookFirst(res.SuggestedHost)
		if r.hypothetical && c.nomination != nil && c.nomination.Used {
			c.counts.Feasible = c.passing()
		}
		c.counts.Wanted = c.wanted()
		if !c.brief {
			c.noteScoreFacts()
			c.notePasses()
		}
		if c.group != nil && err != nil {
			c.group.block(c.placement, err)
		}
		return res, err
	}

	next := sched.NextEntity
	sched.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		clear(r.groups)
		entity, err := next(logger)
		r.groupBackoff = time.Time{}
		if group, ok := entity.(*framework.QueuedPodGroupInfo); ok {
			r.groupBackoff = group.BackoffExpiration
		}
		return entity, err
	}

	fail := sched.FailureHandler
	sched.FailureHandler = func(ctx context.Context, f framework.Framework, podInfo *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		if r.hypothetical {
			fail(ctx, f, podInfo, status, nominating, start)
			return
		}
		r.failing.Add(1)
		defer r.failing.Add(-1)
		e := endingOf(status, nominating)
		if !r.end(podInfo.Pod.UID, e) {
			r.endWithout(f.ProfileName(), podInfo, nodes(), e)
		}
		fail(ctx, f, podInfo, status, nominating, start)
	}
}

// tookFirst notes whether the scheduler took the nominated or the hinted node, which it
// tries before all others. If that node does not fit, it visits nodes again, perhaps the
// same one.
func (c *cycle) tookFirst(node string) {
	took := node != "" && c.visits.Load() <= 1 && !c.offered.again
	if c.nomination != nil {
		c.nomination.Used = took && c.nomination.Node == node
	}
	if c.hint != nil { // of a pod without a nominated node
		c.hint.Used = took && c.hint.Node == node
	}
}

func (c *cycle) wanted() int {
	switch {
	case !c.searched:
		return 0
	case c.recorder.hypothetical:
		return upstream.NodesToFind(c.searchable, c.profile.percentageOfNodesToScore)
	case c.nomination != nil && c.nomination.Used, c.hint != nil && c.hint.Used, c.profile.stopsAtOne:
		return min(c.searchable, 1)
	}
	return upstream.NodesToFind(c.searchable, c.profile.percentageOfNodesToScore)
}

// inPlacement returns how many nodes the search may visit: those that PreFilter left and, for a
// member of a pod group, that are in its current placement.
func (c *cycle) inPlacement(left *fwk.PreFilterResult) int {
	var placement []fwk.NodeInfo
	if c.group != nil {
		placement = c.group.nodesOf(c.placement)
	}
	switch {
	case placement == nil && left.AllNodes():
		return len(c.nodes.names)
	case placement == nil:
		known := 0
		for name := range left.NodeNames {
			if _, ok := c.nodes.index[name]; ok {
				known++
			}
		}
		return known
	case left.AllNodes():
		return len(placement)
	}
	known := 0
	for _, node := range placement {
		if left.NodeNames.Has(node.Node().Name) {
			known++
		}
	}
	return known
}

// endWithout records a cycle that ended before SchedulePod, because of an error or because the
// pod's group had failed already.
func (r *Recorder) endWithout(profile string, podInfo *framework.QueuedPodInfo, nodes []fwk.NodeInfo, e ending) {
	e.at = r.now()
	r.send(r.without(profile, podInfo, nodes, e.at), e)
}

// without returns the record of a cycle in which SchedulePod is not called.
func (r *Recorder) without(profile string, podInfo *framework.QueuedPodInfo, nodes []fwk.NodeInfo, start time.Time) *cycle {
	pod := podInfo.Pod
	if !upstream.SameNodes(r.nodes.list, nodes) {
		r.nodes = newNodeTable(nodes, &r.names)
	}
	c := &cycle{
		recorder: r,
		profile:  r.profile(profile),
		pod:      podOf(pod),
		start:    start,
		nodes:    r.nodes,
		verdicts: &verdicts{},
		queue:    r.queueOf(podInfo),
		group:    r.groupOf(pod),
	}
	r.mu.Lock()
	c.answers.PreEnqueue = append(c.answers.PreEnqueue, r.preEnqueue[pod.UID]...)
	c.queue.RequeuedBy = r.requeued[pod.UID]
	delete(r.requeued, pod.UID)
	r.mu.Unlock()
	return c
}
