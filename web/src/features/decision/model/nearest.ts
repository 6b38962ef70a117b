// The node that a pod which fits nowhere came nearest to.

import type { Cycle } from '@/api/types'

export interface NearestNode {
  node: string
  /**
   * What the node lacks, if only resources are missing there; otherwise how many plugins it passed
   * before one rejected it. offers: nodes that lack resources have none of one at all.
   */
  why:
    | { kind: 'lacks'; lacks: readonly { resource: string; amount: number }[] }
    | { kind: 'passed'; plugins: number; of: number; by: string }
    | { kind: 'offers'; by: string }
}

/**
 * The server names the node that lacks the least, unless it has none of a resource at all and other
 * plugins rejected other nodes. Otherwise it is a node that most plugins passed, unless all nodes are
 * alike: Filter plugins run in a fixed order. Of several, the server compared the nearest first.
 */
export function nearestNode(cycle: Cycle): NearestNode | undefined {
  if (cycle.outcome !== 'unschedulable' || cycle.nodes.feasible > 0) return undefined
  const remark = cycle.explanation.remarks?.find((r) => r.kind === 'nearest')
  const lacking: NearestNode | undefined =
    remark?.kind === 'nearest' ? { node: remark.node, why: { kind: 'lacks', lacks: remark.lacks } } : undefined
  const { filter } = cycle
  const compared = filter?.comparisons ?? []
  const short = compared.find(({ node, resources }) => node === lacking?.node && resources)
  if (!filter || (lacking && !short?.resources?.some(({ allocatable }) => allocatable <= 0))) return lacking
  const passed = filter.states.map((states) => states.search(/[RE]/))
  const rejectedBy = (i: number) => filter.plugins[passed[i] ?? -1] ?? ''
  const rows = [...filter.nodes.keys()].filter((i) => !lacking || rejectedBy(i) !== short?.plugin)
  const most = Math.max(...rows.map((i) => passed[i] ?? -1))
  if (lacking ? !rows.length : most < 1 || passed.every((n) => n === most)) return lacking
  const by = filter.plugins[most] ?? ''
  const candidates = new Set(rows.filter((i) => passed[i] === most).map((i) => filter.nodes[i] ?? ''))
  const node = compared.find((c) => c.plugin === by && candidates.has(c.node))?.node ?? [...candidates][0]
  if (node === undefined) return undefined
  return {
    node,
    why: lacking ? { kind: 'offers', by } : { kind: 'passed', plugins: most, of: filter.plugins.length, by },
  }
}
