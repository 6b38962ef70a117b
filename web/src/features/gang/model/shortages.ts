// Why a pod fits no node, as rows: the nodes with the same reason and the same amount missing.

import type { Cycle } from '@/api/types'
import { compareNames } from '@/kubernetes/cluster'
import { amountOf } from '@/kubernetes/quantity'

export interface ShortageRow {
  plugin: string
  /**
   * What is missing, such as 1 nvidia.com/gpu; empty when the plugin compared something else or its
   * values were not kept.
   */
  lacks: readonly { resource: string; amount: string }[]
  reason: string
  nodes: readonly string[]
}

/** The nearest to fitting first, as the server compares nodes; then the reasons without amounts, most nodes first. */
export function shortagesOf(cycle: Pick<Cycle, 'filter'>): ShortageRow[] {
  const compared = new Map(
    (cycle.filter?.comparisons ?? []).map((one, rank) => [
      `${one.plugin} ${one.node}`,
      { rank, of: one.resources ?? [] },
    ])
  )
  const rows = new Map<string, { row: ShortageRow & { nodes: string[] }; rank: number }>()
  for (const { node, plugin, reasons } of cycle.filter?.reasons ?? []) {
    const { rank = Infinity, of = [] } = compared.get(`${plugin} ${node}`) ?? {}
    const short = of.filter((r) => r.requested + r.inUse > r.allocatable)
    const lacks = short.map((r) => ({
      resource: r.name,
      amount: amountOf(r.name, r.requested + r.inUse - r.allocatable),
    }))
    const reason = (reasons ?? []).join(', ')
    const key = [
      plugin,
      lacks.length ? lacks.map(({ resource, amount }) => `${amount} ${resource}`).join() : reason,
    ].join(' ')
    const known = rows.get(key)
    if (known) {
      known.row.nodes.push(node)
      known.rank = Math.min(known.rank, rank)
    } else rows.set(key, { row: { plugin, lacks, reason, nodes: [node] }, rank: lacks.length ? rank : Infinity })
  }
  const all = [...rows.values()]
  for (const { row } of all) row.nodes.sort(compareNames)
  return all
    .sort(
      (a, b) =>
        Number(!a.row.lacks.length) - Number(!b.row.lacks.length) ||
        (a.rank < b.rank ? -1 : Number(a.rank > b.rank)) ||
        b.row.nodes.length - a.row.nodes.length
    )
    .map(({ row }) => row)
}
