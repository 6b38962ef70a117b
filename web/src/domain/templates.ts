// Manifests to start from. Names are free ones of the cluster at hand.

/** Finds a name that is not taken: prefix-1, prefix-2, … */
export type FreeName = (resource: 'nodes' | 'pods', prefix: string) => string

export interface Template {
  id: TemplateId
  text(free: FreeName): string
}

export const templateIds = [
  'pod',
  'node',
  'taintedNode',
  'podAffinity',
  'deployment',
  'volume',
  'priorityClass',
  'namespace',
] as const
export type TemplateId = (typeof templateIds)[number]

interface NodeOptions {
  name: string
  zone: string
  labels?: Record<string, string>
  taint?: { key: string; value: string }
}

function nodeText({ name, zone, labels = {}, taint }: NodeOptions): string {
  const extra = Object.entries(labels)
    .map(([k, v]) => `    ${k}: ${v}\n`)
    .join('')
  const taints = taint ? `spec:\n  taints:\n  - key: ${taint.key}\n    value: ${taint.value}\n    effect: NoSchedule\n` : ''
  return `apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels:
    kubernetes.io/hostname: ${name}
    topology.kubernetes.io/zone: ${zone}
${extra}${taints}status:
  capacity:
    cpu: "8"
    memory: 32Gi
    pods: "110"
  allocatable:
    cpu: "8"
    memory: 32Gi
    pods: "110"
  conditions:
  - type: Ready
    status: "True"
    reason: KubeletReady
`
}

function podText(name: string, rest = ''): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: default
  labels:
    app: web
spec:
${rest}  containers:
  - name: web
    image: registry.k8s.io/pause:3.10
    resources:
      requests:
        cpu: 500m
        memory: 512Mi
`
}

const affinity = `  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - key: topology.kubernetes.io/zone
            operator: In
            values: [zone-a, zone-b]
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 80
        preference:
          matchExpressions:
          - key: disktype
            operator: In
            values: [ssd]
`

export const templates: readonly Template[] = [
  { id: 'pod', text: (free) => podText(free('pods', 'pod')) },
  { id: 'node', text: (free) => nodeText({ name: free('nodes', 'node'), zone: 'zone-a' }) },
  {
    id: 'taintedNode',
    text: (free) => nodeText({ name: free('nodes', 'node'), zone: 'zone-a', taint: { key: 'dedicated', value: 'batch' } }),
  },
  { id: 'podAffinity', text: (free) => podText(free('pods', 'pod'), affinity) },
  {
    id: 'deployment',
    text: () => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: default
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: registry.k8s.io/pause:3.10
        resources:
          requests:
            cpu: 500m
            memory: 512Mi
`,
  },
  {
    id: 'volume',
    text: (free) => `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: local
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata:
  name: local-1
spec:
  capacity:
    storage: 10Gi
  accessModes: [ReadWriteOnce]
  storageClassName: local
  persistentVolumeReclaimPolicy: Retain
  local:
    path: /mnt/disk
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions:
        - key: topology.kubernetes.io/zone
          operator: In
          values: [zone-a]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: claim-1
  namespace: default
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: local
  resources:
    requests:
      storage: 5Gi
---
${podText(free('pods', 'pod'), '  volumes:\n  - name: store\n    persistentVolumeClaim:\n      claimName: claim-1\n')}`,
  },
  {
    id: 'priorityClass',
    text: () => `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: high
value: 100000
globalDefault: false
preemptionPolicy: PreemptLowerPriority
description: Goes before pods of lower priority.
`,
  },
  {
    id: 'namespace',
    text: () => `apiVersion: v1
kind: Namespace
metadata:
  name: shop
`,
  },
]

/** Two nodes, one of them tainted, and a pod: enough to see a rejection. */
export function sampleCluster(free: FreeName): string {
  const taken = new Set<string>()
  const next: FreeName = (resource, prefix) => {
    for (let name = free(resource, prefix), i = 2; ; name = `${prefix}-${i++}`) {
      if (taken.has(name)) continue
      taken.add(name)
      return name
    }
  }
  return [
    nodeText({ name: next('nodes', 'node'), zone: 'zone-a' }),
    nodeText({ name: next('nodes', 'node'), zone: 'zone-b', taint: { key: 'dedicated', value: 'batch' } }),
    podText(next('pods', 'pod')),
  ].join('---\n')
}

/** A FreeName over the names that are taken, keyed as objectKey keys them. */
export function freeNames(taken: { nodes: ReadonlySet<string>; pods: ReadonlySet<string> }): FreeName {
  return (resource, prefix) => {
    for (let i = 1; ; i++) {
      const name = `${prefix}-${i}`
      if (!taken[resource].has(resource === 'pods' ? `default/${name}` : name)) return name
    }
  }
}
