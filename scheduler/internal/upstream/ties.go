package upstream

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// TieBreaker returns one of tied, the two or more nodes with the best total for pod, in the order
// of the scores. It runs on the scheduling goroutine, at the end of SchedulePod.
type TieBreaker func(state fwk.CycleState, pod *v1.Pod, tied []string) string

// ties makes a TieBreaker choose among the nodes that share the best total. In Kubernetes that
// choice depends on the order in which workers finish and, if an extender scored, on random
// numbers. It belongs to the scheduling goroutine.
type ties struct {
	choose TieBreaker
	// rows hold the scores of pod's nodes in its cycle. The scheduler adds the extenders' scores to
	// them and then sorts them, so they are complete when SchedulePod returns.
	pod  *v1.Pod
	rows []fwk.NodePluginScores
}

func breakTies(sched *scheduler.Scheduler, choose TieBreaker) {
	t := &ties{choose: choose}
	for name, f := range sched.Profiles {
		sched.Profiles[name] = &tieFramework{Framework: f, ties: t}
	}
	schedulePod := sched.SchedulePod
	sched.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, podInfo *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		t.pod, t.rows = podInfo.Pod, nil
		res, err := schedulePod(ctx, f, state, podInfo)
		if tied := Best(t.rows); err == nil && res.SuggestedHost != "" && len(tied) > 1 {
			res.SuggestedHost = t.choose(state, t.pod, tied)
		}
		t.pod, t.rows = nil, nil
		return res, err
	}
}

// Best returns the nodes with the best total, in the order of the rows.
func Best(rows []fwk.NodePluginScores) []string {
	var names []string
	var total int64
	for i := range rows {
		switch {
		case len(names) == 0 || rows[i].TotalScore > total:
			names, total = append(names[:0], rows[i].Name), rows[i].TotalScore
		case rows[i].TotalScore == total:
			names = append(names, rows[i].Name)
		}
	}
	return names
}

// tieFramework passes the scores to ties, and disables opportunistic batching,
// which reuses the scores of the previous pod for half a second.
type tieFramework struct {
	framework.Framework
	ties *ties
}

var _ framework.Framework = (*tieFramework)(nil)

func (f *tieFramework) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	rows, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if t := f.ties; status.IsSuccess() && t.pod != nil && t.pod.UID == pod.UID {
		t.rows = rows
	}
	return rows, status
}

// GetNodeHint returns no hint, because whether there is one depends on the clock.
func (f *tieFramework) GetNodeHint(context.Context, *v1.Pod, fwk.PodSignature, fwk.CycleState, int64) string {
	return ""
}

// StoreScheduleResults keeps nothing: GetNodeHint returns no hint.
func (f *tieFramework) StoreScheduleResults(context.Context, fwk.PodSignature, string, string, framework.SortedScoredNodes, int64) {
}
