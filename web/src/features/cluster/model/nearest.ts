// The node that a pod which fits nowhere came nearest to.

import type { Cycle } from '@/api/types'

export interface NearestNode {
  node: string
  /**
   * What the node lacks, if only resources are missing there; otherwise how many plugins it passed
   * before one rejected it.
   */
  why:
    | { kind: 'lacks'; lacks: readonly { resource: string; amount: number }[] }
    | { kind: 'passed'; plugins: number; of: number; by: string }
}

/**
 * The server names the node that lacks the least. Without such a shortage it is a node
 * that most plugins passed, unless all nodes are alike: Filter plugins run in a fixed order.
 * Of several, the server compared the nearest first.
 */
export function nearestNode(cycle: Cycle): NearestNode | undefined {
  if (cycle.outcome !== 'unschedulable' || cycle.nodes.feasible > 0) return undefined
  const remark = cycle.explanation.remarks?.find((r) => r.kind === 'nearest')
  if (remark?.kind === 'nearest') return { node: remark.node, why: { kind: 'lacks', lacks: remark.lacks } }
  const { filter } = cycle
  if (!filter) return undefined
  const passed = filter.states.map((states) => states.search(/[RE]/))
  const most = Math.max(...passed)
  if (most < 1 || passed.every((n) => n === most)) return undefined
  const by = filter.plugins[most] ?? ''
  const candidates = new Set(filter.nodes.filter((_, i) => passed[i] === most))
  const node = filter.comparisons?.find((c) => c.plugin === by && candidates.has(c.node))?.node ?? [...candidates][0]
  return node === undefined
    ? undefined
    : { node, why: { kind: 'passed', plugins: most, of: filter.plugins.length, by } }
}
