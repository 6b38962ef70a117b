// Package transfer exports a cluster as one file that kubectl can apply, and imports
// clusters from what the package manifest reads.
//
// Objects are created in the order of the ranks in simulator/cluster/objects, so that
// everything that an object needs is there before it. Pods go in before their
// owners: the real controllers then adopt the existing pods instead of creating
// others. Objects that the API server refuses are reported and stop nothing else.
//
// The package works with an API server and knows nothing else of the simulator: the
// scheduler's configuration, and emptying the cluster, are handed to it. It may
// import simulator/cluster/objects, simulator/elsewhere/transfer/manifest, Kubernetes' client
// libraries and API types.
package transfer
