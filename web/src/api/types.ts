// The application's names for the types of schema.ts, which `npm run generate` generates from
// the OpenAPI document; and the few Kubernetes objects that we read, with only the fields
// that we read.

import type { components } from './schema'

type Schemas = components['schemas']

/** How a cycle ended. */
export type Outcome = Schemas['Outcome']
export const outcomes: readonly Outcome[] = ['scheduled', 'unschedulable', 'waiting', 'error']

/** A cycle in short. */
export type Summary = Schemas['Summary']
/** Why a cycle placed no pod, in short. */
export type Refusal = Schemas['Refusal']
export type SummaryPage = Schemas['Page']
/** Counts of all decisions that match a search, with its facets. */
export type Counts = Schemas['Counts']
export type Facet = Schemas['Facet']
export type Timeline = Schemas['Timeline']
/** A field in which two configurations differ; `default` is its value in the first one. */
export type ConfigurationDifference = Schemas['Difference']
/** A pod's attempts, oldest first, and the plugins that keep it out of the queue now. */
export type Attempts = Schemas['Attempts']
/** The full record of one attempt, with its explanation. */
export type Cycle = Schemas['ExplainedCycle']
export type PluginResult = Schemas['PluginResult']
/** The matrix of node × plugin. Missing nodes were not evaluated. */
export type FilterResult = Schemas['Filter']
/** Why a plugin, or an extender by its URL, rejected a node. */
export type NodeReasons = Schemas['NodeReasons']
export type ScorePlugin = Schemas['ScorePlugin']
/** The scores of the feasible nodes. */
export type Score = Schemas['Score']
/** The inputs from which the raw scores of some nodes follow, by plugin. */
export type PluginScoreFacts = Schemas['PluginScoreFacts']
/** The server's explanation of why the pod got its node, or none. */
export type Explanation = Schemas['Explanation']
/** How the cycle ended and why: a kind and its operands. */
export type Headline = Schemas['Headline']
/** A further fact about the cycle: a kind and its operands. */
export type Remark = Schemas['Remark']
/** How many pods a pod group lacked, and what blocked it. */
export type GroupShortfall = Schemas['GroupShortfall']
export type PodRequest = Schemas['PodRequest']
export type ResourceHolder = Schemas['ResourceHolder']
export type ResourceUse = Schemas['ResourceUse']
export type Margin = Schemas['Margin']
export type NotEvaluated = Schemas['NotEvaluated']
export type Preemption = Schemas['Preemption']
export type PreemptionRule = Schemas['PreemptionRule']
export type Victim = Schemas['Victim']
export type PodGroup = Schemas['PodGroup']
export type PodRef = Schemas['PodRef']
export type Status = Schemas['Status']
/** The scheduling queue: the number of pods in each part, and the events that moved them there. */
export type Queues = Schemas['Queues']
export type QueueState = Schemas['QueueState']
export type QueueWait = Schemas['QueueWait']
/** A part of an error, with its position in the submitted document if known. */
export type ErrorDetail = Schemas['ErrorDetail']
/** An applied configuration. Lists omit its document. */
export type Revision = Schemas['Revision']
export type Applied = Schemas['Applied']
/** The configuration in force: the document completed with Kubernetes' defaults. */
export type Effective = Schemas['Effective']
export type EffectiveProfile = Schemas['EffectiveProfile']
export type FeatureGate = Schemas['FeatureGate']

export type PermitWait = Schemas['PermitWait']
export type ExtensionCalls = Schemas['ExtensionCalls']
/** What became of the victims of preemption. */
export type Evictions = Schemas['Evictions']

/** One request to a scheduler extender and its response; with status Skip it was not called. */
export type ExtenderCall = Schemas['ExtenderCall']
/** A fact that a plugin recorded about the cycle or about one node. */
export type Fact = Schemas['Fact']
export type Panic = Schemas['Panic']
export type ImportMode = ImportReport['mode']
/** The progress of an import. */
export type ImportProgress = Schemas['ImportProgress']
/** A note about an object, or about a position in the input. */
export type ImportItem = Schemas['ImportItem']
export type ImportReport = Schemas['ImportReport']
/** The running import, or the last one. */
export type ImportState = Schemas['ImportState']
/** An imported part that calls no other program until the user activates it. */
export type Inactive = Schemas['Inactive']
/** A line of an import's response; exactly one field is set. */
export type ImportLine = Schemas['ImportLine']
/** A custom resource definition of one of the simulator's own plugins. */
export type Definition = Schemas['Definition']
/** The result of a reset. */
export type Reset = Schemas['Reset']
/** The body of the simulator's error responses. */
export type ServerError = Schemas['Error']

// ── hypotheses ──────────────────────────────────────────────────────────

/** A cycle that was only asked for: nothing was scheduled. */
export type HypotheticalCycle = Cycle & { hypothetical: true }
/** A hypothetical change of the cluster: apply, patch or delete. */
export type Change = Schemas['Change']
export type ChangeTarget = Schemas['ChangeTarget']
/** The state that was asked. */
export type HypotheticalState = Schemas['HypotheticalState']
export type SchedulerTurn = Schemas['SchedulerTurn']
export type WhatIfQuestion = Omit<Schemas['WhatIf'], 'copies'> & { copies?: number }
export type WhatIfAnswer = Omit<Schemas['WhatIfAnswer'], 'decisions'> & { decisions: HypotheticalCycle[] }
export type FitQuestion = Omit<Schemas['Fit'], 'limit'> & { limit?: number }
export type FitAnswer = Schemas['FitAnswer']
/** A verified change that makes a pod fit. */
export type Suggestion = Schemas['Suggestion']
/** One thing that a suggestion changes: a kind and its operands. */
export type AdviceStep = Schemas['AdviceStep']
/** What becomes of the pod, if it does not stay. */
export type AdviceManner = Schemas['AdviceManner']
/** What the search for suggestions left out. */
export type AdviceOmission = Schemas['AdviceOmission']
/** A plugin's reason on some nodes; no nodes: it rejects the pod, whatever the node. */
export type PluginNodes = Schemas['PluginNodes']
export type CapacityQuestion = Omit<Schemas['Capacity'], 'limit'> & { limit?: number }
export type CapacityAnswer = Schemas['CapacityAnswer']
/** A second configuration that judges the decisions of the first. */
export type Shadow = Schemas['Shadow']
export type ShadowItem = Schemas['ShadowItem']
export type ShadowVerdict = Schemas['ShadowVerdict']
export type ShadowCounts = Schemas['ShadowCounts']
export type ShadowDraftAnswer = Schemas['ShadowDraftAnswer']
export type PartedBy = Schemas['PartedBy']

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

/** The queues of Kueue: whether they are served, quota, what waits and what holds quota. */
export type Kueue = Schemas['Kueue']
export type KueueView = Schemas['KueueView']
export type KueueConfiguration = Schemas['KueueConfiguration']
export type QueueNode = Schemas['QueueNode']
export type QueueQuota = Schemas['QueueQuota']
export type PendingWorkload = Schemas['PendingWorkload']
export type QuotaHolder = Schemas['QuotaHolder']
export type WorkloadRef = Schemas['WorkloadRef']
/** One cycle of admission, and what it did with one workload. */
export type AdmissionEntry = Schemas['AdmissionEntry']
export type AdmissionProblem = Schemas['AdmissionProblem']
export type IgnoredConfiguration = Schemas['IgnoredConfiguration']
export type AdmissionHead = Schemas['AdmissionHead']
export type AdmissionFlavor = Schemas['AdmissionFlavor']
export type AdmissionReason = Schemas['AdmissionReason']
export type AdmissionSuggestions = Schemas['AdmissionSuggestions']
export type AdmissionCheckState = Schemas['AdmissionCheckState']
export type RunRequest = Schemas['RunRequest']
export type RunEntry = Schemas['RunEntry']
export type RunResult = Schemas['RunResult']
export type RunStep = Schemas['RunStep']
export type RunPlaced = Schemas['RunPlaced']
export type RunExpectation = Schemas['RunExpectation']
export type RunFinding = Schemas['RunFinding']
export type RunDecision = Schemas['RunDecision']
/** What came of a sweep so far: its points, the best first. */
export type RunSweep = Schemas['RunSweep']
export type RunPoint = Schemas['RunPoint']
/** A whole decision of a run, in the form of a report. */
export type RunDecisionRecord = Schemas['RunDecisionRecord']
export type RunComparison = Schemas['RunComparison']
export type RunMetricComparison = Schemas['RunMetricComparison']
/** The session schedulers and the flow scheduler. */
export type SessionList = Schemas['SessionList']
export type SessionEntry = Schemas['SessionEntry']
export type SessionSettings = Schemas['SessionSettings']
export type SessionConfiguration = Schemas['SessionConfiguration']
export type Session = Schemas['Session']
export type SessionQueue = Schemas['SessionQueue']
export type SessionJob = Schemas['SessionJob']
export type SessionNode = Schemas['SessionNode']
export type SessionWhy = Schemas['SessionWhy']
export type SessionGiver = Schemas['SessionGiver']
export type SessionAction = Schemas['SessionAction']
export type SessionDecision = Schemas['SessionDecision']
export type FlowSettings = Schemas['FlowSettings']
export type FlowNetwork = Schemas['FlowNetwork']
export type FlowPlacement = Schemas['FlowPlacement']
export type FlowRound = Schemas['FlowRound']
export type FlowComparedTask = Schemas['FlowComparedTask']
export type FlowComparison = Schemas['FlowComparison']
