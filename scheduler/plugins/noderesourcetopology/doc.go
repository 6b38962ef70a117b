// Package noderesourcetopology provides the scheduler plugin NodeResourceTopologyMatch. It
// keeps pods off the nodes on which the kubelet's topology manager could not align them:
// with the policy single-numa-node, each container, or the whole pod, must get all its
// resources from one NUMA node.
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
// The plugin behaves like the one of the same name in kubernetes-sigs/scheduler-plugins,
// whose objects and configurations it takes; the code is our own.
//
// It reads a NodeResourceTopology for each node, which an agent on the node writes: the
// node's zones with what each has available. A node without one passes Filter and scores 0.
//
// # What it reads when
//
// Without a cache, every cycle reads the latest objects, as the plugin's watch has them;
// the plugin that this one is compatible with reads them from the API server. Until the
// agent has seen a new pod, its resources seem free. Two caches are stricter:
// discardReservedNodes leaves a node out while a pod is on its way there, and
// cacheResyncPeriodSeconds subtracts the pods on their way from every zone until the agent
// reports the same pods that the scheduler knows. That comparison happens at most once in a
// period, at the start of a cycle.
//
// The package may import the scheduling framework, client-go, scheduler/customresource,
// scheduler/plugins/argument and scheduler/plugins/follow.
package noderesourcetopology
