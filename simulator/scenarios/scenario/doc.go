// Package scenario reads scenario files and runs them. A Scenario is a workload written down:
// objects that are created, pods that arrive over time, nodes that fail, and what is expected to
// hold. A run plays it under one configuration, one set of feature gates and one seed, and gives a
// Result.
//
// Load reads a file strictly. Everything that can be checked without a run is checked there:
// fields, expressions and their types, the files that it names, traces, counts. A mistake has its
// file and its line.
//
// The package does not schedule. It acts on a Cluster, which a caller provides: one in memory, or a
// real control plane. It may import the scheduler's results and their explanations,
// scheduler/config, scheduler/yamlsource, simulator/cluster/eviction and objects, simulator/autoscaling/instances
// and stepwise, and simulator/scenarios/decoder and openb. It knows neither the command line nor HTTP.
package scenario
