// The rows of the Filter matrix by what happened to their nodes: one row for each distinct outcome,
// which unfolds to its nodes.

import type { Cycle } from '@/api/types'
import { sortNames } from '@/kubernetes/cluster'
import { refusalAt, type FilterMatrix } from './matrix'
import { nearestNode } from './nearest'

export interface Reason {
  /** The same in another attempt with the same outcome. */
  key: string
  kind: 'chosen' | 'tied' | 'feasible' | 'rejected'
  /** Rows of the matrix: the best first, or the nearest to fitting. */
  rows: readonly number[]
  /** The highest and the lowest total; undefined when the nodes were not scored. */
  totals: { most: number; least: number } | undefined
}

/** A row of the table: of a node, or of a reason. A node in an unfolded reason has it as `of`. */
export type Line = { row: number; of?: Reason } | { reason: Reason; row?: undefined }

export interface ReasonContext {
  cycle: Cycle
  matrix: FilterMatrix
  chosen: string | undefined
  totals: ReadonlyMap<string, number>
}

/**
 * The chosen node first, then the nodes with its total, the other feasible nodes, and the reasons of
 * the rejected ones: that of the nearest node first, then those that more plugins passed. The server
 * compared the nearest nodes of each plugin, in their order.
 */
export function reasonsOf({ cycle, matrix, chosen, totals }: ReasonContext, found: Int32Array): Reason[] {
  const name = (row: number) => matrix.nodes[row] ?? ''
  const total = (row: number) => totals.get(name(row)) ?? 0
  const ranks = new Map((cycle.filter?.comparisons ?? []).map(({ node, plugin }, i) => [`${plugin} ${node}`, i]))
  const rank = (row: number) => ranks.get(`${refusalAt(matrix, row)?.plugin} ${name(row)}`) ?? Infinity
  const best = totals.get(chosen ?? '')
  const byName = new Map(sortNames(Array.from(found, name)).map((node, i) => [node, i]))

  const groups = new Map<string, { kind: Reason['kind']; rows: number[] }>()
  for (const row of found) {
    const kind = kindOf(row)
    const refusal = kind === 'rejected' ? refusalAt(matrix, row) : undefined
    const key =
      kind === 'rejected' ? [matrix.states[row], refusal?.plugin, ...(refusal?.reasons ?? [])].join('\n') : kind
    const known = groups.get(key)
    if (known) known.rows.push(row)
    else groups.set(key, { kind, rows: [row] })
  }
  function kindOf(row: number): Reason['kind'] {
    if (matrix.feasibleAt[row] !== 1) return 'rejected'
    if (name(row) === chosen) return 'chosen'
    return best !== undefined && total(row) === best ? 'tied' : 'feasible'
  }

  const nearest = nearestNode(cycle)?.node
  const kinds: readonly Reason['kind'][] = ['chosen', 'tied', 'feasible', 'rejected']
  return [...groups]
    .map(([key, { kind, rows }]) => {
      const scored = kind !== 'rejected' && totals.has(name(rows[0] ?? -1))
      const ordered = keyed(rows, kind === 'rejected' ? rank : (row) => -total(row))
      return {
        key,
        kind,
        rows: ordered.map(({ row }) => row),
        totals: scored ? { most: total(ordered[0]?.row ?? -1), least: total(ordered.at(-1)?.row ?? -1) } : undefined,
        holdsNearest: nearest !== undefined && rows.some((row) => name(row) === nearest),
        column: matrix.plugins.indexOf(refusalAt(matrix, rows[0] ?? -1)?.plugin ?? ''),
        rank: ordered[0]?.value ?? Infinity,
      }
    })
    .sort(
      (a, b) =>
        kinds.indexOf(a.kind) - kinds.indexOf(b.kind) ||
        Number(b.holdsNearest) - Number(a.holdsNearest) ||
        b.column - a.column ||
        ascending(a.rank, b.rank) ||
        b.rows.length - a.rows.length
    )
    .map(({ key, kind, rows, totals }) => ({ key, kind, rows, totals }))

  function keyed(rows: readonly number[], value: (row: number) => number) {
    return rows
      .map((row) => ({ row, value: value(row) }))
      .sort((a, b) => ascending(a.value, b.value) || (byName.get(name(a.row)) ?? 0) - (byName.get(name(b.row)) ?? 0))
  }
}

/** Also of infinite values. */
const ascending = (a: number, b: number) => (a < b ? -1 : Number(a > b))

/** A reason of one node is the node's row. */
export function linesOf(reasons: readonly Reason[], isOpen: (reason: Reason) => boolean): Line[] {
  return reasons.flatMap((reason): Line[] => {
    const [row] = reason.rows
    if (reason.rows.length === 1 && row !== undefined) return [{ row }]
    return [{ reason }, ...(isOpen(reason) ? reason.rows.map((row) => ({ row, of: reason })) : [])]
  })
}
