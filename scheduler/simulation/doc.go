// Package simulation runs whole workloads through Kubernetes' own scheduler, on a cluster in memory
// and in virtual time. The scheduler is the one that package scheduler runs: upstream's New, queue,
// cache, plugins, preemption and binding, recorded. There is no API server, no etcd and no HTTP.
//
// The cluster is a memory.World. Its informers call the scheduler's event handlers on the goroutine
// that changes an object. A client in memory takes what the scheduler writes and feeds it back as
// events. This package's controllers and virtual nodes do what scheduling can see of the real ones:
// they create, run, finish, evict and replace pods, and give claims their volumes.
//
// A Simulation is deterministic. The same calls with the same seed give the same decisions and the
// same records, byte for byte, on any machine, with any number of simulations beside it. Time
// passes only in Advance and Settle, and costs nothing.
//
// # How a run stays in step
//
// Everything happens on the goroutine of the caller, except binding cycles: Kubernetes starts a
// goroutine for each. It runs only when it has the turn, which the simulation gives to one after
// the other in starting order; see turns. The queue, permits and the binding of volumes wait by the
// virtual clock. Only metrics read Kubernetes' own clock.
//
// Options.Beside lets further schedulers decide on the same cluster, in turns of virtual time.
//
// # What does not run in memory
//
// An *UnsupportedError names it: kinds without an effect here (such as HorizontalPodAutoscaler and
// ResourceQuota), extenders, binding conditions of devices, the feature gates
// SchedulerAsyncAPICalls and CompositePodGroup. Plugins that read custom resources through a client
// of their own find none, and the objects are refused. Options.Devices and Options.Admit do what
// packages around a real control plane do.
//
// It knows nothing of scenario files, which package simulator/scenarios/scenario reads. It may
// import Kubernetes' scheduler, and the packages of scheduler/ that record; it may not import
// package scheduler itself.
package simulation
