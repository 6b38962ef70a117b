// Package decide makes the decisions of one version of Kubernetes' scheduler: that of the go.mod with which it is compiled. With the
// program's own go.mod, this is the product's version. The files beside package versions stand in for other versions; each needs the build
// tag of its version, such as kubernetes135.
//
// All versions share one source. What differs between them is in small files, each named after the versions that it is compiled for: v136.go, or
// since135.go and until136.go. Of the product's own packages, only those are of use here that compile with every version.
//
// Serve builds Kubernetes' scheduler with scheduler.New and never runs it. For each decision it calls SchedulePod, with a decorator around
// the framework that records what the framework's methods return, and then RunPostFilterPlugins as Kubernetes does. Four things
// differ from a live scheduler: it evaluates all nodes, whatever percentageOfNodesToScore says; it asks no extender; it uses no result of the
// pod before (opportunistic batching); and preemption evicts no pod.
package decide
