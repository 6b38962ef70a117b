// Package replay records what happens in a cluster to a compact file, plays such
// a recording into a simulator, and compares the placements that the simulated
// scheduler makes with those in the recording.
//
// A recording holds every change of the objects that scheduling depends on, with
// its time (recording.go has the format). A Recorder writes one from any cluster.
// A Player plays one: what the cluster was like (nodes, volumes, classes, budgets,
// pods coming and going) happens as recorded, and what a scheduler decided does not:
// pods come without a node, and where they were bound in the recording is what
// their placement is compared with.
//
// The package decides nothing about scheduling, and knows the scheduler, its
// results and the reset of a simulator only by the small interfaces that it
// declares. It may import scheduler/result.
package replay
