// Package schedulertest runs a kube-scheduler against an API server in memory and
// records everything that it does in a transcript. A person can review the
// transcript, and tests compare the transcripts of two runs of the same operations.
//
// A run takes place in a bubble of testing/synctest. The bubble has its own clock,
// so backoffs take no real time. Actions that could affect each other never happen
// at the same instant: requests and watch events have different latencies, and the
// scheduler takes the next pod only after a pause. Among nodes with the best score,
// the node's name breaks the tie instead of a random choice. Two runs of the same scheduler are
// therefore the same, line by line.
//
// Only tests import the package. It may import Kubernetes' scheduler and
// scheduler/pluginfact; it does not know how a scheduler is built.
package schedulertest
