// The types of schema.ts, which `npm run generate` generates from the OpenAPI document, some under
// another name; and the few Kubernetes objects that we read, with only the fields that we read.

import type * as schema from './schema'

export type * from './schema'

export const outcomes: readonly schema.Outcome[] = ['scheduled', 'unschedulable', 'waiting', 'error']

export type SummaryPage = schema.Page
/** A field in which two configurations differ; `default` is its value in the first one. */
export type ConfigurationDifference = schema.Difference
/** The full record of one attempt, with its explanation. */
export type Cycle = schema.ExplainedCycle
/** The matrix of node × plugin. Missing nodes were not evaluated. */
export type FilterResult = schema.Filter

export type ImportMode = schema.ImportReport['mode']
/** The body of the simulator's error responses. */
export type ServerError = schema.Error

// Hypotheses.

/** A cycle that was only asked for: nothing was scheduled. */
export type HypotheticalCycle = Cycle & { hypothetical: true }
export type WhatIfQuestion = Omit<schema.WhatIf, 'copies'> & { copies?: number }
export type WhatIfAnswer = Omit<schema.WhatIfAnswer, 'decisions'> & { decisions: HypotheticalCycle[] }
export type FitQuestion = Omit<schema.Fit, 'limit'> & { limit?: number }
export type CapacityQuestion = Omit<schema.Capacity, 'limit'> & { limit?: number }

// Kubernetes.

export interface OwnerReference {
  kind: string
  name: string
  controller?: boolean
}

export interface ObjectMeta {
  name: string
  namespace?: string
  generateName?: string
  uid?: string
  resourceVersion?: string
  creationTimestamp?: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
}

/** Any Kubernetes object, with the fields that all kinds share. */
export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
  [field: string]: unknown
}

export interface Taint {
  key: string
  value?: string
  effect: string
  /** When the node lifecycle controller added it. */
  timeAdded?: string
}

export interface Node extends KubeObject {
  spec?: { unschedulable?: boolean; taints?: Taint[] }
  status?: {
    allocatable?: Record<string, string>
    capacity?: Record<string, string>
    conditions?: Condition[]
  }
}

export interface Condition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export interface Container {
  name: string
  image?: string
  restartPolicy?: string
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
}

export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
  tolerationSeconds?: number
}

export interface Pod extends KubeObject {
  spec?: {
    tolerations?: Toleration[]
    nodeName?: string
    schedulerName?: string
    priority?: number
    priorityClassName?: string
    containers?: Container[]
    initContainers?: Container[]
    overhead?: Record<string, string>
    resources?: { requests?: Record<string, string> }
    schedulingGates?: { name: string }[]
    schedulingGroup?: { podGroupName?: string }
    resourceClaims?: { name: string; resourceClaimName?: string }[]
  }
  status?: {
    phase?: string
    reason?: string
    message?: string
    nominatedNodeName?: string
    qosClass?: 'Guaranteed' | 'Burstable' | 'BestEffort'
    conditions?: Condition[]
  }
}

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

/** A kind that the API server serves. */
export interface KindInfo {
  group: string
  version: string
  kind: string
  /** The plural name, as in paths. */
  resource: string
  namespaced: boolean
  verbs: string[]
  /** Such as status and scale; undefined if the kind does not come from discovery. */
  subresources?: string[]
}
