// Package replay records the changes in a cluster to a compact file, plays such a recording into
// a simulator, and compares the simulated scheduler's placements with the recorded ones.
//
// A recording holds every change of the objects that scheduling depends on, with its time
// (recording.go describes the format). Record writes one from any cluster. A Player plays one.
// It reproduces the state of the cluster: nodes, volumes, classes, budgets, and pods that are
// created and deleted. It does not reproduce the scheduler's decisions: it creates pods without
// a node, and compares their placement with the recorded node.
//
// The package makes no scheduling decisions. It knows the results and the reset of a simulator
// only by the small interfaces that it declares. Package session keeps a recording loaded in a
// simulator, and package capture is the record command. It may import scheduler, for its type
// Change, scheduler/result, scheduler/blockfile and simulator/cluster/objects.
package replay
