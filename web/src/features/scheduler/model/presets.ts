// Configurations to start from. Each is a whole document that says in its comments what
// it does; nothing in it is only there because the default has it.

export const presetNames = ['default', 'binPacking', 'spreading', 'noPreemption', 'twoProfiles', 'everyNode', 'celScore'] as const
export type PresetName = (typeof presetNames)[number]

const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'

export const presets: Record<PresetName, string> = {
  default: `# What kube-scheduler runs when nobody asks for anything else.
${head}`,

  binPacking: `# Fill nodes before opening new ones: fuller nodes score higher.
${head}profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: NodeResourcesFit
        weight: 5
    score:
      # Both pull towards emptier or evenly used nodes.
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

  spreading: `# Spread the pods of a workload over zones first, then over nodes.
# Holds for pods of a Service, ReplicaSet or StatefulSet that say nothing themselves.
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

  noPreemption: `# A pod that fits nowhere waits: no pod is removed to make room for it.
${head}profiles:
- schedulerName: default-scheduler
  plugins:
    postFilter:
      disabled:
      - name: DefaultPreemption
`,

  twoProfiles: `# Two schedulers in one: services spread, batch jobs fill nodes.
# A pod chooses by spec.schedulerName; both share one queue and one view of the nodes.
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

  everyNode: `# Look at every node, however many there are. By default the search stops when
# enough feasible nodes are found, and nodes beyond that are not evaluated.
${head}percentageOfNodesToScore: 100
`,

  celScore: `# Score by a formula of your own, written in CEL: here, prefer nodes on which
# few pods run. Try others: it is evaluated for the pod and each feasible node.
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
}
