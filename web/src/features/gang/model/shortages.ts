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
  /** What the plugin said. */
  reason: string
  nodes: readonly string[]
}

/** The smallest shortage first, then the reasons without amounts, most nodes first. */
export function shortagesOf(cycle: Pick<Cycle, 'filter'>): ShortageRow[] {
  const compared = new Map(
    (cycle.filter?.comparisons ?? []).map((one) => [`${one.plugin} ${one.node}`, one.resources ?? []])
  )
  const rows = new Map<string, { row: ShortageRow & { nodes: string[] }; size: number }>()
  for (const { node, plugin, reasons } of cycle.filter?.reasons ?? []) {
    const short = (compared.get(`${plugin} ${node}`) ?? []).filter((r) => r.requested + r.inUse > r.allocatable)
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
    if (known) known.row.nodes.push(node)
    else
      rows.set(key, {
        row: { plugin, lacks, reason, nodes: [node] },
        size: short.reduce((sum, r) => sum + (r.requested + r.inUse - r.allocatable) / Math.max(1, r.requested), 0),
      })
  }
  const all = [...rows.values()]
  for (const { row } of all) row.nodes.sort(compareNames)
  return all
    .sort(
      (a, b) =>
        Number(!a.row.lacks.length) - Number(!b.row.lacks.length) ||
        a.row.lacks.length - b.row.lacks.length ||
        a.size - b.size ||
        b.row.nodes.length - a.row.nodes.length
    )
    .map(({ row }) => row)
}
