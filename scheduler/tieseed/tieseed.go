// Package tieseed makes a choice among equal nodes a function of a seed, where Kubernetes chooses at random. The same seed, pod and nodes
// give the same choice in every run and in every engine.
//
// It may import the scheduling framework, scheduler/pluginfact and scheduler/result.
package tieseed

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

// Seed breaks ties by a seed, the pod's name and the nodes' names, where
// Kubernetes chooses at random. There are further causes of differences between two
// runs, which package upstream and Parallelism remove:
//
//   - In a cluster of 100 nodes or more the search may stop early, and which nodes
//     it has found by then depends on how its workers overlap. With one worker,
//     which visits the nodes in their order, the evaluated nodes depend only on
//     earlier decisions.
//   - Opportunistic batching reuses the scores of the previous pod for half a
//     second. It is off under a seed.
//
// Two choices stay random. If there are more candidates than preemption tries (by
// default more than 100 nodes and 10 %), it starts at a random node, and it takes
// any of the candidates that are equal by its criteria. The scheduler also takes
// any of the equal placements of a pod group.
type Seed int64

// Parallelism is the number of workers under a seed.
const Parallelism = 1

// Choose returns the node that the seed prefers. It implements upstream.TieBreaker.
func (seed Seed) Choose(state fwk.CycleState, pod *v1.Pod, tied []string) string {
	chosen := slices.MaxFunc(tied, func(a, b string) int { return seed.Compare(pod, a, b) })
	pluginfact.Record(state, result.TieSeed, tieSeedKey, fmt.Sprintf("%s among %d nodes with the same total, by seed %d", chosen, len(tied), seed))
	return chosen
}

// Compare orders nodes for the pod. Different nodes are never equal.
func (seed Seed) Compare(pod *v1.Pod, a, b string) int {
	return cmp.Or(cmp.Compare(seed.hash(pod, a), seed.hash(pod, b)), cmp.Compare(a, b))
}

// hash leaves out the pod's UID, which differs in each run.
func (seed Seed) hash(pod *v1.Pod, node string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(seed)))
	for _, s := range []string{pod.Namespace, pod.Name, node} {
		_, _ = h.Write([]byte(s))
		_, _ = h.Write([]byte{0})
	}
	return mix(h.Sum64())
}

// mix spreads the last bytes, in which most names differ, over all bits. It is the
// finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
