// Package disruption plays evictions in virtual time on a copy of the state: what PodDisruptionBudgets allow, when an evicted pod has gone, what
// its controller creates in its place, and where kube-scheduler places that. Questions about evictions say which pods go, and when.
//
// It decides nothing about which pods go, and reads the cluster only once, before it begins. How long pods take to stop and to become ready are
// assumptions of who asks. Controllers do not run: a controller that owns a pod creates another one like it, at once, or as a StatefulSet does
// when the first one has gone.
//
// It may import scheduler/whatif, scheduler/result, simulator/cluster/eviction, simulator/cluster/objects and simulator/questions/why.
package disruption
