// Package simulation runs whole workloads through Kubernetes' own scheduler, on a cluster in memory and in virtual
// time. The scheduler is the one that package scheduler runs: upstream's New, queue, cache, plugins, preemption and
// binding, recorded. There is no API server, no etcd and no HTTP.
//
// The cluster is a memory.World. Its informers call the scheduler's event handlers on the goroutine that changes
// an object. A client in memory takes what the scheduler writes and feeds it back as events. Controllers and virtual nodes of
// this package do what scheduling can see of the real ones: pods are created, run, finish, and are evicted and replaced;
// claims get volumes.
//
// A Simulation is deterministic. The same calls with the same seed give the same decisions and the same records, byte
// for byte, on any machine, with any number of simulations beside it. Time passes only in Advance and Settle, and costs nothing.
//
// # How a run stays in step
//
// Everything happens on the goroutine of the caller, except binding cycles: Kubernetes starts a goroutine for each. It runs only when
// it has the turn, which the simulation gives to one after the other in the order of their starts; see turns. The queue, permits and the binding of
// volumes wait by the virtual clock. Kubernetes' own clock is read for metrics only.
//
// Options.Beside lets further schedulers decide on the same cluster, in turns that the virtual time gives them.
//
// # What does not run in memory
//
// An *UnsupportedError names it: kinds without an effect here (such as HorizontalPodAutoscaler and ResourceQuota), extenders, binding
// conditions of devices, the feature gates SchedulerAsyncAPICalls and CompositePodGroup. Plugins that read custom resources through a client of their own
// find none, and the objects are refused. Options.Devices and Options.Admit bring what the packages around a real control plane do.
//
// It knows nothing of scenario files, which package simulator/scenarios/scenario reads. It may import Kubernetes' scheduler, and
// the packages of scheduler/ that record; it may not import package scheduler itself.
package simulation
