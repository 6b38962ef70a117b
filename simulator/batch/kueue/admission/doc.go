// Package admission decides whether workloads may start, the way Kueue does: it follows queues,
// quota and workloads as objects, and each cycle tries the head of every ClusterQueue. It keeps
// everything that it looked at, so that each decision explains itself.
//
// It is a library without a control plane. It reads no clock, draws no random numbers, starts no
// goroutine and writes nothing: a caller feeds it objects and writes the decisions that it
// returns. The same calls give the same results. It may import Kueue's API package, apimachinery
// and Kubernetes' API types and their helpers only.
//
// The objects are those of Kueue's module; the rules are those of a later Kueue (see Follows). Every
// comment that says "Kueue" states its behaviour, not ours.
package admission

// Follows is the last release before the state of Kueue's main branch that the simulator follows.
const Follows = "v0.19.2"
