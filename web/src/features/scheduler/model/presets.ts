// Configurations to start from. Each is a complete document whose comments say what it
// does. It sets only fields that differ from the default.

export const presetNames = [
  'default',
  'binPacking',
  'spreading',
  'noPreemption',
  'twoProfiles',
  'everyNode',
  'celScore',
  'coscheduling',
  'elasticQuota',
  'numa',
] as const
export type PresetName = (typeof presetNames)[number]

/** The presets with a plugin that not every server has. */
export const presetsToCheck = [
  'celScore',
  'coscheduling',
  'elasticQuota',
  'numa',
] as const satisfies readonly PresetName[]

export const examples: Partial<Record<PresetName, 'coscheduling' | 'elasticQuota' | 'numa'>> = {
  coscheduling: 'coscheduling',
  elasticQuota: 'elasticQuota',
  numa: 'numa',
}

const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'

export const presets: Record<PresetName, string> = {
  default: `# What kube-scheduler runs by default.
${head}`,

  binPacking: `# Fills nodes before it uses empty ones: fuller nodes score higher.
${head}profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: NodeResourcesFit
        weight: 5
    score:
      # Both prefer emptier or evenly used nodes.
      disabled:
      - name: NodeResourcesBalancedAllocation
      - name: PodTopologySpread
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - name: cpu
          weight: 1
        - name: memory
          weight: 1
`,

  spreading: `# Spreads the pods of a workload across zones first, then across nodes. Applies to pods
# of a Service, ReplicaSet or StatefulSet without topologySpreadConstraints.
${head}profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: PodTopologySpread
        weight: 10
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
      - maxSkew: 2
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
`,

  noPreemption: `# A pod that fits no node waits: the scheduler does not preempt pods to make room.
${head}profiles:
- schedulerName: default-scheduler
  plugins:
    postFilter:
      disabled:
      - name: DefaultPreemption
`,

  twoProfiles: `# Two profiles in one scheduler: default-scheduler spreads pods, batch-scheduler fills
# nodes. A pod chooses one with spec.schedulerName. Both share one queue and one cache.
${head}profiles:
- schedulerName: default-scheduler
- schedulerName: batch-scheduler
  plugins:
    score:
      disabled:
      - name: NodeResourcesBalancedAllocation
      - name: PodTopologySpread
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - name: cpu
          weight: 1
        - name: memory
          weight: 1
`,

  everyNode: `# Evaluates every node in clusters of any size. By default the scheduler stops when it
# has found enough feasible nodes, and does not evaluate the others.
${head}percentageOfNodesToScore: 100
`,

  celScore: `# Scores nodes with your own CEL expression. This one prefers nodes with few pods. The
# scheduler evaluates the expression for the pod and each feasible node.
${head}profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: CELScore
        weight: 10
  pluginConfig:
  - name: CELScore
    args:
      expression: 0.0 - nodeRequested.pods
      normalize: true
`,

  coscheduling: `# Places the pods of a PodGroup (scheduling.x-k8s.io) together or not at all. Pods join a
# group by the label scheduling.x-k8s.io/pod-group.
${head}profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: Coscheduling
    queueSort:
      enabled:
      - name: Coscheduling
      # A profile sorts its queue with one plugin.
      disabled:
      - name: "*"
  pluginConfig:
  - name: Coscheduling
    args:
      # How long a pod that has a place waits for the others.
      permitWaitingTimeSeconds: 60
      # Others wait on if at most this share of minMember lacks a place.
      podGroupRejectPercentage: 10
`,

  elasticQuota: `# Shares the cluster among namespaces by ElasticQuotas (scheduling.x-k8s.io): each has
# its min guaranteed, and borrows up to its max what others do not use.
${head}profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: CapacityScheduling
    postFilter:
      enabled:
      - name: CapacityScheduling
      # DefaultPreemption would evict by priority, whatever the quotas say.
      disabled:
      - name: "*"
`,

  numa: `# Keeps Guaranteed pods off nodes on which no NUMA node has room for them. Nodes with the
# annotation kube-scheduler-simulator.sigs.k8s.io/numa publish their topology.
${head}profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: NodeResourceTopologyMatch
    reserve:
      # Only needed with a cache: see cacheResyncPeriodSeconds.
      disabled:
      - name: NodeResourceTopologyMatch
  pluginConfig:
  - name: NodeResourceTopologyMatch
    args:
      scoringStrategy:
        type: LeastAllocated
`,
}
