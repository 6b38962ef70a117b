// Package judge compares the plugins Coscheduling, CapacityScheduling and NodeResourceTopologyMatch
// of this repository with the originals of kubernetes-sigs/scheduler-plugins, in random scenarios.
// It is a module of its own, because no program of ours contains the originals: `make
// judge-plugins` runs it.
//
// The originals come from the module proxy. The program adapt makes a copy that compiles with this
// repository's version of Kubernetes, and the package compiles with that copy alone.
package judge
