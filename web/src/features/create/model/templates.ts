// Manifests to start from: single objects, and situations of several objects that show one
// thing about scheduling. They use names that are free in the cluster.

import { situations, type Situation } from './situations'
import { nodeText, podText, selecting, workload, type FreeName } from './manifests'

export type { FreeName } from './manifests'
export type { Expected } from './situations'

export interface Template {
  id: TemplateId
  /** The manifests, and for a situation what the scheduler does with its pods. */
  make(free: FreeName): Situation
}

/** The templates by topic, in the order in which the dialog shows them. */
export const templateTopics = {
  objects: ['pod', 'node', 'taintedNode', 'namespace', 'priorityClass', 'disruptionBudget', 'customKind'],
  workloads: ['deployment', 'statefulSet', 'daemonSet', 'job'],
  nodes: ['toleration', 'nodeAffinity', 'failingZone'],
  neighbours: ['podAffinity', 'antiAffinity', 'spread'],
  priority: ['fullNode', 'guarded'],
  waiting: ['gates', 'podGroup'],
  resources: ['volume', 'claims', 'device'],
} as const
export type TemplateTopic = keyof typeof templateTopics
export type TemplateId = (typeof templateTopics)[TemplateTopic][number]
export const templateIds: readonly TemplateId[] = Object.values(templateTopics).flat()

/** A template of plain objects, which promises nothing about placement. */
const plain = (text: string): Situation => ({ text, expected: [] })

const objects: Record<Exclude<TemplateId, keyof typeof situations>, (free: FreeName) => string> = {
  pod: (free) => podText({ name: free('pods', 'pod') }),
  node: (free) => nodeText({ name: free('nodes', 'node'), labels: { 'topology.kubernetes.io/zone': 'zone-a' } }),
  taintedNode: (free) => nodeText({ name: free('nodes', 'node'), labels: { 'topology.kubernetes.io/zone': 'zone-a' }, taint: { key: 'dedicated', value: 'batch' } }),
  deployment: () => workload({ kind: 'Deployment', group: 'apps/v1', name: 'web', spec: `  replicas: 3\n${selecting('web')}` }),
  statefulSet: () => workload({ kind: 'StatefulSet', group: 'apps/v1', name: 'store', spec: `  serviceName: store\n  replicas: 2\n${selecting('store')}` }),
  daemonSet: () => workload({ kind: 'DaemonSet', group: 'apps/v1', name: 'agent', spec: selecting('agent') }),
  job: () => workload({ kind: 'Job', group: 'batch/v1', name: 'batch', spec: '  completions: 4\n  parallelism: 2\n', pod: '      restartPolicy: Never\n' }),
  disruptionBudget: () => `apiVersion: policy/v1
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
  customKind: () => `apiVersion: apiextensions.k8s.io/v1
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
  priorityClass: () => `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: high
value: 100000
globalDefault: false
preemptionPolicy: PreemptLowerPriority
description: Pods of this class are scheduled before pods of lower priority.
`,
  namespace: () => `apiVersion: v1
kind: Namespace
metadata:
  name: shop
`,
}

export const templates: readonly Template[] = templateIds.map((id) => ({ id, make: id in situations ? situations[id as keyof typeof situations] : (free) => plain(objects[id as keyof typeof objects](free)) }))

/** The most typical template of a resource. Kinds without one start from the required fields of their schema. */
export const templateOfResource: Readonly<Record<string, TemplateId>> = {
  'nodes': 'node',
  'pods': 'pod',
  'deployments.apps': 'deployment',
  'statefulsets.apps': 'statefulSet',
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
  return (resource, prefix, suffix = '') => {
    for (let i = 1; ; i++) {
      const name = `${prefix}-${i}`
      if (!taken[resource].has(`${resource === 'pods' ? 'default/' : ''}${name}${suffix}`)) return name
    }
  }
}
