// The schema of KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), which no
// server publishes: its fields, and the arguments of the plugins that take any. The
// descriptions are our own.

import type { Head, Schema, SchemaRoot, SchemaSource } from '@/features/yaml/model/schema'

const configurationHead: Head = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration' }

const string = (description: string): Schema => ({ type: 'string', description })
const integer = (description: string, fallback?: number): Schema => ({
  type: 'integer',
  description,
  ...(fallback === undefined ? {} : { default: fallback }),
})
const boolean = (description: string, fallback = false): Schema => ({ type: 'boolean', description, default: fallback })
const choice = (description: string, values: string[], fallback = values[0]): Schema => ({
  type: 'string',
  description,
  enum: values,
  default: fallback,
})
const object = (description: string, properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  description,
  properties,
  required,
})
const list = (description: string, items: Schema): Schema => ({ type: 'array', description, items })

const idle = 'Accepted, but has no effect in the simulator.'

// Plugins.

/** The extension points of the configuration in execution order, and multiPoint. */
export const pointFields: Record<string, string> = {
  multiPoint:
    'Enables or disables a plugin at every extension point that it implements. A setting at a single extension point takes precedence.',
  preEnqueue: 'Runs before a pod enters activeQ.',
  queueSort: 'Orders activeQ. Exactly one plugin, the same in all profiles.',
  preFilter: 'Runs once per attempt, before any node is checked.',
  filter: 'Checks whether the pod can run on a node.',
  postFilter: 'Runs when no node is feasible, for example preemption.',
  preScore: 'Runs once per attempt, before the feasible nodes are scored.',
  score: 'Scores each feasible node from 0 to 100. The score is multiplied by the plugin’s weight.',
  reserve: 'Reserves resources for the pod on the chosen node.',
  permit: 'Runs before binding: approves, delays or rejects the pod.',
  preBind: 'Does the work that must precede binding.',
  bind: 'Binds the pod. Plugins after the first one that handles it do not run.',
  postBind: 'Runs after the pod is bound.',
  placementGenerate: 'Pod groups: proposes sets of nodes for a group.',
  placementScore: 'Pod groups: scores a placement.',
  podGroupPostFilter: 'Pod groups: runs when no placement fits the group.',
}

const enabledPlugin = object(
  'A plugin by name.',
  {
    name: string('The plugin.'),
    weight: integer('Multiplies the plugin’s score; used for score only. 0 means the plugin’s default.'),
  },
  ['name']
)
const disabledPlugin = object('A plugin by name, or "*" for all of them.', { name: string('The plugin, or "*".') }, [
  'name',
])
const pluginSet = (description: string): Schema =>
  object(description, {
    enabled: list(
      'Plugins to run in addition to the defaults, or default plugins with a different weight.',
      enabledPlugin
    ),
    disabled: list('Default plugins to disable.', disabledPlugin),
  })

const resource = object(
  'A resource and its weight.',
  {
    name: string('The resource, such as cpu, memory or nvidia.com/gpu.'),
    weight: integer('The weight of the resource, 1 or more.', 1),
  },
  ['name']
)
const shape = (what: string) =>
  list(
    `Points of a function from utilization to score, in order of utilization, with linear interpolation between them. ${what}`,
    object(
      'A point.',
      {
        utilization: integer('The utilization in percent, 0 to 100.'),
        score: integer('The score at that point, 0 to 10.'),
      },
      ['utilization', 'score']
    )
  )
const typed = (
  kind: string,
  description: string,
  properties: Record<string, Schema>,
  required: string[] = []
): Schema =>
  object(
    description,
    {
      apiVersion: choice('Optional.', [configurationHead.apiVersion]),
      kind: choice('Optional.', [kind]),
      ...properties,
    },
    required
  )

const requirement = object(
  'A requirement on a label.',
  {
    key: string('The label.'),
    operator: choice('How the label is compared.', ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']),
    values: list('For In, NotIn, Gt and Lt.', { type: 'string' }),
  },
  ['key', 'operator']
)
const term = object('All requirements must match.', {
  matchExpressions: list('On labels of the node.', requirement),
  matchFields: list('On fields of the node.', requirement),
})

/** The arguments of a plugin, by its name. Other plugins take none, as far as we know. */
export const argumentSchemas: Record<string, Schema> = {
  DefaultPreemption: typed('DefaultPreemptionArgs', 'How many nodes preemption considers.', {
    minCandidateNodesPercentage: integer('The minimum percentage of nodes to dry run.', 10),
    minCandidateNodesAbsolute: integer('The minimum number of nodes to dry run.', 100),
  }),
  DynamicResources: typed('DynamicResourcesArgs', 'Time limits of device allocation.', {
    filterTimeout: string('How long finding devices for one node may take, such as 10s. 0s means no limit.'),
    bindingTimeout: string('How long to wait until devices are ready for binding, such as 10m.'),
  }),
  InterPodAffinity: typed('InterPodAffinityArgs', 'How affinity between pods is scored.', {
    hardPodAffinityWeight: integer(
      'What each required affinity of an existing pod for the new pod adds to the score, 0 to 100.',
      1
    ),
    ignorePreferredTermsOfExistingPods: boolean(
      'Ignore the preferred affinity of existing pods. This is faster with many pods.'
    ),
  }),
  NodeAffinity: typed('NodeAffinityArgs', 'Node affinity for every pod of the profile.', {
    addedAffinity: object('Applies in addition to the pod’s own node affinity.', {
      requiredDuringSchedulingIgnoredDuringExecution: object(
        'Nodes that the pods may use.',
        { nodeSelectorTerms: list('At least one term must match.', term) },
        ['nodeSelectorTerms']
      ),
      preferredDuringSchedulingIgnoredDuringExecution: list(
        'Nodes to prefer.',
        object('A preference.', { weight: integer('1 to 100.'), preference: term }, ['weight', 'preference'])
      ),
    }),
  }),
  NodeResourcesBalancedAllocation: typed(
    'NodeResourcesBalancedAllocationArgs',
    'Resources whose use should be balanced on a node.',
    { resources: list('cpu and memory by default; each weight is 1.', resource) }
  ),
  NodeResourcesFit: typed(
    'NodeResourcesFitArgs',
    'Which resources must fit, and whether full or empty nodes score higher.',
    {
      ignoredResources: list('Extended resources that need not fit, such as those that an extender manages.', {
        type: 'string',
      }),
      ignoredResourceGroups: list(
        'Like ignoredResources, for all resources of a group: example.com means example.com/*.',
        { type: 'string' }
      ),
      scoringStrategy: object('How the use of a node becomes a score.', {
        type: choice(
          'LeastAllocated prefers empty nodes, MostAllocated prefers full nodes, RequestedToCapacityRatio uses its own function.',
          ['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio']
        ),
        resources: list('The resources and their weights. cpu and memory by default.', resource),
        requestedToCapacityRatio: object('Used with the type RequestedToCapacityRatio.', { shape: shape('') }),
      }),
    }
  ),
  PodTopologySpread: typed('PodTopologySpreadArgs', 'Default constraints for pods without their own.', {
    defaultingType: choice('System: the built-in constraints (zones and nodes). List: those in defaultConstraints.', [
      'System',
      'List',
    ]),
    defaultConstraints: list(
      'For pods without their own constraints that belong to a Service, ReplicaSet, StatefulSet or ' +
        'ReplicationController. Requires defaultingType List.',
      object(
        'A constraint.',
        {
          maxSkew: integer('The largest allowed difference in pods between two domains.', 1),
          topologyKey: string('The label that identifies the domains, such as topology.kubernetes.io/zone.'),
          whenUnsatisfiable: choice('DoNotSchedule rejects nodes, ScheduleAnyway only lowers their score.', [
            'DoNotSchedule',
            'ScheduleAnyway',
          ]),
        },
        ['maxSkew', 'topologyKey', 'whenUnsatisfiable']
      )
    ),
  }),
  VolumeBinding: typed('VolumeBindingArgs', 'Volumes that are bound while scheduling.', {
    bindTimeoutSeconds: integer('How long binding a volume may take, in seconds.', 600),
    shape: shape(
      'Utilization is the requested share of the storage capacity. Used when the feature gate StorageCapacityScoring is on.'
    ),
  }),
  CELFilter: object(
    'An expression that decides whether a node is feasible. Part of the simulator.',
    {
      expression: string(
        'CEL over pod, node, podsOnNode, podRequest, nodeRequested and nodeAllocatable; true means that the node passes.'
      ),
      messageExpression: string('CEL that returns the reason for a rejection.'),
    },
    ['expression']
  ),
  CELScore: object(
    'An expression that scores a node. Part of the simulator.',
    {
      expression: string(
        'CEL over pod, node, podsOnNode, podRequest, nodeRequested and nodeAllocatable; returns a number.'
      ),
      normalize: boolean(
        'Scale the results of all nodes to 0 to 100. Without it, the expression must return values in that range.'
      ),
    },
    ['expression']
  ),
  Coscheduling: typed('CoschedulingArgs', 'How the pods of a PodGroup wait for each other.', {
    permitWaitingTimeSeconds: integer(
      'How long a pod that has a place waits for the other members, in seconds, if its group does not say.',
      60
    ),
    podGroupBackoffSeconds: integer(
      'How long a group that failed is refused before it is tried again, in seconds. 0: not at all.',
      0
    ),
    podGroupRejectPercentage: integer(
      'Members that wait keep their places if at most this percentage of minMember lacks one. 0: they always lose them, 100: never.',
      10
    ),
  }),
  NodeResourceTopologyMatch: typed(
    'NodeResourceTopologyMatchArgs',
    'How pods are aligned with the NUMA nodes of a node.',
    {
      scoringStrategy: object('How the use of NUMA nodes becomes a score.', {
        type: choice(
          'LeastAllocated prefers empty NUMA nodes, MostAllocated full ones, BalancedAllocation those whose ' +
            'resources are used evenly, LeastNUMANodes nodes where the pod needs few.',
          ['LeastAllocated', 'MostAllocated', 'BalancedAllocation', 'LeastNUMANodes']
        ),
        resources: list(
          'The weights of resources. All requested resources count; those that are not listed have weight 1.',
          resource
        ),
      }),
      discardReservedNodes: boolean('Leave a node out while a pod is on its way there.'),
      cacheResyncPeriodSeconds: integer(
        'Above 0: subtract pods on their way from every NUMA node, and compare with the published topologies at ' +
          'most once in so many seconds. Enable Reserve with it.',
        0
      ),
      cache: object('Applies with cacheResyncPeriodSeconds.', {
        foreignPodsDetect: choice('Which pods of other schedulers make a node unfit until the next comparison.', [
          'All',
          'None',
          'OnlyExclusiveResources',
        ]),
        resyncMethod: choice('Which pods are compared. Autodetect: as the topology says.', [
          'Autodetect',
          'All',
          'OnlyExclusiveResources',
        ]),
        informerMode: choice(
          'Dedicated compares pods that have started, finished ones included. Shared compares pods that run.',
          ['Dedicated', 'Shared']
        ),
        resyncScope: choice('Whether a change of the policy counts without a comparison.', ['All', 'OnlyResources']),
      }),
      preemptionMode: choice('Whether preemption counts on what its victims hold of a NUMA node. Needs the cache.', [
        'Disabled',
        'Enabled',
      ]),
    }
  ),
  ZoneQuota: object(
    'Limits the pods of an application in each zone. Part of the simulator, as an example.',
    {
      maxPerZone: integer('The maximum number of pods in a zone.'),
      label: { ...string('The label that identifies the application.'), default: 'app' },
    },
    ['maxPerZone']
  ),
}

// The document.

const profile = object('A profile with its own name. Pods choose it with spec.schedulerName.', {
  schedulerName: { ...string('The name that pods use in spec.schedulerName.'), default: 'default-scheduler' },
  percentageOfNodesToScore: integer('Overrides percentageOfNodesToScore of the configuration for this profile.'),
  plugins: object(
    'Which plugins run at which extension point. Everything else keeps its default.',
    Object.fromEntries(Object.entries(pointFields).map(([name, about]) => [name, pluginSet(about)]))
  ),
  pluginConfig: list(
    'Arguments of plugins.',
    object(
      'A plugin’s arguments.',
      {
        name: string('The plugin.'),
        args: {
          description: 'The plugin’s arguments.',
          type: 'object',
          choose: (beside) => argumentSchemas[beside.get('name') ?? ''],
        },
      },
      ['name']
    )
  ),
})

const extender = object(
  'A web service that the scheduler calls in addition to its plugins.',
  {
    urlPrefix: string('The base URL, to which the verbs are appended.'),
    filterVerb: string('The path for filtering nodes. Empty: not called.'),
    prioritizeVerb: string('The path for scoring nodes from 0 to 10. Empty: not called.'),
    preemptVerb: string('The path for changing preemption victims. Empty: not called.'),
    bindVerb: string('The path for binding the pod instead of the scheduler. At most one extender may bind.'),
    weight: integer('Multiplies the extender’s scores, which are then multiplied by 10.'),
    enableHTTPS: boolean('Use TLS.'),
    tlsConfig: object('TLS settings.', {
      insecure: boolean('Do not verify the server’s certificate.'),
      serverName: string('The server name in its certificate.'),
      certFile: string('Client certificate.'),
      keyFile: string('Client key.'),
      caFile: string('Certificate authority.'),
    }),
    httpTimeout: { ...string('How long a request may take.'), default: '5s' },
    nodeCacheCapable: boolean('The extender caches nodes: send only their names.'),
    managedResources: list(
      'Call the extender only for pods that request one of these resources.',
      object(
        'A resource.',
        {
          name: string('The extended resource.'),
          ignoredByScheduler: boolean('NodeResourcesFit ignores this resource.'),
        },
        ['name']
      )
    ),
    ignorable: boolean('Continue without this extender when it fails.'),
  },
  ['urlPrefix']
)

export const configurationSchema: Schema = object(
  'The configuration of kube-scheduler. Fields that are not set keep their default.',
  {
    apiVersion: choice('The version of this document.', [configurationHead.apiVersion]),
    kind: choice('The kind of this document.', [configurationHead.kind]),
    parallelism: integer('How many nodes the scheduler checks in parallel.', 16),
    percentageOfNodesToScore: integer(
      'The scheduler stops its search when this percentage of nodes is feasible. 0: ' +
        'between 5 and 50, depending on the cluster size. 100: never stops early. ' +
        'Clusters below 100 nodes are always searched completely.',
      0
    ),
    podInitialBackoffSeconds: integer(
      'The backoff after a pod’s first failed attempt, in seconds. It doubles with each further attempt.',
      1
    ),
    podMaxBackoffSeconds: integer('The longest backoff between attempts, in seconds.', 10),
    delayCacheUntilActive: boolean(idle),
    profiles: list('The profiles, which share one queue. Without any there is default-scheduler.', profile),
    extenders: list('Web services that the scheduler calls in addition to its plugins.', extender),
    leaderElection: object(idle, { leaderElect: boolean(idle, true) }),
    clientConnection: object(idle, { kubeconfig: string(idle), qps: integer(idle), burst: integer(idle) }),
    enableProfiling: boolean(idle, true),
    enableContentionProfiling: boolean(idle, true),
  },
  ['apiVersion', 'kind']
)

const root: SchemaRoot = { schema: configurationSchema, resolve: () => undefined }

/** Serves the schema of this one kind, and the plugin names that `plugins` returns at the time. */
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
