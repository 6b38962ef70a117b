// How near the nodes are to fitting a pod that fits nowhere, for those that only lack resources.

import type { Cycle } from '@/api/types'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import { distance, offersNone, type Amounts as Compared } from '@/features/decision/model/shortage'
import type { NodeView } from '@/kubernetes/cluster'
import type { Amounts } from '@/kubernetes/pods'
import { scaleOf, type Scale } from './scale'

export interface Nearness {
  /**
   * The shade of a node, stronger for a nearer one; 0 for a node that has none of a resource at all;
   * undefined for a node that something else than an amount keeps the pod from.
   */
  levelOf: (node: string) => number | undefined
  classes: Scale['classes']
  /** The plugins that rejected nodes for their amounts. */
  plugins: ReadonlySet<string>
  /** The nodes of level 0. */
  none: number
}

/** undefined if the pod fits somewhere, or no plugin rejected a node for its amounts. */
export function nearnessOf(
  nodes: readonly NodeView[],
  { cycle, verdictOf, ask }: { cycle: Cycle; verdictOf: (node: string) => NodeVerdict; ask: Amounts }
): Nearness | undefined {
  if (cycle.outcome !== 'unschedulable' || cycle.nodes.feasible > 0) return undefined
  const comparesAmounts = new Set(cycle.filter?.comparisons?.flatMap((c) => (c.resources?.length ? [c.plugin] : [])))
  const distances = new Map<string, number>()
  for (const view of nodes) {
    const verdict = verdictOf(view.name)
    if (verdict.kind === 'rejected' && comparesAmounts.has(verdict.plugin))
      distances.set(view.name, distance(amountsOn(view, ask)))
  }
  if (!distances.size) return undefined
  // The last class has the strongest shade.
  const near = [...distances.values()].filter((one) => !offersNone(one)).map((one) => -one)
  const scale = scaleOf(near.sort((a, b) => a - b))
  return {
    levelOf(node) {
      const found = distances.get(node)
      return found === undefined ? undefined : offersNone(found) ? 0 : scale.levelOf(-found)
    },
    classes: scale.classes,
    plugins: comparesAmounts,
    none: distances.size - near.length,
  }
}

/** Of the resources that the map knows of nodes. */
function* amountsOn({ cpu, memory, pods, extended }: NodeView, ask: Amounts): Iterable<Compared> {
  yield { requested: 1, inUse: pods.requested, allocatable: pods.allocatable }
  for (const [resource, requested] of ask) {
    const meter = [cpu, memory, ...extended].find((one) => one.resource === resource)
    if (meter) yield { requested, inUse: meter.requested, allocatable: meter.allocatable }
    else if (resource.includes('/')) yield { requested, inUse: 0, allocatable: 0 }
  }
}
