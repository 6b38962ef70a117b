// Package operators runs the controllers of kinds of work that batch systems bring along: JobSet and LeaderWorkerSet. The
// controllers are those of their own modules. What their webhooks do is here, as an admission plugin of the API server, because
// scheduling depends on a part of it only: defaults, and the labels and affinities of pods.
//
// A controller runs while the cluster has the definition of its kind. It may import the modules of the kinds,
// controller-runtime, simulator/cluster/definitions and Kubernetes' client libraries.
package operators
