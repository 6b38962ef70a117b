// The sample cluster of the first run: twelve nodes in three zones, workloads that
// fit, and pods that do not fit, each for a different reason.

import type { KubeObject } from '@/api/types'
import { zoneLabel } from '@/kubernetes/cluster'

const sampleNamespace = 'sample'

interface Shape {
  cpu: number
  memory: number
  gpu?: number
  pool: string
  labels?: Record<string, string>
  taint?: { key: string; value: string; effect: string }
}

const gpuTaint = { key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }
const general: Shape = { cpu: 16, memory: 64, pool: 'general' }
const ssd: Shape = { ...general, labels: { disktype: 'ssd' } }
const gpu: Shape = { cpu: 32, memory: 256, gpu: 8, pool: 'gpu', taint: gpuTaint }
const batch: Shape = {
  cpu: 32,
  memory: 128,
  pool: 'batch',
  taint: { key: 'dedicated', value: 'batch', effect: 'NoSchedule' },
}
const arm: Shape = { ...general, pool: 'arm64', labels: { 'kubernetes.io/arch': 'arm64' } }

const shapes: Record<string, Shape> = {
  'node-a1': general,
  'node-a2': general,
  'node-a3': ssd,
  'node-a4': gpu,
  'node-b1': ssd,
  'node-b2': ssd,
  'node-b3': general,
  'node-b4': gpu,
  'node-c1': general,
  'node-c2': arm,
  'node-c3': ssd,
  'node-c4': batch,
}

function node(name: string, shape: Shape): KubeObject {
  const amounts = {
    cpu: String(shape.cpu),
    memory: `${shape.memory}Gi`,
    pods: '110',
    ...(shape.gpu ? { 'nvidia.com/gpu': String(shape.gpu) } : {}),
  }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/arch': 'amd64',
        [zoneLabel]: `zone-${name[5]}`,
        pool: shape.pool,
        ...shape.labels,
      },
    },
    spec: shape.taint ? { taints: [shape.taint] } : {},
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    },
  }
}

const requests = (cpu: string, memory: string, more: Record<string, string> = {}) => ({
  requests: { cpu, memory, ...more },
  limits: more,
})
const podSpec = (name: string, resources: object, more: object = {}) => ({
  containers: [{ name, image: 'registry.k8s.io/pause:3.10', resources }],
  ...more,
})
const selects = (app: string) => ({ matchLabels: { app } })
const preferSsd = {
  preferredDuringSchedulingIgnoredDuringExecution: [
    { weight: 80, preference: { matchExpressions: [{ key: 'disktype', operator: 'In', values: ['ssd'] }] } },
  ],
}
const amd64 = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }] }],
  },
}
const acrossZones = (app: string) => [
  { labelSelector: selects(app), maxSkew: 1, topologyKey: zoneLabel, whenUnsatisfiable: 'ScheduleAnyway' },
]

/** `count` pods of one app, without a controller. */
function pods(app: string, count: number, spec: object): KubeObject[] {
  return Array.from({ length: count }, (_, i) => pod(`${app}-${i + 1}`, app, spec))
}

function pod(name: string, app: string, spec: object): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: sampleNamespace, labels: { app } }, spec }
}

/** In creation order. */
export function sampleObjects(): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: sampleNamespace } },
    ...Object.entries(shapes).map(([name, shape]) => node(name, shape)),
    ...pods('api', 9, podSpec('api', requests('1', '2Gi'))),
    ...pods('cache', 5, podSpec('cache', requests('2', '6Gi'))),
    ...pods(
      'trainer',
      5,
      podSpec('trainer', requests('7', '24Gi', { 'nvidia.com/gpu': '4' }), {
        tolerations: [{ key: gpuTaint.key, operator: 'Exists' }],
      })
    ),
    ...pods(
      'web',
      6,
      podSpec('web', requests('1500m', '3Gi'), {
        affinity: { nodeAffinity: { ...amd64, ...preferSsd } },
        topologySpreadConstraints: acrossZones('web'),
      })
    ),
    pod('search-1', 'search', podSpec('search', requests('20', '32Gi'))),
    pod(
      'report-1',
      'report',
      podSpec('report', requests('1', '1Gi'), { schedulingGates: [{ name: 'example.com/quota' }] })
    ),
  ]
}
