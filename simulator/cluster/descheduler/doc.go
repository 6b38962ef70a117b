// Package descheduler runs one cycle of the descheduler of sigs.k8s.io/descheduler on a state that is not a cluster: its own policy, plugins,
// evictor and limits decide, and what they evict is up to the caller. After each eviction the plugins see the state that it has led to, with
// replacements that have a node. The descheduler's own dry run shows them none.
//
// Three things are ours. The clients and informers only read, and have the state of the moment. Policies are checked more strictly: a field
// that the descheduler would overlook is a mistake. And what plugins leave to the order of Go's maps, which is random, is put in an order, so that
// the same question has the same answer; see order.go.
//
// No other package imports the descheduler. It may import scheduler/yamlsource.
package descheduler
