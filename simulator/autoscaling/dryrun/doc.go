// Package dryrun asks Karpenter's own provisioning what it would do for pods, on a copy of a cluster's state: would a node that exists
// hold the pod, would a new one, which and at what price, and why not each NodePool. Nothing is created, and nothing waits: Karpenter's
// batching, its throttled events and its retries have no part in it.
//
// The verdict comes from Karpenter's Solve. The explanation does not exist in Karpenter, whose errors join all NodePools in one
// sentence and never name an instance type; it is rebuilt from the exported parts that Solve is made of, and a test holds it to the
// verdict. Where the explanation finds nothing and Solve still refuses, the answer says what Solve says.
//
// The other direction is CouldGo: whether Karpenter's consolidation could do without a node, what keeps it from asking, and what would
// be if that were not so. A test makes it so, and finds what was foretold.
//
// What Karpenter leaves to chance is settled here, so that the same question has the same answer: among the domains of a spread that
// are used least the first by name, and among equal prices the first by name (see settle).
//
// Karpenter's model of a node is not the scheduler's: it knows requests, taints, affinity, spread, host ports and volumes, but no
// other plugin, no weights, no preemption and no extender.
//
// It may import simulator/autoscaling/instances and simulator/autoscaling/provider, and of Karpenter what provisions and consolidates; never its
// package operator, which takes over the process, nor the fake client of controller-runtime, whose indexed lists take seconds.
package dryrun
