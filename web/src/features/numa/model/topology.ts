// Nodes as NodeResourceTopology cuts them: policy, scope, NUMA nodes with amounts and distances.

import type { KubeObject } from '@/api/types'
import type { NodeResourceTopology, TopologyZone } from '@/kubernetes/batch'
import { compareNames } from '@/kubernetes/cluster'
import { parseQuantity } from '@/kubernetes/quantity'

export type Policy = 'none' | 'best-effort' | 'restricted' | 'single-numa-node'
export type Scope = 'container' | 'pod'

/** Amounts in base units. */
export interface ZoneAmount {
  resource: string
  capacity: number
  allocatable: number
  available: number
}

export interface Zone {
  /** node-0 */
  name: string
  id: number
  amounts: readonly ZoneAmount[]
  /** The distance to each zone, by id. */
  costs: ReadonlyMap<number, number>
}

export interface NumaNode {
  name: string
  policy: Policy
  scope: Scope
  zones: readonly Zone[]
}

const words: Record<string, { policy: Policy; scope: Scope }> = {
  SingleNUMANodePodLevel: { policy: 'single-numa-node', scope: 'pod' },
  SingleNUMANodeContainerLevel: { policy: 'single-numa-node', scope: 'container' },
  RestrictedPodLevel: { policy: 'restricted', scope: 'pod' },
  RestrictedContainerLevel: { policy: 'restricted', scope: 'container' },
  BestEffortPodLevel: { policy: 'best-effort', scope: 'pod' },
  BestEffortContainerLevel: { policy: 'best-effort', scope: 'container' },
}
const policies: readonly string[] = ['none', 'best-effort', 'restricted', 'single-numa-node']
const order = ['cpu', 'memory']

/** Attributes take precedence over the deprecated word, each on its own. */
export function numaNodeOf(object: KubeObject): NumaNode {
  const topology = object as NodeResourceTopology
  let { policy, scope } =
    words[topology.topologyPolicies?.[0] ?? ''] ?? ({ policy: 'none', scope: 'container' } as const)
  for (const { name, value } of topology.attributes ?? []) {
    if (name === 'topologyManagerPolicy' && policies.includes(value)) policy = value as Policy
    if (name === 'topologyManagerScope' && (value === 'pod' || value === 'container')) scope = value
  }
  const zones = (topology.zones ?? []).flatMap((zone) => zoneOf(zone) ?? []).sort((a, b) => a.id - b.id)
  return { name: topology.metadata.name, policy, scope, zones }
}

/** undefined for a zone that is no NUMA node. */
function zoneOf(zone: TopologyZone): Zone | undefined {
  const id = zoneId(zone.name)
  if (zone.type !== 'Node' || id === undefined) return undefined
  const rank = (resource: string) => (order.includes(resource) ? order.indexOf(resource) : order.length)
  const amounts = (zone.resources ?? [])
    .map(({ name, capacity, allocatable, available }) => ({
      resource: name,
      capacity: parseQuantity(capacity),
      allocatable: parseQuantity(allocatable),
      available: parseQuantity(available),
    }))
    .filter(({ capacity, allocatable, available }) => [capacity, allocatable, available].every(Number.isFinite))
    .sort((a, b) => rank(a.resource) - rank(b.resource) || a.resource.localeCompare(b.resource))
  const costs = new Map(
    (zone.costs ?? []).flatMap(({ name, value }) =>
      zoneId(name) === undefined ? [] : [[zoneId(name) ?? 0, value] as const]
    )
  )
  return { name: zone.name, id, amounts, costs }
}

/** node-1 → 1; undefined when the name is none of a NUMA node. */
export function zoneId(name: string): number | undefined {
  const digits = /^node-(\d+)$/.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

export const numaNodesOf = (objects: Iterable<KubeObject>): NumaNode[] =>
  [...objects].map(numaNodeOf).sort((a, b) => compareNames(a.name, b.name))
