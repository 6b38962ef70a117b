// The schema of KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), which no
// server serves: fields, and the arguments of the plugins that have any. What each field
// does is said in our own words.

import type { Head, Schema, SchemaRoot, SchemaSource } from '@/features/yaml/model/schema'

export const configurationHead: Head = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration' }

const string = (description: string): Schema => ({ type: 'string', description })
const integer = (description: string, fallback?: number): Schema => ({ type: 'integer', description, ...(fallback === undefined ? {} : { default: fallback }) })
const boolean = (description: string, fallback = false): Schema => ({ type: 'boolean', description, default: fallback })
const choice = (description: string, values: string[], fallback = values[0]): Schema => ({ type: 'string', description, enum: values, default: fallback })
const object = (description: string, properties: Record<string, Schema>, required: string[] = []): Schema => ({ type: 'object', description, properties, required })
const list = (description: string, items: Schema): Schema => ({ type: 'array', description, items })

const idle = 'Accepted, and without effect in the simulator.'

// ── plugins ─────────────────────────────────────────────────────────────

/** The extension points of the configuration, in the order in which they run, and multiPoint. */
export const pointFields: Record<string, string> = {
  multiPoint: 'Enables or disables a plugin at every extension point that it implements. What stands at a single extension point wins.',
  preEnqueue: 'Before a pod enters the active queue.',
  queueSort: 'The order of the active queue. One plugin, the same in all profiles.',
  preFilter: 'Once per pod, before any node is looked at.',
  filter: 'Whether the pod can run on a node.',
  postFilter: 'When no node is feasible: preemption.',
  preScore: 'Once per pod, before the feasible nodes are scored.',
  score: 'How good a feasible node is, 0 to 100, times the plugin’s weight.',
  reserve: 'When a node has been chosen: keeps resources for the pod.',
  permit: 'Before binding: lets the pod go, holds it, or rejects it.',
  preBind: 'What has to be done before binding.',
  bind: 'Binds the pod. The first plugin that handles it ends the list.',
  postBind: 'After the pod is bound.',
  placementGenerate: 'Pod groups: proposes sets of nodes to place a group on.',
  placementScore: 'Pod groups: how good a placement is.',
  podGroupPostFilter: 'Pod groups: when a group found no place.',
}

const enabledPlugin = object('A plugin by name.', { name: string('The plugin.'), weight: integer('What its score is multiplied by; only for score. 0 means the plugin’s own default.') }, ['name'])
const disabledPlugin = object('A plugin by name, or "*" for all of them.', { name: string('The plugin, or "*".') }, ['name'])
const pluginSet = (description: string): Schema =>
  object(description, {
    enabled: list('Plugins to call in addition to the default ones, or the default ones with another weight.', enabledPlugin),
    disabled: list('Default plugins not to call.', disabledPlugin),
  })

const resource = object('A resource and its weight.', { name: string('The resource, such as cpu, memory or nvidia.com/gpu.'), weight: integer('How much it counts, from 1.', 1) }, ['name'])
const shape = (what: string) =>
  list(
    `Points of a function from utilization to score, utilization rising; straight lines between them. ${what}`,
    object('A point.', { utilization: integer('Percent that is used, 0 to 100.'), score: integer('The score at that point, 0 to 10.') }, ['utilization', 'score']),
  )
const typed = (kind: string, description: string, properties: Record<string, Schema>, required: string[] = []): Schema =>
  object(description, { apiVersion: choice('May be left out.', [configurationHead.apiVersion]), kind: choice('May be left out.', [kind]), ...properties }, required)

const requirement = object('A requirement on a label.', { key: string('The label.'), operator: choice('How it is compared.', ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']), values: list('For In, NotIn, Gt and Lt.', { type: 'string' }) }, ['key', 'operator'])
const term = object('All of its requirements have to hold.', { matchExpressions: list('On labels of the node.', requirement), matchFields: list('On fields of the node.', requirement) })

/** The arguments of a plugin, by its name. Plugins that are not here take none, as far as is known. */
export const argumentSchemas: Record<string, Schema> = {
  DefaultPreemption: typed('DefaultPreemptionArgs', 'How many nodes preemption tries.', {
    minCandidateNodesPercentage: integer('Percent of the nodes to dry run at least.', 10),
    minCandidateNodesAbsolute: integer('How many nodes to dry run at least.', 100),
  }),
  DynamicResources: typed('DynamicResourcesArgs', 'Time limits of device allocation.', {
    filterTimeout: string('How long finding devices for one node may take, such as 10s. 0s: no limit.'),
    bindingTimeout: string('How long to wait for devices to be ready for binding, such as 10m.'),
  }),
  InterPodAffinity: typed('InterPodAffinityArgs', 'How affinity between pods counts.', {
    hardPodAffinityWeight: integer('What a required affinity of a running pod towards the new one adds to the score, 0 to 100.', 1),
    ignorePreferredTermsOfExistingPods: boolean('Do not count the preferred affinity of running pods: faster where there are many.'),
  }),
  NodeAffinity: typed('NodeAffinityArgs', 'Node affinity for every pod of the profile.', {
    addedAffinity: object('Holds besides the pod’s own node affinity.', {
      requiredDuringSchedulingIgnoredDuringExecution: object('Nodes that may be used.', { nodeSelectorTerms: list('One of them has to hold.', term) }, ['nodeSelectorTerms']),
      preferredDuringSchedulingIgnoredDuringExecution: list('Nodes to prefer.', object('A preference.', { weight: integer('1 to 100.'), preference: term }, ['weight', 'preference'])),
    }),
  }),
  NodeResourcesBalancedAllocation: typed('NodeResourcesBalancedAllocationArgs', 'Which resources a node should use evenly.', { resources: list('cpu and memory by default; each weight is 1.', resource) }),
  NodeResourcesFit: typed('NodeResourcesFitArgs', 'What must fit, and whether full or empty nodes are better.', {
    ignoredResources: list('Extended resources that need not fit, such as ones that an extender looks after.', { type: 'string' }),
    ignoredResourceGroups: list('The same for all resources of a group: example.com stands for example.com/*.', { type: 'string' }),
    scoringStrategy: object('How a node’s use turns into a score.', {
      type: choice('LeastAllocated prefers empty nodes, MostAllocated full ones; RequestedToCapacityRatio draws its own line.', ['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio']),
      resources: list('What counts, and how much. cpu and memory by default.', resource),
      requestedToCapacityRatio: object('For the type of that name.', { shape: shape('') }),
    }),
  }),
  PodTopologySpread: typed('PodTopologySpreadArgs', 'Spreading for pods that do not ask for it themselves.', {
    defaultingType: choice('System: Kubernetes’ own constraints (zones and nodes). List: those in defaultConstraints.', ['System', 'List']),
    defaultConstraints: list(
      'For pods without constraints of their own that belong to a Service, ReplicaSet, StatefulSet or ReplicationController. Needs defaultingType List.',
      object('A constraint.', { maxSkew: integer('By how many pods two domains may differ.', 1), topologyKey: string('The label that tells domains apart, such as topology.kubernetes.io/zone.'), whenUnsatisfiable: choice('DoNotSchedule rejects nodes, ScheduleAnyway only scores them lower.', ['DoNotSchedule', 'ScheduleAnyway']) }, ['maxSkew', 'topologyKey', 'whenUnsatisfiable']),
    ),
  }),
  VolumeBinding: typed('VolumeBindingArgs', 'Volumes that are bound while scheduling.', {
    bindTimeoutSeconds: integer('How long binding a volume may take.', 600),
    shape: shape('By how much of the requested storage the volumes leave unused. Used when the storage capacity scoring gate is on.'),
  }),
  CELFilter: object('An expression that decides whether a node is feasible. Part of the simulator.', {
    expression: string('CEL over pod, node, podsOnNode, podRequest, nodeRequested and nodeAllocatable; true lets the node through.'),
    messageExpression: string('CEL that says why a node was rejected.'),
  }, ['expression']),
  CELScore: object('An expression that scores a node. Part of the simulator.', {
    expression: string('CEL over pod, node, podsOnNode, podRequest, nodeRequested and nodeAllocatable, as a number.'),
    normalize: boolean('Stretch the answers of all nodes over 0 to 100. Without it they have to be in that range themselves.'),
  }, ['expression']),
  ZoneQuota: object('At most so many pods of one application in a zone. Part of the simulator, as an example.', {
    maxPerZone: integer('How many pods a zone may have.'),
    label: { ...string('The label that tells applications apart.'), default: 'app' },
  }, ['maxPerZone']),
}

// ── the document ────────────────────────────────────────────────────────

const profile = object('A scheduler of its own name: pods choose it by spec.schedulerName.', {
  schedulerName: { ...string('The name that pods ask for.'), default: 'default-scheduler' },
  percentageOfNodesToScore: integer('As for the whole scheduler, for this profile.'),
  plugins: object('Which plugins are called where. What is not said stays as Kubernetes has it.', Object.fromEntries(Object.entries(pointFields).map(([name, about]) => [name, pluginSet(about)]))),
  pluginConfig: list(
    'Arguments of plugins.',
    object('A plugin’s arguments.', { name: string('The plugin.'), args: { description: 'The plugin’s arguments.', type: 'object', choose: (beside) => argumentSchemas[beside.get('name') ?? ''] } }, ['name']),
  ),
})

const extender = object('A web service that the scheduler asks besides its plugins.', {
  urlPrefix: string('Where it is; the verbs are appended.'),
  filterVerb: string('Asked which nodes are feasible. Empty: not asked.'),
  prioritizeVerb: string('Asked to score nodes from 0 to 10. Empty: not asked.'),
  preemptVerb: string('Asked about preemption’s victims. Empty: not asked.'),
  bindVerb: string('Binds the pod in place of the scheduler. One extender at most.'),
  weight: integer('What its scores are multiplied by (and then by 10).'),
  enableHTTPS: boolean('Talk to it over TLS.'),
  tlsConfig: object('For TLS.', { insecure: boolean('Do not check its certificate.'), serverName: string('The name in its certificate.'), certFile: string('Client certificate.'), keyFile: string('Client key.'), caFile: string('Certificate authority.') }),
  httpTimeout: { ...string('How long a request may take.'), default: '5s' },
  nodeCacheCapable: boolean('It knows the nodes itself: send their names only.'),
  managedResources: list('Ask it only about pods that request one of these.', object('A resource.', { name: string('The extended resource.'), ignoredByScheduler: boolean('NodeResourcesFit does not look at it.') }, ['name'])),
  ignorable: boolean('Go on without its answer when it fails.'),
}, ['urlPrefix'])

export const configurationSchema: Schema = object(
  'What kube-scheduler runs by. What is not said is as Kubernetes has it.',
  {
    apiVersion: choice('The version of this document.', [configurationHead.apiVersion]),
    kind: choice('The kind of this document.', [configurationHead.kind]),
    parallelism: integer('How many nodes are looked at at the same time.', 16),
    percentageOfNodesToScore: integer('When so many percent of the nodes are feasible the search stops. 0: between 5 and 50 by the size of the cluster; below 100 nodes always all. 100: never stops early.', 0),
    podInitialBackoffSeconds: integer('How long a pod waits after its first failed attempt; it doubles from then on.', 1),
    podMaxBackoffSeconds: integer('The longest wait between attempts.', 10),
    delayCacheUntilActive: boolean(idle),
    profiles: list('One scheduler for each entry, all in one queue. Without it there is default-scheduler.', profile),
    extenders: list('Web services to ask besides the plugins.', extender),
    leaderElection: object(idle, { leaderElect: boolean(idle, true) }),
    clientConnection: object(idle, { kubeconfig: string(idle), qps: integer(idle), burst: integer(idle) }),
    enableProfiling: boolean(idle, true),
    enableContentionProfiling: boolean(idle, true),
  },
  ['apiVersion', 'kind'],
)

const root: SchemaRoot = { schema: configurationSchema, resolve: () => undefined }

/** Knows the one kind, and plugin names as `plugins` tells them at that moment. */
export function configurationSource(plugins: () => readonly string[]): SchemaSource {
  return {
    root: async ({ kind }) => (kind === '' || kind === configurationHead.kind ? root : undefined),
    heads: async () => [configurationHead],
    values: async (_, path) => {
      if (path.at(-1) !== 'name') return []
      const names = [...new Set([...plugins(), ...Object.keys(argumentSchemas)])].sort()
      if (path[1] === 'pluginConfig') return names.filter((name) => argumentSchemas[name] ?? !plugins().includes(name))
      return path[1] === 'plugins' ? (path.includes('disabled') ? ['"*"', ...names] : names) : []
    },
  }
}
