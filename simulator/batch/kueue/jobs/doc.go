// Package jobs has the rules by which Kueue's integrations turn jobs, pods and groups of pods into
// workloads, start what was admitted and stop what was evicted. Its functions change the objects that they
// are given, or return new ones, and write nothing.
//
// It may import Kueue's module, those of the kinds of jobs, and Kubernetes' API types and their helpers only.
package jobs
