// One sentence about a cycle, as data: what kind of ending it was and the numbers in
// it. A page says it in its language.

import type { Cycle } from '@/api/types'
import { filterMatrix, margin, scoreTable } from './cycle'

export type Explanation =
  /** The best of several, ahead of the next. margin 0 and tied > 1: chosen among equals. */
  | { kind: 'best'; node: string; total: number; feasible: number; margin: number; next: string; tied: number; bound: boolean }
  /** One node was feasible, so there was nothing to score. */
  | { kind: 'only'; node: string; evaluated: number; bound: boolean }
  /** A node hint from an equal pod was used; the other nodes were not looked at. */
  | { kind: 'hinted'; node: string }
  /** Selected, but the record has no scores to compare. */
  | { kind: 'selected'; node: string; feasible: number; bound: boolean }
  /** Filter let no node through. */
  | { kind: 'noNode'; evaluated: number; total: number; rejecters: { plugin: string; count: number }[]; nominated: string }
  /** A plugin refused the pod before any node was looked at. */
  | { kind: 'preFilter'; plugin: string; reasons: string[]; nominated: string }
  /** A plugin refused the pod after a node was chosen. */
  | { kind: 'refusedLater'; stage: string; plugin: string; reasons: string[]; node: string }
  /** A Permit plugin holds the pod. */
  | { kind: 'waiting'; node: string; plugins: string[] }
  | { kind: 'noNodes' }
  | { kind: 'unschedulable'; message: string }
  | { kind: 'error'; message: string }

export function explain(cycle: Cycle): Explanation {
  if (cycle.outcome === 'error') return { kind: 'error', message: cycle.message ?? '' }
  if (cycle.outcome === 'waiting') {
    return { kind: 'waiting', node: cycle.selectedNode ?? '', plugins: (cycle.permit ?? []).filter((r) => r.status === 'Wait').map((r) => r.plugin) }
  }
  const node = cycle.selectedNode ?? ''
  if (cycle.outcome === 'scheduled') {
    if (cycle.hint?.used && cycle.hint.node === node) return { kind: 'hinted', node }
    const table = scoreTable(cycle)
    const lead = table && margin(table)
    const first = table?.rows[0]
    if (table && lead && first?.node === node) {
      return {
        kind: 'best',
        node,
        total: first.total,
        feasible: table.rows.length,
        margin: lead.value,
        next: lead.over,
        tied: table.rows.filter((r) => r.total === first.total).length,
        bound: true,
      }
    }
    if (cycle.nodes.feasible === 1) return { kind: 'only', node, evaluated: cycle.nodes.evaluated, bound: true }
    return { kind: 'selected', node, feasible: cycle.nodes.feasible, bound: true }
  }
  const nominated = cycle.nominatedNode ?? ''
  const refused = (cycle.preFilter ?? []).find((r) => !['Success', 'Skip'].includes(r.status))
  if (refused) return { kind: 'preFilter', plugin: refused.plugin, reasons: refused.reasons ?? [], nominated }
  for (const [stage, results] of [
    ['Reserve', cycle.reserve],
    ['Permit', cycle.permit],
    ['PreBind', cycle.preBind],
    ['Bind', cycle.bind],
  ] as const) {
    const bad = results?.find((r) => !['Success', 'Skip', 'Wait'].includes(r.status))
    if (bad) return { kind: 'refusedLater', stage, plugin: bad.plugin, reasons: bad.reasons ?? [], node }
  }
  const matrix = filterMatrix(cycle)
  if (matrix && matrix.rows.length && matrix.feasible === 0) {
    return { kind: 'noNode', evaluated: matrix.rows.length, total: cycle.nodes.total, rejecters: matrix.rejecters, nominated }
  }
  if (cycle.nodes.total === 0) return { kind: 'noNodes' }
  return { kind: 'unschedulable', message: cycle.message ?? '' }
}
