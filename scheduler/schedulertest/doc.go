// Package schedulertest runs a kube-scheduler against an API server in memory
// and writes down everything that it does: a transcript that a person can
// review, and that two runs of the same operations can be compared by.
//
// A run takes place in a bubble of testing/synctest. Time is the bubble's, so
// that backoffs take none, and nothing happens at the same instant as something
// else that it could meet: requests and watch events have latencies of their
// own, and the scheduler takes the next pod only after a pause. The scheduler's
// random choice among nodes with the best score is decided by the nodes' names
// instead. Two runs of the same scheduler are therefore
// the same, line by line.
//
// The package is imported by tests only. It may import the Kubernetes scheduler
// and scheduler/result; it does not know how a scheduler is built.
package schedulertest
