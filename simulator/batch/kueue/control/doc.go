// Package control runs Kueue's controllers in a cluster: it makes workloads of jobs, pods and groups of
// pods, lets the engine of package admission decide, writes what it decided, starts what was admitted and
// stops what was evicted. It tells each cycle to a ledger.
//
// All that it knows it reads from the API server, and all that it decides it writes there, so a restart
// goes on with the admissions that are in the cluster. It decides nothing itself. It acts while the
// cluster has the definitions of Kueue's kinds.
//
// It may import the other packages of simulator/batch/kueue, simulator/cluster/objects, scheduler/customresource and
// Kubernetes' client libraries.
package control
