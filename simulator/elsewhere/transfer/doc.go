// Package transfer exports a cluster as one file that kubectl can apply, and imports clusters from
// what the package manifest reads.
//
// It creates objects in the order of the ranks in simulator/cluster/objects, so that everything
// that an object needs is there before it. Pods go in before their owners: the real controllers
// then adopt the existing pods instead of creating others. It reports objects that the API server
// refuses, and goes on.
//
// The package works with an API server and knows nothing else of the simulator, which passes it the
// scheduler's configuration and a way to empty the cluster. It may import
// simulator/cluster/objects, simulator/elsewhere/transfer/manifest, simulator/host/datadir,
// Kubernetes' client libraries and API types.
package transfer
