// Elastic quotas with what their namespaces use, and who borrows from the pool of what others
// leave unused.

import type { KubeObject, Pod } from '@/api/types'
import type { ElasticQuota } from '@/kubernetes/batch'
import { scaleTo, type Bar } from '@/features/batch/model/bars'
import { compareNames } from '@/kubernetes/cluster'
import { objectKey } from '@/kubernetes/object'
import { isFinished, podRequests } from '@/kubernetes/pods'
import { parseQuantity } from '@/kubernetes/quantity'

/** Amounts in base units. */
export interface QuotaLine {
  resource: string
  /** What bound pods request. */
  used: number
  min: number
  /** undefined: unlimited. */
  max: number | undefined
  /**
   * What a controller wrote to the status: only pods that run count there. undefined when it wrote
   * nothing.
   */
  reported: number | undefined
}

export interface Quota {
  key: string
  namespace: string
  name: string
  lines: readonly QuotaLine[]
  pods: number
  /** More than one quota in a namespace: the plugin takes only one of them. */
  ambiguous: boolean
}

/** A max that leaves out one of these limits it to 0; others are unlimited then. */
const alwaysLimited: readonly string[] = ['cpu', 'memory', 'ephemeral-storage']
const order = ['cpu', 'memory']

export function quotasOf(objects: Iterable<KubeObject>, pods: Iterable<Pod>): Quota[] {
  const used = new Map<string, Map<string, number>>()
  const counts = new Map<string, number>()
  for (const pod of pods) {
    const { namespace = '' } = pod.metadata
    if (!pod.spec?.nodeName || isFinished(pod)) continue
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
    const sums = used.get(namespace) ?? new Map<string, number>()
    used.set(namespace, sums)
    for (const [resource, amount] of podRequests(pod)) sums.set(resource, (sums.get(resource) ?? 0) + amount)
  }
  const all = [...objects] as ElasticQuota[]
  const inNamespace = new Map<string, number>()
  for (const { metadata } of all)
    inNamespace.set(metadata.namespace ?? '', (inNamespace.get(metadata.namespace ?? '') ?? 0) + 1)
  return all
    .map((object): Quota => {
      const { namespace = '', name } = object.metadata
      return {
        key: objectKey(object),
        namespace,
        name,
        lines: linesOf(object, used.get(namespace) ?? new Map()),
        pods: counts.get(namespace) ?? 0,
        ambiguous: (inNamespace.get(namespace) ?? 0) > 1,
      }
    })
    .sort((a, b) => compareNames(a.key, b.key))
}

function linesOf({ spec, status }: ElasticQuota, used: ReadonlyMap<string, number>): QuotaLine[] {
  const limited = (resource: string): number | undefined => {
    if (!spec?.max) return undefined
    const text = spec.max[resource]
    return text === undefined ? (alwaysLimited.includes(resource) ? 0 : undefined) : amount(text)
  }
  const listed = new Set([
    ...Object.keys(spec?.min ?? {}),
    ...Object.keys(spec?.max ?? {}),
    ...[...used].filter(([, value]) => value > 0).map(([resource]) => resource),
  ])
  const rank = (resource: string) => (order.includes(resource) ? order.indexOf(resource) : order.length)
  return [...listed]
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))
    .map((resource) => ({
      resource,
      used: used.get(resource) ?? 0,
      min: amount(spec?.min?.[resource]),
      max: limited(resource),
      reported: status?.used?.[resource] === undefined ? undefined : amount(status.used[resource]),
    }))
}

/** 0 for what is absent or no quantity. */
function amount(text: string | undefined): number {
  const value = parseQuantity(text)
  return Number.isNaN(value) ? 0 : value
}

/** What a namespace uses above its min, and what it leaves unused of it. */
export interface Flow {
  key: string
  namespace: string
  amount: number
}

/**
 * The account of one resource over all quotas. Nothing records who lent to whom: what is unused is
 * a pool.
 */
export interface Pool {
  resource: string
  used: number
  min: number
  lenders: readonly Flow[]
  borrowers: readonly Flow[]
  unused: number
  borrowed: number
  /** What is left to borrow; less than 0 when more is used than all mins together. */
  left: number
}

export function poolOf(quotas: readonly Quota[], resource: string): Pool {
  const entries = quotas.map(({ key, namespace, lines }) => ({
    key,
    namespace,
    line: lines.find((line) => line.resource === resource),
  }))
  const flows = (of: (line: QuotaLine) => number): Flow[] =>
    entries
      .map(({ key, namespace, line }) => ({ key, namespace, amount: line ? of(line) : 0 }))
      .filter(({ amount }) => amount > 0)
      .sort((a, b) => b.amount - a.amount)
  const lenders = flows(({ min, used }) => min - used)
  const borrowers = flows(({ min, used }) => used - min)
  const sum = (list: readonly Flow[]) => list.reduce((total, { amount }) => total + amount, 0)
  const total = (of: (line: QuotaLine) => number) => entries.reduce((all, { line }) => all + (line ? of(line) : 0), 0)
  const used = total((line) => line.used)
  const min = total((line) => line.min)
  return { resource, used, min, lenders, borrowers, unused: sum(lenders), borrowed: sum(borrowers), left: min - used }
}

/** The resources of any quota, cpu and memory first. */
export function resourcesOf(quotas: readonly Quota[]): string[] {
  const all = new Set(quotas.flatMap(({ lines }) => lines.map(({ resource }) => resource)))
  return [...order.filter((resource) => all.delete(resource)), ...[...all].sort()]
}

/** The bar of a quota, and what a pod asks on top of what is used. `scale` is the amount at its right end. */
export function barOf({ used, min, max }: QuotaLine, scale: number, asks = 0): Bar {
  const { stretch, mark } = scaleTo(scale)
  const within = Math.min(used, min)
  return {
    stretches: [
      ...stretch('share', 0, min),
      ...stretch('room', min, max ?? scale),
      ...stretch('lent', within, min),
      ...stretch('used', 0, within),
      ...stretch('over', min, used),
      ...stretch('asks', used, used + asks),
    ],
    marks: [...mark('share', min), ...mark('most', max)],
  }
}

export function scaleOf(quotas: readonly Quota[], resource: string): number {
  return Math.max(
    0,
    ...quotas.flatMap(({ lines }) =>
      lines.filter((line) => line.resource === resource).map(({ used, min, max = 0 }) => Math.max(used, min, max))
    )
  )
}
