package scheduler

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/result"
)

// tieSeedKey is the key of the fact result.TieSeed.
const tieSeedKey = "tie broken by seed"

// seededTies makes the choice among the nodes that share the best total one of a
// seed, the pod's name and the nodes' names. Kubernetes leaves that choice to
// chance: to the order in which its workers finish, and to random numbers where
// an extender scored. Three more things would make a second run differ, and are
// settled here or by seededParallelism:
//
//   - In a cluster of 100 nodes or more the search may stop early, and which nodes
//     it has found by then depends on how its workers overlap. One worker goes
//     through the nodes in their order. So what is evaluated depends on what was
//     scheduled before, and on nothing else.
//   - Opportunistic batching takes up the scores of the pod before for half a
//     second. It is not used under a seed.
//
// What stays to chance: preemption starts at a random node where there are more
// candidates than it tries (by default more than 100 nodes and 10 %), and takes
// any of those that its criteria hold equal; so does the placement of a pod group.
//
// It belongs to the scheduling goroutine.
type seededTies struct {
	seed int64
	// pod is in its scheduling cycle, and rows is what its nodes scored. The
	// scheduler adds the extenders' scores to these same rows and then orders
	// them, so that they are complete when SchedulePod returns.
	pod  *v1.Pod
	rows []fwk.NodePluginScores
}

// seededParallelism is the number of workers under a seed.
const seededParallelism = 1

// seedTies attaches the seed to sched, before anything else decorates SchedulePod
// and after everything else has decorated the frameworks.
func seedTies(sched *upstream.Scheduler, seed int64) {
	t := &seededTies{seed: seed}
	for name, f := range sched.Profiles {
		sched.Profiles[name] = &seededFramework{Framework: f, ties: t}
	}
	schedulePod := sched.SchedulePod
	sched.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, podInfo *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {
		t.pod, t.rows = podInfo.Pod, nil
		res, err := schedulePod(ctx, f, state, podInfo)
		if err == nil && res.SuggestedHost != "" {
			res.SuggestedHost = t.choose(state, res.SuggestedHost)
		}
		t.pod, t.rows = nil, nil
		return res, err
	}
}

// choose returns the node that the seed prefers among those with the best total.
func (t *seededTies) choose(state fwk.CycleState, suggested string) string {
	tied := bestRows(t.rows)
	if len(tied) < 2 {
		return suggested
	}
	chosen := slices.MaxFunc(tied, func(a, b string) int { return t.compare(a, b) })
	pluginfact.Record(state, result.TieSeed, tieSeedKey, fmt.Sprintf("%s among %d nodes with the same total, by seed %d", chosen, len(tied), t.seed))
	return chosen
}

// compare orders nodes for the pod. Different nodes are never equal.
func (t *seededTies) compare(a, b string) int {
	ha, hb := t.hash(a), t.hash(b)
	switch {
	case ha < hb:
		return -1
	case ha > hb:
		return 1
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// hash draws a node's lot. The pod's UID is not in it: it differs in each run.
func (t *seededTies) hash(node string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(t.seed)))
	for _, s := range []string{t.pod.Namespace, t.pod.Name, node} {
		_, _ = h.Write([]byte(s))
		_, _ = h.Write([]byte{0})
	}
	return mix(h.Sum64())
}

// mix spreads the last bytes, in which names mostly differ, over all bits: the
// finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// bestRows returns the nodes with the best total.
func bestRows(rows []fwk.NodePluginScores) []string {
	var best []string
	var total int64
	for i := range rows {
		switch {
		case len(best) == 0 || rows[i].TotalScore > total:
			best, total = append(best[:0], rows[i].Name), rows[i].TotalScore
		case rows[i].TotalScore == total:
			best = append(best, rows[i].Name)
		}
	}
	return best
}

// seededFramework shows the scores to seededTies, and leaves out batching.
type seededFramework struct {
	framework.Framework
	ties *seededTies
}

var _ framework.Framework = (*seededFramework)(nil)

func (f *seededFramework) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	rows, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if t := f.ties; status.IsSuccess() && t.pod != nil && t.pod.UID == pod.UID {
		t.rows = rows
	}
	return rows, status
}

// GetNodeHint has none: whether there was one would depend on the clock.
func (f *seededFramework) GetNodeHint(context.Context, *v1.Pod, fwk.PodSignature, fwk.CycleState, int64) string {
	return ""
}

// StoreScheduleResults keeps nothing, as nobody asks for it.
func (f *seededFramework) StoreScheduleResults(context.Context, fwk.PodSignature, string, string, framework.SortedScoredNodes, int64) {
}
