// What a pod requests, which owner it has, and why it has no node yet.

import type { Condition, Container, Pod } from '@/api/types'
import { parseQuantity } from './quantity'

/** Amounts by resource name, in base units. */
export type Amounts = ReadonlyMap<string, number>

const requestsOf = new WeakMap<Pod, Amounts>()

/**
 * The scheduler's count for a pod: the sum of its containers and sidecars, or the requests
 * of one init container if they are larger, plus overhead; pod-level requests take
 * precedence. Cached per object, because objects never change.
 */
export function podRequests(pod: Pod): Amounts {
  let requests = requestsOf.get(pod)
  if (!requests) {
    requests = computeRequests(pod)
    requestsOf.set(pod, requests)
  }
  return requests
}

function computeRequests(pod: Pod): Amounts {
  const spec = pod.spec ?? {}
  const sum = new Map<string, number>()
  for (const container of spec.containers ?? []) addTo(sum, container)
  const sidecars = new Map<string, number>()
  const peak = new Map<string, number>()
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') {
      addTo(sidecars, container)
      addTo(sum, container)
      continue
    }
    const here = new Map(sidecars)
    addTo(here, container)
    for (const [name, value] of here) peak.set(name, Math.max(peak.get(name) ?? 0, value))
  }
  for (const [name, value] of peak) sum.set(name, Math.max(sum.get(name) ?? 0, value))
  for (const [name, text] of Object.entries(spec.resources?.requests ?? {})) set(sum, name, text)
  for (const [name, text] of Object.entries(spec.overhead ?? {})) {
    const value = parseQuantity(text)
    if (!Number.isNaN(value)) sum.set(name, (sum.get(name) ?? 0) + value)
  }
  return sum
}

function addTo(sum: Map<string, number>, container: Container): void {
  for (const [name, text] of Object.entries(container.resources?.requests ?? {})) {
    const value = parseQuantity(text)
    if (!Number.isNaN(value)) sum.set(name, (sum.get(name) ?? 0) + value)
  }
}

function set(sum: Map<string, number>, name: string, text: string): void {
  const value = parseQuantity(text)
  if (!Number.isNaN(value)) sum.set(name, value)
}

/** It has ended, so it no longer uses resources of its node. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

/** It needs a node. */
export function isPending(pod: Pod): boolean {
  return !pod.spec?.nodeName && !isFinished(pod)
}

export type PendingSort = 'oldest' | 'newest' | 'priority'

/** Pending pods must be sorted longest waiting first; pods with equal priority keep that order. */
export function sortPending(oldestFirst: readonly Pod[], by: PendingSort): readonly Pod[] {
  if (by === 'oldest') return oldestFirst
  if (by === 'newest') return [...oldestFirst].reverse()
  return [...oldestFirst].sort((a, b) => (b.spec?.priority ?? 0) - (a.spec?.priority ?? 0))
}

/** The STATUS that kubectl shows, as far as the fields that we read determine it. */
export function podStatus(pod: Pod): string {
  if (pod.metadata.deletionTimestamp) return 'Terminating'
  if (pod.status?.reason) return pod.status.reason
  const condition = scheduledCondition(pod)
  if (!pod.spec?.nodeName && condition?.reason === 'SchedulingGated') return 'SchedulingGated'
  return pod.status?.phase ?? 'Pending'
}

function scheduledCondition(pod: Pod): Condition | undefined {
  return pod.status?.conditions?.find((c) => c.type === 'PodScheduled')
}

/** One reason in the scheduler's message, and the number of nodes with it. */
export interface CountedReason {
  count: number
  text: string
}

export type PendingReason =
  /** The scheduler tried: its reasons, most frequent first, or its message if it could not be parsed. */
  | { kind: 'unschedulable'; nodes?: number; reasons: CountedReason[]; message: string }
  | { kind: 'gated'; gates: string[] }
  /** No profile has its scheduler name. */
  | { kind: 'noProfile'; scheduler: string }
  /** Preemption made room on a node, and the victims are terminating. */
  | { kind: 'nominated'; node: string }
  | { kind: 'untried' }

export function pendingReason(pod: Pod, profiles?: readonly string[]): PendingReason {
  const gates = (pod.spec?.schedulingGates ?? []).map((g) => g.name)
  if (gates.length) return { kind: 'gated', gates }
  const scheduler = pod.spec?.schedulerName ?? 'default-scheduler'
  if (profiles?.length && !profiles.includes(scheduler)) return { kind: 'noProfile', scheduler }
  if (pod.status?.nominatedNodeName) return { kind: 'nominated', node: pod.status.nominatedNodeName }
  const condition = scheduledCondition(pod)
  if (condition?.status === 'False' && condition.message)
    return { kind: 'unschedulable', ...parseFitError(condition.message) }
  return { kind: 'untried' }
}

/**
 * Parses kube-scheduler's FitError message: "0/3 nodes are available: 1 Insufficient cpu,
 * 2 node(s) had untolerated taint(s). preemption: …". Other messages are returned
 * unchanged, without reasons.
 */
export function parseFitError(message: string): { nodes?: number; reasons: CountedReason[]; message: string } {
  const head = /^0\/(\d+) nodes are available: /.exec(message)
  if (!head) return { reasons: [], message }
  const body = message.slice(head[0].length).replace(/\.? ?(preemption: .*)?$/s, '')
  const reasons: CountedReason[] = []
  for (const part of body.split(/, (?=\d+ )/)) {
    const match = /^(\d+) (.*)$/s.exec(part.trim())
    if (match) reasons.push({ count: Number(match[1]), text: (match[2] ?? '').replace(/\.$/, '') })
  }
  reasons.sort((a, b) => b.count - a.count)
  return { nodes: Number(head[1]), reasons, message }
}

export interface Owner {
  key: string
  name: string
  kind: string
  namespace: string
}

/** The controller, with a ReplicaSet's Deployment in its place; undefined for a bare pod. */
export function ownerOf(pod: Pod): Owner | undefined {
  const namespace = pod.metadata.namespace ?? ''
  const references = pod.metadata.ownerReferences ?? []
  const reference = references.find((r) => r.controller) ?? references[0]
  if (reference) {
    const hash = pod.metadata.labels?.['pod-template-hash']
    const deployment = reference.kind === 'ReplicaSet' && hash && reference.name.endsWith(`-${hash}`)
    const name = deployment ? reference.name.slice(0, -hash.length - 1) : reference.name
    const kind = deployment ? 'Deployment' : reference.kind
    return { key: `${namespace}/${kind}/${name}`, name, kind, namespace }
  }
  const app = pod.metadata.labels?.['app.kubernetes.io/name'] ?? pod.metadata.labels?.app
  return app ? { key: `${namespace}/app/${app}`, name: app, kind: 'app', namespace } : undefined
}

/** Whether a pod is on the node and belongs to the owner (Kind/name), where '' matches every pod. */
export function isPodOf(pod: Pod, { node, owner }: { node: string; owner: string }): boolean {
  if (node && pod.spec?.nodeName !== node) return false
  if (!owner) return true
  const found = ownerOf(pod)
  if (found && `${found.kind}/${found.name}` === owner) return true
  return !!pod.metadata.ownerReferences?.some((reference) => `${reference.kind}/${reference.name}` === owner)
}
