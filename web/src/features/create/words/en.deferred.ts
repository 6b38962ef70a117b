// The chooser of templates: topics, and for each template a sentence that says what to look for.

export const templates = {
  templates: {
    find: 'Find a template',
    none: 'No template matches “{text}”.',
    needsGate: 'Needs a simulator with --feature-gates {gate}.',
    needsPlugin: 'Needs the plugin {plugin}: apply its preset on the Scheduler page.',
    topic: {
      objects: 'Single objects',
      workloads: 'Workloads',
      nodes: 'Which nodes a pod accepts',
      neighbours: 'Which pods it runs beside',
      priority: 'Priority and preemption',
      waiting: 'Pods that wait',
      resources: 'Volumes and devices',
    },
    look: {
      pod: 'One pod with requests, to see every plugin at work.',
      node: 'An empty node with 8 CPUs.',
      taintedNode: 'A node that rejects every pod without a matching toleration.',
      namespace: 'A namespace for pods and claims.',
      priorityClass: 'A class whose pods are tried first and may evict others.',
      disruptionBudget: 'Keeps preemption and drains from removing too many pods.',
      customKind: 'A custom kind and one object of that kind.',
      deployment: 'Three replicas. Watch each one get its own decision.',
      statefulSet: 'Two pods with stable names, created one after the other.',
      daemonSet: 'One pod for each node, which node affinity pins to it.',
      job: 'Four pods, two at a time. Finished pods free their node.',
      toleration: 'Two pods and a tainted node: see TaintToleration reject the pod without the toleration.',
      nodeAffinity: 'Two nodes, one with an SSD: see NodeAffinity reject the other one.',
      failingZone:
        'One of three zones fails. It still counts as a zone with no pods, so PodTopologySpread keeps half of the pods pending.',
      podAffinity: 'A pod that must run beside a cache: see InterPodAffinity reject the node without the cache.',
      antiAffinity:
        'Three replicas that must not share a node, on two nodes: see InterPodAffinity reject both for the third.',
      spread:
        'Six replicas across three zones, one of them small: the last pod stays pending although two zones have room.',
      fullNode: 'An urgent pod meets a full node: see preemption evict the two pods of lower priority.',
      guarded: 'Two full nodes, and a PodDisruptionBudget on one: see preemption choose the other.',
      gates: 'A pod with a scheduling gate is not tried at all. Remove the gate from its decision page.',
      podGroup:
        'Three workers that only start together, and room for two: none of them is placed. Add a node, and all of them are.',
      coscheduling:
        'Two groups of three pods that only start together. One gets its places. ' +
        'For the other there is room for two of its pods: none of them is placed.',
      elasticQuota:
        'Two teams share 8 CPUs, and one borrows from the other. ' +
        'When the owner needs them, see CapacityScheduling evict the pod that borrowed.',
      numa: 'A node of 8 CPUs with two NUMA nodes: see NodeResourceTopologyMatch reject it for a pod of 5 CPUs, although 5 are free.',
      volume: 'A local volume in one zone: see VolumeBinding reject the node in the other.',
      claims:
        'Each pod gets a claim, and its volume is created where the pod is placed. Delete a pod: ' +
        'its volume keeps the replacement in the same zone.',
      device: 'Two pods ask for a GPU, and the node has one: see DynamicResources reject the node for the second.',
    },
  },
}
