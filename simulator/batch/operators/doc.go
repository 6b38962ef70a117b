// Package operators runs the controllers of kinds of work that batch systems bring along: JobSet, LeaderWorkerSet and AppWrapper.
// The controllers of the first two are those of their own modules; that of AppWrapper does not compile with our controller-runtime,
// so the package has one that does the same. What their webhooks do is here, as an admission plugin of the API server, because
// scheduling depends on a part of it only: defaults, the labels and affinities of pods, and what an AppWrapper may hold.
//
// A controller runs while the cluster has the definition of its kind. It may import the modules of the kinds,
// controller-runtime, simulator/cluster/definitions and Kubernetes' client libraries.
package operators
