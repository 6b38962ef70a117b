// What NodeResourceTopologyMatch said about each node in a cycle, as the record has it.

import type { Cycle, Pod, Summary } from '@/api/types'
import { podRequests, type Amounts } from '@/kubernetes/pods'
import { parseQuantity } from '@/kubernetes/quantity'
import type { NumaNode } from './topology'

export const numaPlugin = 'NodeResourceTopologyMatch'

export interface ZoneShort {
  zone: string
  /** CPU is in thousandths of a core, other resources in their own unit. */
  short: readonly { resource: string; requested: number; available: number; absent: boolean }[]
}

/**
 * aligned: each part of the pod gets a NUMA node; parts are recorded for the nodes with the
 * best totals. rejected: no NUMA node has all that a part needs. stale: the cache leaves the
 * node out. unchecked: the plugin lets the node through without looking at its NUMA nodes.
 * shared: the pod asks only for what pods share unless they are Guaranteed, so no NUMA node can be too small.
 * other: another plugin rejected the node. notEvaluated: the search had ended.
 */
export type NumaVerdict =
  | { kind: 'aligned'; parts: readonly { role: string; container: string; zone: string }[] | undefined }
  | { kind: 'rejected'; role: string; container: string; zones: readonly ZoneShort[]; reason: string }
  | { kind: 'stale'; reason: string }
  | { kind: 'unchecked' }
  | { kind: 'shared' }
  | { kind: 'other'; plugin: string; reason: string }
  | { kind: 'notEvaluated' }

/**
 * undefined when the plugin did not run in the cycle's Filter. pod is the pod of the cycle, if it
 * still exists.
 */
export function verdictsOf(
  cycle: Pick<Cycle, 'filter'>,
  nodes: readonly NumaNode[],
  pod?: Pod
): Map<string, NumaVerdict> | undefined {
  const { filter } = cycle
  const column = filter?.plugins.indexOf(numaPlugin) ?? -1
  if (!filter || column < 0) return undefined
  const rowOf = new Map(filter.nodes.map((node, row) => [node, row]))
  const refusals = new Map((filter.reasons ?? []).map((one) => [one.node, one]))
  const rejected = new Map(
    (filter.comparisons ?? []).filter(({ plugin }) => plugin === numaPlugin).map((one) => [one.node, one.alignment])
  )
  const aligned = new Map(
    (filter.passes?.comparisons ?? [])
      .filter(({ plugin }) => plugin === numaPlugin)
      .map((one) => [one.node, one.aligned ?? []])
  )
  // The record says what the plugin compared on these nodes, even if that is nothing.
  const recorded = new Set(filter.passes?.plugins.includes(numaPlugin) ? filter.passes.nodes : [])
  const verdict = (node: NumaNode): NumaVerdict => {
    const row = rowOf.get(node.name)
    if (row === undefined) return { kind: 'notEvaluated' }
    const letter = filter.states[row]?.[column]
    const refusal = refusals.get(node.name)
    const reason = (refusal?.reasons ?? []).join(', ')
    if (letter === 'R') {
      const alignment = rejected.get(node.name)
      if (!alignment) return { kind: 'stale', reason }
      const zones = alignment.zones.map(({ zone, short }) => ({
        zone,
        short: short.map((one) => ({
          resource: one.resource,
          requested: one.requested,
          available: one.available,
          absent: !!one.absent,
        })),
      }))
      return { kind: 'rejected', role: alignment.role, container: alignment.container ?? '', zones, reason }
    }
    if (letter !== 'P' && refusal) return { kind: 'other', plugin: refusal.plugin, reason }
    if (letter !== 'P' || node.policy !== 'single-numa-node') return { kind: 'unchecked' }
    const parts = aligned.get(node.name)
    if (parts && !parts.length) return { kind: 'unchecked' }
    if (pod && sharesAll(pod)) return { kind: 'shared' }
    if (!parts && recorded.has(node.name)) return { kind: 'unchecked' }
    return { kind: 'aligned', parts: parts?.map(({ role, container = '', zone }) => ({ role, container, zone })) }
  }
  return new Map(nodes.map((node) => [node.name, verdict(node)]))
}

const shared = /^(cpu|memory|hugepages-.*)$/

/**
 * Whether a pod is not Guaranteed and asks only for CPU, memory and huge pages: it gets them from
 * any NUMA node.
 */
function sharesAll(pod: Pod): boolean {
  const qos = pod.status?.qosClass
  return qos !== undefined && qos !== 'Guaranteed' && [...podRequests(pod).keys()].every((name) => shared.test(name))
}

/** The resource of which every zone has too little; undefined if zones lack different ones. */
export function onlyShort(zones: readonly ZoneShort[]): { resource: string; requested: number } | undefined {
  const [first] = zones[0]?.short ?? []
  if (!first || !zones.every(({ short }) => short.length === 1 && short[0]?.resource === first.resource))
    return undefined
  return { resource: first.resource, requested: first.requested }
}

/** A part of a pod that is aligned as a whole, with what it requests. */
export interface Part {
  role: 'pod' | 'init container' | 'sidecar container' | 'container'
  /** '' for the pod. */
  name: string
  requests: Amounts
}

/**
 * The parts of a pod: itself at scope pod, else its init containers and containers, in the order in
 * which they are aligned.
 */
export function partsOf(pod: Pod, scope: NumaNode['scope']): Part[] {
  if (scope === 'pod') return [{ role: 'pod', name: '', requests: podRequests(pod) }]
  const of = (role: Part['role'], container: NonNullable<NonNullable<Pod['spec']>['containers']>[number]): Part => ({
    role,
    name: container.name,
    requests: new Map(
      Object.entries(container.resources?.requests ?? {}).map(([name, text]) => [name, parseQuantity(text)])
    ),
  })
  return [
    ...(pod.spec?.initContainers ?? []).map((one) =>
      of(one.restartPolicy === 'Always' ? 'sidecar container' : 'init container', one)
    ),
    ...(pod.spec?.containers ?? []).map((one) => of('container', one)),
  ]
}

/**
 * The newest attempt of each pod that the plugin kept off a node, or that got a node with NUMA
 * nodes; newest first.
 */
export function numaDecisions(summaries: readonly Summary[], nodes: ReadonlySet<string>, most = 30): Summary[] {
  const out = new Map<string, Summary>()
  for (const summary of summaries) {
    const key = `${summary.pod.namespace}/${summary.pod.name}`
    const by =
      summary.refusal &&
      [summary.refusal, ...(summary.refusal.further ?? [])].some(({ plugin }) => plugin === numaPlugin)
    if (!out.has(key) && (by || (summary.selectedNode && nodes.has(summary.selectedNode)))) out.set(key, summary)
    if (out.size >= most) break
  }
  return [...out.values()]
}
