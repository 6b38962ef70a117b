// Types of the HTTP API, by the names that the application uses for what schema.ts
// says (generated from the OpenAPI document by `npm run generate`), and of the few
// Kubernetes objects that are read here, with only the fields that are read.

import type { components } from './schema'

type Schemas = components['schemas']

/** How a cycle ended. */
export type Outcome = Schemas['Outcome']
export const outcomes: readonly Outcome[] = ['scheduled', 'unschedulable', 'waiting', 'error']

/** A cycle in a line. */
export type Summary = Schemas['Summary']
/** Who kept a pod from its place, in a line. */
export type Refusal = Schemas['Refusal']
export type SummaryPage = Schemas['Page']
/** A pod's attempts, oldest first, and the plugins that keep it out of the queue now. */
export type Attempts = Schemas['Attempts']
/** Everything that is known of one attempt, with its explanation. */
export type Cycle = Schemas['ExplainedCycle']
export type PluginResult = Schemas['PluginResult']
/** The matrix of node × plugin. Nodes that are not in it were not evaluated. */
export type FilterResult = Schemas['Filter']
export type ScorePlugin = Schemas['ScorePlugin']
/** Scores of the feasible nodes; rows are nodes. Absent with one feasible node. */
export type ScoreResult = Schemas['Score']
/** Why the pod landed there, or nowhere, as the server says it. */
export type Explanation = Schemas['Explanation']
/** How the cycle ended and why, as a kind and its operands. */
export type Headline = Schemas['Headline']
/** What else is worth knowing, as a kind and its operands. */
export type Remark = Schemas['Remark']
/** How near a pod group came, and what blocked it. */
export type GroupShortfall = Schemas['GroupShortfall']
export type Margin = Schemas['Margin']
export type NotEvaluated = Schemas['NotEvaluated']
export type Preemption = Schemas['Preemption']
export type PreemptionRule = Schemas['PreemptionRule']
export type Victim = Schemas['Victim']
export type PodGroup = Schemas['PodGroup']
export type PodRef = Schemas['PodRef']
export type Status = Schemas['Status']
/** The scheduling queue: how many pods each part of it holds, and what moved them there. */
export type Queues = Schemas['Queues']
export type QueueState = Schemas['QueueState']
/** A part of an error, with its place in the document that was sent where that is known. */
export type ErrorDetail = Schemas['ErrorDetail']
/** A configuration that was applied. Its document comes only with the single one. */
export type Revision = Schemas['Revision']
export type Applied = Schemas['Applied']
/** The configuration as it is in force: the document and all that it leaves to Kubernetes. */
export type Effective = Schemas['Effective']
export type EffectiveProfile = Schemas['EffectiveProfile']
export type FeatureGate = Schemas['FeatureGate']

/** One request to a scheduler extender and its answer; with status Skip it was not called. */
export type ExtenderCall = Schemas['ExtenderCall']
/** What a plugin attached itself, about the cycle or about one node. */
export type Fact = Schemas['Fact']
export type Panic = Schemas['Panic']
export type ImportMode = ImportReport['mode']
/** How far an import is. */
export type ImportProgress = Schemas['ImportProgress']
/** Something to say about an object, or about a place in the input. */
export type ImportItem = Schemas['ImportItem']
export type ImportReport = Schemas['ImportReport']
/** The import that runs, or the last one. */
export type ImportState = Schemas['ImportState']
/** A line of the stream that an import answers with: one of its members. */
export type ImportLine = Schemas['ImportLine']
/** What a reset has done. */
export type Reset = Schemas['Reset']
/** What the simulator answers when it refuses. */
export type ServerError = Schemas['Error']

// ── Kubernetes ──────────────────────────────────────────────────────────

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

/** Any Kubernetes object, as far as it is the same for all kinds. */
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
    conditions?: Condition[]
  }
}

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

/** metav1.Status, which the API server answers errors with. */
export interface KubeStatus {
  kind: 'Status'
  message?: string
  reason?: string
  code?: number
  details?: { name?: string; kind?: string; causes?: StatusCause[] }
}

/** A kind that the API server serves. */
export interface KindInfo {
  group: string
  version: string
  kind: string
  /** Plural name, as in paths. */
  resource: string
  namespaced: boolean
  verbs: string[]
  /** Such as status and scale; undefined where discovery was not asked. */
  subresources?: string[]
}
