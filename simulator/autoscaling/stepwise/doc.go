// Package stepwise is an autoscaler whose time is its caller's: what Karpenter's controllers do in real time, it does in steps, each
// at a moment that it names beforehand. It serves runs in virtual time, where an hour costs nothing and the same run comes to the
// same nodes.
//
// Each decision is that of package dryrun, and so of Karpenter's own provisioning and disruption code on a copy of the state. What is
// rebuilt here is the order and the patience around them, as in Karpenter 1.14.1:
//   - a batch of pods waits until none has come for a second, ten at most; pods that still wait are looked at again after ten seconds;
//   - an instance becomes a node after Settings.Registration, and is initialized once its startup taints are gone;
//   - disruption looks every ten seconds, and again 15 s later before it acts on empty or underutilized nodes;
//   - a node that pods are expected on is nominated for 20 s, in which it stays;
//   - replacements are initialized before the nodes that they replace are drained;
//   - a drain evicts pods as their PodDisruptionBudgets allow, asks again after ten seconds, and takes pods of DaemonSets and critical
//     pods last; terminationGracePeriod bounds it.
//
// The look for underutilized nodes is the dearest one. While it finds nothing in a cluster that changes all the time, it comes after 10, 20,
// 40, at most 160 s, and not while more than ten pods wait for nodes that were bought. It leaves out pods that no NodePool helps,
// and simulates 25 nodes at a time, each alone, after those that cannot go by what is free and what costs less. Karpenter
// looks every ten seconds, as its processor permits, and considers all.
//
// A look at what has not changed since the last one is left out, because it would come to the same. Launches do not fail, and no node is
// repaired.
//
// It may import simulator/autoscaling/dryrun, simulator/autoscaling/instances and simulator/autoscaling/provider.
package stepwise
