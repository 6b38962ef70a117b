// Package forward runs the queues of Kueue forward in virtual time: cycles until nothing more can be admitted, then
// the next event, which is an arrival, the end of a workload that runs, the end of one that was evicted, or the end of
// a backoff. A run takes as long as its cycles do, whatever time passes in it.
//
// It reads no clock and draws no random numbers: the caller says how long workloads run. The same options give the
// same run. It may import simulator/batch/kueue/admission, Kueue's API package, apimachinery and Kubernetes' API types.
package forward
