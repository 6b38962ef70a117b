// Package transfer takes a cluster out of the API server as one file that kubectl
// can apply, and puts clusters in: from such a file, from what kubectl get
// prints, from manifests, directories and archives of them, and from the JSON of
// the earlier kube-scheduler-simulator.
//
// Objects go in by the ranks of one table, so that what they need is there before
// them. Pods go in before their owners: the real controllers then adopt the pods
// that there are instead of making others. What an API server refuses is reported
// and stops nothing else.
//
// The package knows an API server and nothing else of the simulator: the
// scheduler's configuration, and emptying the cluster, are handed to it. It may
// import Kubernetes' client libraries and API types.
package transfer
