package recorder

import (
	"context"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// Attach makes sched report the begin and the end of every cycle. It must be
// called before sched runs. nodes lists the nodes of sched's snapshot; it is
// called on the scheduling goroutine, when the snapshot does not change.
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
			c.counts.Wanted = c.profile.wanted(len(c.nodes.names))
		}
		if c.hint != nil {
			c.hint.Used = c.hint.Node == res.SuggestedHost && c.scores == nil
		}
		return res, err
	}

	fail := sched.FailureHandler
	sched.FailureHandler = func(ctx context.Context, f framework.Framework, podInfo *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		r.failing.Add(1)
		defer r.failing.Add(-1)
		e := endingOf(status, nominating)
		if !r.end(podInfo.Pod.UID, e) {
			r.endWithout(f.ProfileName(), podInfo, e)
		}
		fail(ctx, f, podInfo, status, nominating, start)
	}
}

// endWithout records a cycle that failed before SchedulePod was called.
func (r *Recorder) endWithout(profile string, podInfo *framework.QueuedPodInfo, e ending) {
	pod := podInfo.Pod
	e.at = r.now()
	r.send(&cycle{
		recorder: r,
		profile:  r.profile(profile),
		pod:      result.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		start:    e.at,
		nodes:    &nodeTable{},
		verdicts: &verdicts{},
	}, e)
}
