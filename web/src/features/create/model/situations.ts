// Small situations that show one thing about scheduling: nodes, workloads and pods with a
// known outcome. Each pod selects the situation's own nodes by the label "example", so that
// the outcome is the same in a cluster with other nodes. A browser test applies every
// situation to a real API server and compares the outcome.

import type { FreeName } from './freeNames'
import { documents, nodeText, podText, selecting, workload, type NodeOptions } from './manifests'

/** What the scheduler does with the pods whose names start with `pods`. */
export interface Expected {
  pods: string
  count: number
  outcome: 'scheduled' | 'unschedulable' | 'held'
  /** scheduled: the nodes that they get, one each if there are several. */
  nodes?: readonly string[]
  /** unschedulable: plugins that reject nodes. held: the plugin that keeps them out of the queue. */
  by?: readonly string[]
  evicts?: readonly string[]
}

export interface Situation {
  text: string
  expected: readonly Expected[]
}

const zone = 'topology.kubernetes.io/zone'
const hostname = 'kubernetes.io/hostname'

/** Lines of a pod's spec that keep it on the nodes of a situation. */
const on = (example: string, indent = '  ') => `${indent}nodeSelector:\n${indent}  example: ${example}\n`
const indented = (lines: string) => lines.replace(/^(?=.)/gm, '    ')

/** One of the nodes of a situation, which letters tell apart. */
const nodeOf = (example: string, letter: string, more: Partial<NodeOptions> = {}) =>
  nodeText({ name: `${example}-${letter}`, labels: { example }, ...more })
/** The same, in a zone of its own. */
const zoneOf = (example: string, letter: string, more: Partial<NodeOptions> = {}) =>
  nodeOf(example, letter, { labels: { [zone]: `${example}-${letter}`, example }, ...more })
/** Lines of a workload's pods that spread them over the zones; `more` are further lines of the constraint. */
const overZones = (app: string, more = '') => `      topologySpreadConstraints:
      - topologyKey: ${zone}
        maxSkew: 1
        whenUnsatisfiable: DoNotSchedule
${more}        labelSelector:
          matchLabels:
            app: ${app}
`

function toleration(free: FreeName): Situation {
  const name = free('nodes', 'taint')
  const tolerations = `  tolerations:\n  - key: dedicated\n    operator: Equal\n    value: batch\n    effect: NoSchedule\n`
  return {
    text: documents(
      nodeText({ name, labels: { example: name }, taint: { key: 'dedicated', value: 'batch' } }),
      `# This pod tolerates the taint of the node.\n${podText({ name: `${name}-tolerates`, spec: on(name) + tolerations })}`,
      `# This one does not.\n${podText({ name: `${name}-refused`, spec: on(name) })}`
    ),
    expected: [
      { pods: `${name}-tolerates`, count: 1, outcome: 'scheduled', nodes: [name] },
      { pods: `${name}-refused`, count: 1, outcome: 'unschedulable', by: ['TaintToleration'] },
    ],
  }
}

function nodeAffinity(free: FreeName): Situation {
  const name = free('nodes', 'disk', '-ssd')
  const affinity = `  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - key: example
            operator: In
            values: [${name}]
          - key: disktype
            operator: In
            values: [ssd, nvme]
`
  const node = (disktype: string) => nodeText({ name: `${name}-${disktype}`, labels: { disktype, example: name } })
  return {
    text: documents(node('ssd'), node('hdd'), podText({ name: `${name}-pod`, spec: affinity })),
    expected: [{ pods: `${name}-pod`, count: 1, outcome: 'scheduled', nodes: [`${name}-ssd`] }],
  }
}

function failingZone(free: FreeName): Situation {
  const name = free('nodes', 'zones', '-a')
  const failing = { annotations: { 'kube-scheduler-simulator.sigs.k8s.io/failure': 'unreachable' } }
  const taintsCount = `        # With Honor, nodes with taints that the pod does not tolerate would not count.
        nodeTaintsPolicy: Ignore
`
  return {
    text: documents(
      zoneOf(name, 'a'),
      zoneOf(name, 'b'),
      `# This zone fails. To repair it, remove the annotation.\n${zoneOf(name, 'c', failing)}`,
      workload({
        kind: 'Deployment',
        group: 'apps/v1',
        name,
        spec: `  replicas: 4\n${selecting(name)}`,
        pod: on(name, '      ') + overZones(name, taintsCount),
      })
    ),
    expected: [
      { pods: `${name}-`, count: 2, outcome: 'scheduled', nodes: [`${name}-a`, `${name}-b`] },
      { pods: `${name}-`, count: 2, outcome: 'unschedulable', by: ['PodTopologySpread', 'TaintToleration'] },
    ],
  }
}

/** A term of pod affinity or anti-affinity, for pods that must share a node or must not. */
const podTerm = (kind: 'podAffinity' | 'podAntiAffinity', app: string) => `  affinity:
    ${kind}:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: ${hostname}
        labelSelector:
          matchLabels:
            app: ${app}
`

function podAffinity(free: FreeName): Situation {
  const name = free('nodes', 'near', '-a')
  return {
    text: documents(
      nodeOf(name, 'a'),
      nodeOf(name, 'b'),
      `# The cache is on ${name}-a: nodeName bypasses the scheduler.\n` +
        `${podText({ name: `${name}-cache`, app: `${name}-cache`, spec: `  nodeName: ${name}-a\n` })}`,
      podText({ name: `${name}-web`, spec: on(name) + podTerm('podAffinity', `${name}-cache`) })
    ),
    expected: [{ pods: `${name}-web`, count: 1, outcome: 'scheduled', nodes: [`${name}-a`] }],
  }
}

function antiAffinity(free: FreeName): Situation {
  const name = free('nodes', 'apart', '-a')
  return {
    text: documents(
      nodeOf(name, 'a'),
      nodeOf(name, 'b'),
      workload({
        kind: 'Deployment',
        group: 'apps/v1',
        name,
        spec: `  replicas: 3\n${selecting(name)}`,
        pod: on(name, '      ') + indented(podTerm('podAntiAffinity', name)),
      })
    ),
    expected: [
      { pods: `${name}-`, count: 2, outcome: 'scheduled', nodes: [`${name}-a`, `${name}-b`] },
      { pods: `${name}-`, count: 1, outcome: 'unschedulable', by: ['InterPodAffinity'] },
    ],
  }
}

function spread(free: FreeName): Situation {
  const name = free('nodes', 'spread', '-a')
  return {
    text: documents(
      zoneOf(name, 'a'),
      zoneOf(name, 'b'),
      `# This zone has room for only one of the pods.\n${zoneOf(name, 'c', { cpu: '1' })}`,
      workload({
        kind: 'Deployment',
        group: 'apps/v1',
        name,
        spec: `  replicas: 6\n${selecting(name)}`,
        pod: on(name, '      ') + overZones(name),
        cpu: '800m',
      })
    ),
    expected: [
      {
        pods: `${name}-`,
        count: 5,
        outcome: 'scheduled',
        nodes: [`${name}-a`, `${name}-a`, `${name}-b`, `${name}-b`, `${name}-c`],
      },
      { pods: `${name}-`, count: 1, outcome: 'unschedulable', by: ['NodeResourcesFit', 'PodTopologySpread'] },
    ],
  }
}

const priorityClass = (name: string, value: number) => `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: ${name}
value: ${value}
globalDefault: false
preemptionPolicy: PreemptLowerPriority
description: Pods of this class may evict pods of lower priority.
`

function fullNode(free: FreeName): Situation {
  const name = free('nodes', 'full')
  const filler = (n: number) =>
    podText({ name: `${name}-low-${n}`, app: 'low', cpu: '1', spec: `  nodeName: ${name}\n` })
  return {
    text: documents(
      nodeText({ name, labels: { example: name }, cpu: '2' }),
      priorityClass(`${name}-urgent`, 1000),
      `# These pods fill the node. They are already there: nodeName bypasses the scheduler.\n${filler(1)}`,
      filler(2),
      podText({
        name: `${name}-urgent`,
        app: 'urgent',
        cpu: '2',
        spec: `  priorityClassName: ${name}-urgent\n${on(name)}`,
      })
    ),
    expected: [
      {
        pods: `${name}-urgent`,
        count: 1,
        outcome: 'scheduled',
        nodes: [name],
        evicts: [`${name}-low-1`, `${name}-low-2`],
      },
    ],
  }
}

function guarded(free: FreeName): Situation {
  const name = free('nodes', 'budget', '-a')
  const filler = (letter: string, app: string) =>
    podText({ name: `${name}-${app}`, app: `${name}-${app}`, cpu: '1', spec: `  nodeName: ${name}-${letter}\n` })
  return {
    text: documents(
      nodeOf(name, 'a', { cpu: '1' }),
      nodeOf(name, 'b', { cpu: '1' }),
      priorityClass(`${name}-urgent`, 1000),
      `# Allows no disruption of the pod on ${name}-a.
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: ${name}
  namespace: default
spec:
  minAvailable: 1
  selector:
    matchLabels:
      app: ${name}-guarded
`,
      `# Both nodes are full: nodeName bypasses the scheduler.\n${filler('a', 'guarded')}`,
      filler('b', 'unguarded'),
      podText({
        name: `${name}-urgent`,
        app: 'urgent',
        cpu: '1',
        spec: `  priorityClassName: ${name}-urgent\n${on(name)}`,
      })
    ),
    expected: [
      { pods: `${name}-urgent`, count: 1, outcome: 'scheduled', nodes: [`${name}-b`], evicts: [`${name}-unguarded`] },
    ],
  }
}

function gates(free: FreeName): Situation {
  const name = free('nodes', 'gated')
  return {
    text: documents(
      nodeText({ name, labels: { example: name } }),
      podText({ name: `${name}-pod`, spec: `  schedulingGates:\n  - name: example.com/quota\n${on(name)}` })
    ),
    expected: [{ pods: `${name}-pod`, count: 1, outcome: 'held', by: ['SchedulingGates'] }],
  }
}

function podGroup(free: FreeName): Situation {
  const name = free('nodes', 'gang')
  const member = (n: number) =>
    podText({
      name: `${name}-worker-${n}`,
      app: 'worker',
      cpu: '1',
      spec: `  schedulingGroup:\n    podGroupName: ${name}\n${on(name)}`,
    })
  return {
    text: documents(
      `# Room for two workers.\n${nodeText({ name, labels: { example: name }, cpu: '2' })}`,
      `apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata:
  name: ${name}
  namespace: default
spec:
  schedulingPolicy:
    gang:
      minCount: 3
`,
      member(1),
      member(2),
      member(3)
    ),
    expected: [{ pods: `${name}-worker-`, count: 3, outcome: 'unschedulable', by: ['NodeResourcesFit'] }],
  }
}

function coscheduling(free: FreeName): Situation {
  const name = free('nodes', 'batch', '-a')
  const group = (part: string) => `apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata:
  name: ${name}-${part}
  namespace: default
spec:
  minMember: 3
`
  const members = (part: string, letter: string) =>
    [1, 2, 3].map((n) =>
      podText({
        name: `${name}-${part}-${n}`,
        cpu: '1',
        labels: { 'scheduling.x-k8s.io/pod-group': `${name}-${part}` },
        spec: on(`${name}-${letter}`),
      })
    )
  return {
    text: documents(
      `# Room for the three members of one group.\n${nodeText({ name: `${name}-a`, labels: { example: `${name}-a` }, cpu: '3' })}`,
      `# Room for two of the three members of the other group.\n` +
        `${nodeText({ name: `${name}-b`, labels: { example: `${name}-b` }, cpu: '2' })}`,
      group('fits'),
      group('waits'),
      ...members('fits', 'a'),
      ...members('waits', 'b')
    ),
    expected: [
      { pods: `${name}-fits-`, count: 3, outcome: 'scheduled', nodes: [`${name}-a`, `${name}-a`, `${name}-a`] },
      // Which member finds its node full changes from one attempt to the next.
      { pods: `${name}-waits-`, count: 3, outcome: 'unschedulable' },
    ],
  }
}

function elasticQuota(free: FreeName): Situation {
  const name = free('nodes', 'quota', '-a')
  const team = (which: string) => `apiVersion: v1
kind: Namespace
metadata:
  name: ${name}-${which}
`
  const quota = (which: string) => `apiVersion: scheduling.x-k8s.io/v1alpha1
kind: ElasticQuota
metadata:
  name: ${name}-${which}
  namespace: ${name}-${which}
spec:
  min:
    cpu: "4"
    memory: 8Gi
  max:
    cpu: "6"
    memory: 12Gi
`
  const borrower = (n: number, spec: string) =>
    podText({ name: `${name}-borrower-${n}`, namespace: `${name}-borrower`, cpu: '2', spec })
  const placed = (n: number, letter: string) => borrower(n, `  nodeName: ${name}-${letter}\n`)
  const node = (letter: string) =>
    nodeText({ name: `${name}-${letter}`, labels: { example: `${name}-${letter}` }, cpu: '4' })
  return {
    text: documents(
      node('a'),
      node('b'),
      team('borrower'),
      team('owner'),
      `# Each team is guaranteed half of the 8 CPUs, and may use 6 of them.\n${quota('borrower')}`,
      quota('owner'),
      `# These run already: nodeName bypasses the scheduler.\n${placed(1, 'a')}`,
      placed(2, 'a'),
      `# This one borrows what the other team does not use.\n${placed(3, 'b')}`,
      `# This one would take its team above its max.\n${borrower(4, on(`${name}-a`))}`,
      `# This one takes back what was borrowed.\n` +
        `${podText({ name: `${name}-owner-1`, namespace: `${name}-owner`, cpu: '4', spec: on(`${name}-b`) })}`
    ),
    expected: [
      { pods: `${name}-borrower-`, count: 2, outcome: 'scheduled', nodes: [`${name}-a`, `${name}-a`] },
      { pods: `${name}-borrower-4`, count: 1, outcome: 'unschedulable' },
      { pods: `${name}-owner-1`, count: 1, outcome: 'scheduled', nodes: [`${name}-b`], evicts: [`${name}-borrower-3`] },
    ],
  }
}

function numa(free: FreeName): Situation {
  const name = free('nodes', 'numa')
  const pod = (part: string, cpu: string) =>
    podText({
      name: `${name}-${part}`,
      spec: on(name),
      cpu,
      resources: `      limits:\n        cpu: ${cpu}\n        memory: 512Mi\n`,
    })
  return {
    text: documents(
      `# The node has two NUMA nodes with 4 CPUs each.\n${nodeText({ name, labels: { example: name }, numa: '{zones: 2}' })}`,
      pod('fits', '3'),
      `# The node has 5 CPUs left, but neither of its NUMA nodes has.\n${pod('large', '5')}`
    ),
    expected: [
      { pods: `${name}-fits`, count: 1, outcome: 'scheduled', nodes: [name] },
      { pods: `${name}-large`, count: 1, outcome: 'unschedulable', by: ['NodeResourceTopologyMatch'] },
    ],
  }
}

function volume(free: FreeName): Situation {
  const name = free('nodes', 'local', '-a')
  return {
    text: documents(
      zoneOf(name, 'a'),
      zoneOf(name, 'b'),
      `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: ${name}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
`,
      `# This volume exists in one zone only.
apiVersion: v1
kind: PersistentVolume
metadata:
  name: ${name}
spec:
  capacity:
    storage: 10Gi
  accessModes: [ReadWriteOnce]
  storageClassName: ${name}
  persistentVolumeReclaimPolicy: Retain
  local:
    path: /mnt/disk
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions:
        - key: ${zone}
          operator: In
          values: [${name}-b]
`,
      `apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: ${name}-claim
  namespace: default
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: ${name}
  resources:
    requests:
      storage: 5Gi
`,
      podText({
        name: `${name}-pod`,
        spec: `${on(name)}  volumes:\n  - name: store\n    persistentVolumeClaim:\n      claimName: ${name}-claim\n`,
      })
    ),
    expected: [{ pods: `${name}-pod`, count: 1, outcome: 'scheduled', nodes: [`${name}-b`] }],
  }
}

function claims(free: FreeName): Situation {
  const name = free('nodes', 'store', '-a')
  const apart = `${on(name, '      ')}${indented(podTerm('podAntiAffinity', name))}`
  return {
    text: documents(
      zoneOf(name, 'a'),
      zoneOf(name, 'b'),
      `# Creates a volume where the first pod of its claim is placed.
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: ${name}
provisioner: disk.example.com
volumeBindingMode: WaitForFirstConsumer
`,
      `apiVersion: v1
kind: Service
metadata:
  name: ${name}
  namespace: default
spec:
  clusterIP: None
  selector:
    app: ${name}
`,
      workload({
        kind: 'StatefulSet',
        group: 'apps/v1',
        name,
        spec: `  serviceName: ${name}
  replicas: 2
${selecting(name)}  volumeClaimTemplates:
  - metadata:
      name: data
    spec:
      accessModes: [ReadWriteOnce]
      storageClassName: ${name}
      resources:
        requests:
          storage: 5Gi
`,
        pod: apart,
        container: `        volumeMounts:\n        - name: data\n          mountPath: /data\n`,
      })
    ),
    expected: [{ pods: `${name}-`, count: 2, outcome: 'scheduled', nodes: [`${name}-a`, `${name}-b`] }],
  }
}

function device(free: FreeName): Situation {
  const name = free('nodes', 'gpu')
  const claim = (n: number) => `apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: ${name}-claim-${n}
  namespace: default
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: ${name}
`
  const pod = (n: number) =>
    podText({
      name: `${name}-pod-${n}`,
      spec: `${on(name)}  resourceClaims:\n  - name: gpu\n    resourceClaimName: ${name}-claim-${n}\n`,
      resources: '      claims:\n      - name: gpu\n',
    })
  return {
    text: documents(
      nodeText({ name, labels: { example: name } }),
      `apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata:
  name: ${name}
spec:
  selectors:
  - cel:
      expression: device.driver == "${name}.example.com"
`,
      `# The node has one device.
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: ${name}
spec:
  driver: ${name}.example.com
  nodeName: ${name}
  pool:
    name: ${name}
    generation: 1
    resourceSliceCount: 1
  devices:
  - name: gpu-0
`,
      claim(1),
      claim(2),
      pod(1),
      pod(2)
    ),
    expected: [
      { pods: `${name}-pod-`, count: 1, outcome: 'scheduled', nodes: [name] },
      { pods: `${name}-pod-`, count: 1, outcome: 'unschedulable', by: ['DynamicResources'] },
    ],
  }
}

export const situations = {
  toleration,
  nodeAffinity,
  failingZone,
  podAffinity,
  antiAffinity,
  spread,
  fullNode,
  guarded,
  gates,
  podGroup,
  coscheduling,
  elasticQuota,
  numa,
  volume,
  claims,
  device,
} as const
