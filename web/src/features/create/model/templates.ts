// Manifests to start from. They use names that are free in the cluster.

/** Finds a free name: prefix-1, prefix-2, … */
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
  'podSpread',
  'deployment',
  'job',
  'daemonSet',
  'volume',
  'device',
  'priorityClass',
  'disruptionBudget',
  'namespace',
  'customKind',
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

const spread = `  topologySpreadConstraints:
  - topologyKey: topology.kubernetes.io/zone
    maxSkew: 1
    whenUnsatisfiable: DoNotSchedule
    labelSelector:
      matchLabels:
        app: web
`

/** A manifest of a workload controller: head, then the pod template. */
function workload(kind: string, group: string, name: string, spec: string, pod = ''): string {
  return `apiVersion: ${group}
kind: ${kind}
metadata:
  name: ${name}
  namespace: default
spec:
${spec}  template:
    metadata:
      labels:
        app: ${name}
    spec:
${pod}      containers:
      - name: ${name}
        image: registry.k8s.io/pause:3.10
        resources:
          requests:
            cpu: 500m
            memory: 512Mi
`
}
const selecting = (name: string) => `  selector:\n    matchLabels:\n      app: ${name}\n`

export const templates: readonly Template[] = [
  { id: 'pod', text: (free) => podText(free('pods', 'pod')) },
  { id: 'node', text: (free) => nodeText({ name: free('nodes', 'node'), zone: 'zone-a' }) },
  {
    id: 'taintedNode',
    text: (free) => nodeText({ name: free('nodes', 'node'), zone: 'zone-a', taint: { key: 'dedicated', value: 'batch' } }),
  },
  { id: 'podAffinity', text: (free) => podText(free('pods', 'pod'), affinity) },
  { id: 'podSpread', text: (free) => podText(free('pods', 'pod'), spread) },
  { id: 'deployment', text: () => workload('Deployment', 'apps/v1', 'web', `  replicas: 3\n${selecting('web')}`) },
  { id: 'job', text: () => workload('Job', 'batch/v1', 'batch', '  completions: 4\n  parallelism: 2\n', '      restartPolicy: Never\n') },
  { id: 'daemonSet', text: () => workload('DaemonSet', 'apps/v1', 'agent', selecting('agent')) },
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
    id: 'device',
    text: (free) => `apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata:
  name: gpu
spec:
  selectors:
  - cel:
      expression: device.driver == "gpu.example.com"
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: node-1-gpu
spec:
  driver: gpu.example.com
  nodeName: node-1
  pool:
    name: node-1
    generation: 1
    resourceSliceCount: 1
  devices:
  - name: gpu-0
  - name: gpu-1
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: one-gpu
  namespace: default
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu
---
${podText(free('pods', 'pod'), '  resourceClaims:\n  - name: gpu\n    resourceClaimName: one-gpu\n').replace('    resources:\n', '    resources:\n      claims:\n      - name: gpu\n')}`,
  },
  {
    id: 'disruptionBudget',
    text: () => `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
  namespace: default
spec:
  minAvailable: 2
  selector:
    matchLabels:
      app: web
`,
  },
  {
    id: 'customKind',
    text: () => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: queues.example.com
spec:
  group: example.com
  scope: Namespaced
  names:
    kind: Queue
    plural: queues
    singular: queue
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - name: Weight
      type: integer
      jsonPath: .spec.weight
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              weight:
                type: integer
                description: The weight of this queue.
---
apiVersion: example.com/v1
kind: Queue
metadata:
  name: research
  namespace: default
spec:
  weight: 3
`,
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
description: Pods of this class are scheduled before pods of lower priority.
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

/** The most typical template of a resource. Kinds without one start from the required fields of their schema. */
export const templateOfResource: Readonly<Record<string, TemplateId>> = {
  'nodes': 'node',
  'pods': 'pod',
  'deployments.apps': 'deployment',
  'daemonsets.apps': 'daemonSet',
  'jobs.batch': 'job',
  'priorityclasses.scheduling.k8s.io': 'priorityClass',
  'namespaces': 'namespace',
  'persistentvolumes': 'volume',
  'persistentvolumeclaims': 'volume',
  'storageclasses.storage.k8s.io': 'volume',
  'poddisruptionbudgets.policy': 'disruptionBudget',
  'resourceclaims.resource.k8s.io': 'device',
  'resourceslices.resource.k8s.io': 'device',
  'deviceclasses.resource.k8s.io': 'device',
  'customresourcedefinitions.apiextensions.k8s.io': 'customKind',
}

/** A FreeName for a set of names in use, keyed like objectKey. */
export function freeNames(taken: { nodes: ReadonlySet<string>; pods: ReadonlySet<string> }): FreeName {
  return (resource, prefix) => {
    for (let i = 1; ; i++) {
      const name = `${prefix}-${i}`
      if (!taken[resource].has(resource === 'pods' ? `default/${name}` : name)) return name
    }
  }
}
