// Small clusters that each show one thing about sessions or flows. They are applied step by step: a
// step begins when the pods
// of the one before run.

import type { KindInfo, KubeObject } from '@/api/types'
import { make } from '@/features/batch/model/steps'
import { forEach, type SceneStep } from '@/features/branch/model/demonstration'
import { nodeKind, podKind } from '@/kubernetes/kinds'
import { templates, type Rules } from './configurations'

const clusterKind = (group: string, version: string, kind: string, resource: string): KindInfo => ({
  group,
  version,
  kind,
  resource,
  namespaced: false,
  verbs: [],
})
export const groupKinds: Record<Rules, KindInfo> = {
  'kube-batch': {
    group: 'scheduling.incubator.k8s.io',
    version: 'v1alpha1',
    kind: 'PodGroup',
    resource: 'podgroups',
    namespaced: true,
    verbs: [],
  },
  volcano: {
    group: 'scheduling.volcano.sh',
    version: 'v1beta1',
    kind: 'PodGroup',
    resource: 'podgroups',
    namespaced: true,
    verbs: [],
  },
}
export const queueKinds: Record<Rules, KindInfo> = {
  'kube-batch': clusterKind('scheduling.incubator.k8s.io', 'v1alpha1', 'Queue', 'queues'),
  volcano: clusterKind('scheduling.volcano.sh', 'v1beta1', 'Queue', 'queues'),
}
const priorityKind = clusterKind('scheduling.k8s.io', 'v1', 'PriorityClass', 'priorityclasses')

/** The pods run, in the namespace default. */
const run = (names: readonly string[]) =>
  forEach(names, 'pods.exists(p, p.namespace == "default" && p.name == n && p.phase == "Running")')

export interface Preset {
  /** What the session scheduler must run, so that the preset shows what it promises. */
  configuration?: { rules: Rules; document: string }
  show: { view: 'session' | 'flow'; mode?: 'round' | 'comparison'; scheduler?: Rules; job?: string }
  steps: readonly SceneStep[]
}

/** Memory goes with the CPUs: 4 Gi each, on nodes and in pods. */
const sized = (cpus: number) => ({ cpu: String(cpus), memory: `${cpus * 4}Gi` })

const node = (name: string, cpus: number, labels: Record<string, string> = {}) => {
  const amounts = { ...sized(cpus), pods: '110' }
  return make(nodeKind, name, {
    metadata: { labels: { 'kubernetes.io/hostname': name, ...labels } },
    status: { capacity: amounts, allocatable: amounts },
  })
}

interface PodOptions {
  cpus: number
  scheduler: string
  group?: string
  on?: string
  /** The pool keeps the pods of a preset off the nodes of the others. */
  selector: Record<string, string>
  /** Pods of one label are a job of the flow scheduler. */
  job?: string
}

const pod = (name: string, { cpus, scheduler, group, on, selector, job }: PodOptions) =>
  make(podKind, name, {
    metadata: {
      ...(job ? { labels: { 'controller-uid': job } } : {}),
      ...(group ? { annotations: { 'scheduling.k8s.io/group-name': group } } : {}),
    },
    spec: {
      schedulerName: scheduler,
      ...(on ? { nodeName: on } : {}),
      nodeSelector: selector,
      containers: [
        { name: 'work', image: 'registry.example.com/work:1', resources: cpus ? { requests: sized(cpus) } : {} },
      ],
    },
  })

const group = (rules: Rules, name: string, minMember: number, { queue = 'default', priority = 0 } = {}) =>
  make(groupKinds[rules], name, {
    spec: { minMember, queue, ...(priority ? { priorityClassName: `batch-${priority}` } : {}) },
  })
const priority = (value: number) => make(priorityKind, `batch-${value}`, { value })

/** The tasks of a job on the nodes of a pool; on has the node of each running one. */
const tasks = (pool: string, rules: Rules, job: string, cpus: number, on: readonly (string | undefined)[]) =>
  on.map((at, i) =>
    pod(`${job}-${i}`, { cpus, scheduler: rules, group: job, selector: { pool }, ...(at ? { on: at } : {}) })
  )
const waiting = (n: number): undefined[] => Array<undefined>(n).fill(undefined)
const namesOf = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name)

/** A gang that fits in part, and a smaller job that comes later. */
function partly(pool: string, rules: Rules): Preset {
  const [gang, later, ready] = [`${pool}-gang`, `${pool}-later`, `${pool}-ready`]
  return {
    configuration: { rules, document: templates[rules].builtIn ?? '' },
    show: { view: 'session', scheduler: rules, job: `default/${gang}` },
    steps: [
      {
        objects: [
          node(`${pool}-1`, 8, { pool }),
          pod(ready, { cpus: 0, scheduler: 'default-scheduler', selector: { pool } }),
        ],
        until: run([ready]),
      },
      // A priority keeps the gang in front of a job of the same second.
      {
        objects: [
          priority(100),
          group(rules, gang, 3, { priority: 100 }),
          ...tasks(pool, rules, gang, 4, waiting(3)),
          group(rules, later, 1),
          ...tasks(pool, rules, later, 4, waiting(1)),
        ],
      },
    ],
  }
}

const k: Rules = 'kube-batch'
const running = [
  ...tasks('queues', k, 'train-8', 8, ['n1', 'n1', 'n2', 'n3', 'n4', 'n5']),
  ...tasks('queues', k, 'api-1', 4, ['n2', 'n2', 'n3', 'n3', 'n4']),
  ...tasks('queues', k, 'etl-2', 4, ['n4', 'n5', 'n5', 'n6', 'n6']),
  ...tasks('queues', k, 'lab-1', 4, ['n6']),
]

/** The machines of the flow: what others use of their 16 CPUs, and whether they have an ssd. */
const machines = [
  { name: 'flow-1', used: 8, ssd: true },
  { name: 'flow-2', used: 6 },
  { name: 'flow-3', used: 12 },
  { name: 'flow-4', used: 7 },
]
const ground = [
  ...machines.map(({ name, ssd }) => node(name, 16, { pool: 'flow', ...(ssd ? { disk: 'ssd' } : {}) })),
  // Pods that no scheduler has to place.
  ...machines.map(({ name, used }) =>
    pod(`used-${name}`, { cpus: used, scheduler: 'placed-by-hand', on: name, selector: { pool: 'flow' } })
  ),
]
const six = (scheduler: string) => [
  ...[0, 1, 2, 3].map((i) => pod(`map-${i}`, { cpus: 4, scheduler, job: 'map', selector: { pool: 'flow' } })),
  ...[0, 1].map((i) =>
    pod(`index-${i}`, { cpus: 4, scheduler, job: 'index', selector: { pool: 'flow', disk: 'ssd' } })
  ),
]

const onMachines = run(machines.map(({ name }) => `used-${name}`))

export const presets = {
  queues: {
    configuration: { rules: k, document: templates[k].fairReclaim ?? '' },
    show: { view: 'session', scheduler: k, job: 'default/serve-4' },
    steps: [
      {
        objects: [
          ...['n1', 'n2', 'n3', 'n4', 'n5', 'n6'].map((name) => node(name, 16, { pool: 'queues' })),
          ...[100, 50, 10].map(priority),
          ...(
            [
              ['prod', 3],
              ['research', 2],
              ['adhoc', 1],
            ] as const
          ).map(([name, weight]) => make(queueKinds[k], name, { spec: { weight } })),
          group(k, 'api-1', 5, { queue: 'prod', priority: 100 }),
          group(k, 'etl-2', 3, { queue: 'prod', priority: 10 }),
          group(k, 'train-8', 4, { queue: 'research', priority: 50 }),
          group(k, 'lab-1', 1, { queue: 'adhoc', priority: 10 }),
          ...running,
        ],
        until: run(namesOf(running)),
      },
      {
        objects: [
          group(k, 'serve-4', 3, { queue: 'prod', priority: 100 }),
          group(k, 'train-9', 4, { queue: 'research', priority: 50 }),
          group(k, 'lint-3', 1, { queue: 'adhoc', priority: 10 }),
          group(k, 'probe-1', 1, { queue: 'adhoc', priority: 10 }),
          ...tasks('queues', k, 'serve-4', 4, waiting(3)),
          ...tasks('queues', k, 'train-9', 4, waiting(4)),
          ...tasks('queues', k, 'lint-3', 2, waiting(1)),
          ...tasks('queues', k, 'probe-1', 0, waiting(1)),
        ],
      },
    ],
  },
  held: partly('held', 'kube-batch'),
  discarded: partly('discarded', 'volcano'),
  round: {
    show: { view: 'flow', mode: 'round' },
    steps: [{ objects: ground, until: onMachines }, { objects: six('poseidon') }],
  },
  gap: {
    show: { view: 'flow', mode: 'comparison' },
    // One step for each pod: kube-scheduler takes them in this order.
    steps: [
      { objects: ground, until: onMachines },
      ...six('default-scheduler').map((one) => ({
        objects: [one],
        ...(one.metadata.name === 'index-1' ? {} : { until: run([one.metadata.name]) }),
      })),
    ],
  },
} satisfies Record<string, Preset>

export type SessionPreset = keyof typeof presets
export const sessionPresets = ['queues', 'held', 'discarded'] as const satisfies readonly SessionPreset[]
export const flowPresets = ['round', 'gap'] as const satisfies readonly SessionPreset[]
