// Small clusters with queues, each of which shows one thing. They are applied step by step, since
// the controllers make the workloads of one step in any order.

import type { KindInfo } from '@/api/types'
import { make } from '@/features/batch/model/steps'
import { forEach, type SceneStep } from '@/features/branch/model/demonstration'
import { nodeKind } from '@/kubernetes/kinds'

const kueue = (kind: string, resource: string, namespaced = false): KindInfo => ({
  group: 'kueue.x-k8s.io',
  version: 'v1beta2',
  kind,
  resource,
  namespaced,
  verbs: [],
})
const flavorKind = kueue('ResourceFlavor', 'resourceflavors')
const clusterQueueKind = kueue('ClusterQueue', 'clusterqueues')
const localQueueKind = kueue('LocalQueue', 'localqueues', true)
const priorityKind = kueue('WorkloadPriorityClass', 'workloadpriorityclasses')
const jobKind: KindInfo = { group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs', namespaced: true, verbs: [] }

/** The workload of each job has got an answer about its quota. Kueue adds a hash to the job's name. */
const reserved = (status: 'True' | 'False', jobs: readonly string[]) =>
  forEach(
    jobs,
    `objects("Workload.kueue.x-k8s.io").exists(w, w.metadata.name.matches("^job-" + n + "-[0-9a-f]{5}$") &&
      has(w.status) && has(w.status.conditions) &&
      w.status.conditions.exists(c, c.type == "QuotaReserved" && c.status == "${status}"))`
  )
const admits = (...jobs: readonly string[]) => reserved('True', jobs)
const waits = (...jobs: readonly string[]) => reserved('False', jobs)

const amounts = { cpu: '8', memory: '16Gi', pods: '110' }
const ground = [
  ...['queues-1', 'queues-2'].map((name) =>
    make(nodeKind, name, {
      metadata: { labels: { 'kubernetes.io/hostname': name, pool: 'queues' } },
      status: { capacity: amounts, allocatable: amounts },
    })
  ),
  make(flavorKind, 'queues', { spec: { nodeLabels: { pool: 'queues' } } }),
]

/** A ClusterQueue with cores of the flavor, and its LocalQueue of the same name. */
function queue(name: string, cores: number, spec: object = {}) {
  return [
    make(clusterQueueKind, name, {
      spec: {
        namespaceSelector: {},
        resourceGroups: [
          {
            coveredResources: ['cpu'],
            flavors: [{ name: 'queues', resources: [{ name: 'cpu', nominalQuota: cores }] }],
          },
        ],
        ...spec,
      },
    }),
    make(localQueueKind, name, { spec: { clusterQueue: name } }),
  ]
}

/** A job of pods with one core each, which run for an hour. */
function job(name: string, to: string, pods: number, labels: Record<string, string> = {}) {
  const metadata = { labels: { 'kueue.x-k8s.io/queue-name': to, ...labels } }
  const template = {
    metadata: { annotations: { 'kube-scheduler-simulator.sigs.k8s.io/run-duration': '1h' } },
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'work', image: 'registry.example.com/work:1', resources: { requests: { cpu: '1' } } }],
    },
  }
  return make(jobKind, name, { metadata, spec: { parallelism: pods, completions: pods, template } })
}

export const presets = {
  borrowing: [
    {
      objects: [
        ...ground,
        ...queue('team-a', 4, { cohortName: 'teams' }),
        ...queue('team-b', 4, { cohortName: 'teams' }),
        job('borrower', 'team-a', 6),
      ],
      until: admits('borrower'),
    },
    { objects: [job('latecomer', 'team-a', 3)] },
  ],
  preemption: [
    {
      objects: [
        ...ground,
        make(priorityKind, 'urgent', { value: 1000 }),
        ...queue('shared', 4, { preemption: { withinClusterQueue: 'LowerPriority' } }),
        job('patient', 'shared', 3),
      ],
      until: admits('patient'),
    },
    { objects: [job('urgent', 'shared', 4, { 'kueue.x-k8s.io/priority-class': 'urgent' })], until: admits('urgent') },
  ],
  strict: [
    {
      objects: [...ground, ...queue('line', 4, { queueingStrategy: 'StrictFIFO' }), job('running', 'line', 3)],
      until: admits('running'),
    },
    // Times of creation are whole seconds, so a priority keeps the head in front of what comes in
    // the same one.
    {
      objects: [
        make(priorityKind, 'first-in-line', { value: 10 }),
        job('head', 'line', 4, { 'kueue.x-k8s.io/priority-class': 'first-in-line' }),
      ],
      until: waits('head'),
    },
    { objects: [job('small', 'line', 1)] },
  ],
} satisfies Record<string, readonly SceneStep[]>

export type QueuePreset = keyof typeof presets
export const presetNames = Object.keys(presets) as QueuePreset[]
