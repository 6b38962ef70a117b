// Package flow places pods as Poseidon and Firmament do: all pending pods at once, by a flow of minimum cost through a network
// of tasks, classes of alike tasks, slots of machines, and machines.
//
// A Problem is the network's input as plain numbers, and Solve is a solver of our own for it. Round makes the problem of a cluster on
// a copy that package whatif keeps: kube-scheduler's own predicates say which arcs exist. Gap compares a placement
// that another scheduler made with the optimum of the same costs. The costs are a model: an optimum of them is not the best
// placement in any other sense.
//
// The package writes nothing. It may import Kubernetes' scheduler, and scheduler/config, scheduler/result and
// scheduler/whatif.
package flow
