// Package drain answers what a drain of nodes would do, before it is done: which evictions a PodDisruptionBudget delays and until when,
// where each replacement lands, which pods stay pending and why, and which nodes never become empty. Nothing is evicted.
//
// It plays the drain in virtual time on a copy of the state, through disruption. Which pods are evicted, and when a drain refuses a node, are
// kubectl's own rules, of its package drain. What a budget allows follows the API server's eviction and the disruption controller. Where pods
// land is decided by kube-scheduler, through the what-if engine.
//
// How long pods take to stop and to become ready are assumptions, which the answer names. Controllers do not run: a controller that owns a
// pod creates another one like it, at once, or as a StatefulSet does when the first one has gone.
//
// It may import scheduler/whatif, simulator/cluster/eviction, simulator/cluster/objects, simulator/questions/disruption,
// simulator/questions/hypothesis and simulator/questions/why.
package drain
