// Package submit answers what would become of jobs before they are submitted: whether a queue of Kueue would admit each now,
// why not, and when it would start; and whether its pods would find nodes. The command line, HTTP, kubectl and agents only
// print the answer. It is a feasibility check, and reserves nothing.
//
// The two halves are asked apart. Quota is judged by the engine of the simulator's own queues, on a copy of what it knows,
// and nodes by the scheduler, through package why. Starts come from running the queues forward in virtual time, with the
// durations of workloads that have finished.
//
// It may import Kueue's engine below simulator/batch/kueue, simulator/questions/why, simulator/questions/hypothesis and the
// packages that read files.
package submit
