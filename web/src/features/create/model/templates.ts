// Manifests to start from: single objects, and situations of several objects that show one
// thing about scheduling. They use names that are free in the cluster.

import type { FreeName } from './freeNames'
import { nodeText, podText, selecting, workload } from './manifests'
import { situations, type Situation } from './situations'
import { templateIds, type TemplateId } from './templateIds'

export interface Template {
  id: TemplateId
  /** The manifests, and for a situation what the scheduler does with its pods. */
  make(free: FreeName): Situation
}

/** A template of plain objects, which promises nothing about placement. */
const plain = (text: string): Situation => ({ text, expected: [] })

const objects: Record<Exclude<TemplateId, keyof typeof situations>, (free: FreeName) => string> = {
  pod: (free) => podText({ name: free('pods', 'pod') }),
  node: (free) => nodeText({ name: free('nodes', 'node'), labels: { 'topology.kubernetes.io/zone': 'zone-a' } }),
  taintedNode: (free) =>
    nodeText({
      name: free('nodes', 'node'),
      labels: { 'topology.kubernetes.io/zone': 'zone-a' },
      taint: { key: 'dedicated', value: 'batch' },
    }),
  deployment: () =>
    workload({ kind: 'Deployment', group: 'apps/v1', name: 'web', spec: `  replicas: 3\n${selecting('web')}` }),
  statefulSet: () =>
    workload({
      kind: 'StatefulSet',
      group: 'apps/v1',
      name: 'store',
      spec: `  serviceName: store\n  replicas: 2\n${selecting('store')}`,
    }),
  daemonSet: () => workload({ kind: 'DaemonSet', group: 'apps/v1', name: 'agent', spec: selecting('agent') }),
  job: () =>
    workload({
      kind: 'Job',
      group: 'batch/v1',
      name: 'batch',
      spec: '  completions: 4\n  parallelism: 2\n',
      pod: '      restartPolicy: Never\n',
    }),
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

export const templates: readonly Template[] = templateIds.map((id) => ({
  id,
  make:
    id in situations
      ? situations[id as keyof typeof situations]
      : (free) => plain(objects[id as keyof typeof objects](free)),
}))
