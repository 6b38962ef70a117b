// Package claims holds the experiments that could refute what the product says. Every kind of statement about a decision states a
// claim: "0.2 CPU short" claims that with 0.2 less the same plugin lets the node through, and with a hair more it does not. The tests
// make random clusters, collect every statement about every pod, and perform the experiment of its kind on a copy of the cluster with
// the real scheduler. An experiment follows from the sentence that people read, not from the code that made it.
//
// What only a scheduler says that runs comes from scenes: a live scheduler runs through random events in a bubble of testing/synctest, in which
// waiting takes no time, and an experiment plays the scene again with one thing changed. What is said of extenders is tried with extenders that
// answer over HTTP.
//
// A kind of statement without an experiment fails a test by name. The kinds come from the code: the lists of scheduler/explain, and the
// fields of the types in scheduler/result, scheduler/whatif/fit and scheduler/whatif/capacity. To add a kind, add its experiment to the
// table of its family in the same commit.
//
// Each failure names the seed of its cluster or scene: `go test ./scheduler/claims -seed N -clusters 1 -scenes 1` repeats it.
//
// The package is tests only. They may import all of scheduler/.
package claims
