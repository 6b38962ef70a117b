package scheduler

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/result"
)

// tieSeedKey is the key of the fact result.TieSeed.
const tieSeedKey = "tie broken by seed"

// seededTies breaks ties by a seed, the pod's name and the nodes' names, where
// Kubernetes leaves the choice to chance. A second run would also differ for these
// reasons, which package upstream and seededParallelism settle:
//
//   - In a cluster of 100 nodes or more the search may stop early, and which nodes
//     it has found by then depends on how its workers overlap. One worker goes
//     through the nodes in their order, so that the nodes that are evaluated depend
//     only on what was scheduled before.
//   - Opportunistic batching reuses the scores of the previous pod for half a
//     second. It is off under a seed.
//
// Two things stay to chance. Preemption starts at a random node when there are more
// candidates than it tries (by default more than 100 nodes and 10 %), and takes any
// of those that its criteria hold equal. So does the placement of a pod group.
type seededTies int64

// seededParallelism is the number of workers under a seed.
const seededParallelism = 1

// choose returns the node that the seed prefers. It is an upstream.TieBreaker.
func (seed seededTies) choose(state fwk.CycleState, pod *v1.Pod, tied []string) string {
	chosen := slices.MaxFunc(tied, func(a, b string) int { return seed.compare(pod, a, b) })
	pluginfact.Record(state, result.TieSeed, tieSeedKey, fmt.Sprintf("%s among %d nodes with the same total, by seed %d", chosen, len(tied), seed))
	return chosen
}

// compare orders nodes for the pod. Different nodes are never equal.
func (seed seededTies) compare(pod *v1.Pod, a, b string) int {
	return cmp.Or(cmp.Compare(seed.hash(pod, a), seed.hash(pod, b)), cmp.Compare(a, b))
}

// hash leaves the pod's UID out: it differs in each run.
func (seed seededTies) hash(pod *v1.Pod, node string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(seed)))
	for _, s := range []string{pod.Namespace, pod.Name, node} {
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
