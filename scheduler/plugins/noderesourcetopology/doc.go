// Package noderesourcetopology provides the scheduler plugin NodeResourceTopologyMatch. It keeps
// pods off the nodes on which the kubelet's topology manager could not align them: with the policy
// single-numa-node, each container, or the whole pod, must get all its resources from one NUMA
// node.
//
//	profiles:
//	- schedulerName: default-scheduler
//	  plugins:
//	    multiPoint:
//	      enabled: [{name: NodeResourceTopologyMatch}]
//	  pluginConfig:
//	  - name: NodeResourceTopologyMatch
//	    args: {scoringStrategy: {type: LeastAllocated}}
//
// The plugin behaves like the one of the same name in kubernetes-sigs/scheduler-plugins, whose
// objects and configurations it takes; the code is our own.
//
// It reads a NodeResourceTopology for each node, which an agent on the node writes: the node's
// zones with what each has available. A node without one passes Filter and scores 0.
//
// # What it reads when
//
// Without a cache, every cycle reads the latest objects, as the plugin's watch has them; the plugin
// that this one is compatible with reads them from the API server. Until the agent has seen a new
// pod, its resources seem free. Two caches are stricter: discardReservedNodes leaves a node out
// while a pod is on its way there, and cacheResyncPeriodSeconds subtracts the pods on their way
// from every zone until the agent reports the same pods that the scheduler knows. That comparison
// happens at most once in a period, at the start of a cycle.
//
// # Known differences
//
// The module scheduler/plugins/judge compares the plugin with the original in random scenarios.
// These differences are deliberate; the cases of scheduler/plugins/directed hold an example of
// each:
//
//   - A change of the topology manager's policy, scope or most zones that is taken back before the
//     next comparison. The original forgets the pods on their way all the same; this plugin
//     compares what counts with what is, so it does not.
//   - The original compares at every end of a period, this plugin at the start of the next cycle.
//     It can tell only if pods or reports come in between.
//   - LeastNUMANodes for a pod that needs more zones than topologyManagerMaxNUMANodes. The
//     original's score is negative, which ends the pod's cycle with an error; this plugin's is 0.
//   - Malformed topologies. Where the zones' numbers are not 0 to n-1 the original panics, and
//     where they are in another order LeastNUMANodes takes resources from the wrong zone; this
//     plugin goes by the numbers. Of zones with one name the original merges what they have and may
//     end the cycle with an error; this plugin reads the first. The original reads node-+0 as
//     node-0; this plugin ignores the zone.
//   - Parts of a byte, or of a device, which do not exist. The original compares them exactly; this
//     plugin rounds them up.
//
// The package may import the scheduling framework, client-go, scheduler/customresource,
// scheduler/plugins/argument and scheduler/plugins/follow.
package noderesourcetopology
