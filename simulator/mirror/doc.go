// Package mirror brings another cluster into the simulated one: once, or
// continuously and one way.
//
// It only reads from the source. That is so by construction: every request passes
// one place (see readOnly), which lets through nothing but get, list and watch,
// and nothing that has to do with secrets. It asks at a limited rate, in pages, and
// watches instead of asking again.
//
// What comes is what scheduling depends on: nodes, pods, volumes, claims, classes,
// budgets, devices. Custom resources and service accounts do not come. In a
// continuous mirror the owners of pods do not come either: the source's controllers
// have made the pods already, and those here would make more. Pods therefore come
// without owners, and a budget that counts in percent comes with the number of pods
// that this means there.
//
// What somebody makes here stays, also if the source has something of the same
// name, and what the simulated cluster changes by itself is not fought over: only
// changes in the source are carried over, and of those only what differs.
//
// The package may import Kubernetes, and of the simulator simulator/redact and
// simulator/transfer, whose table says which kinds there are and in which order
// they go in.
package mirror
