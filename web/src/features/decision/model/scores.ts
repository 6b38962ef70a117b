// The Score table of a record: for each node, a row of numbers for plugins and
// extenders. A row is an index, so ranking, sorting and filtering copy no cells.

import type { Cycle } from '@/api/types'
import { compareNames } from '@/kubernetes/cluster'
import { finder } from '@/kubernetes/search'

export interface ScoreColumn {
  name: string
  weight: number
  /** An extender: its score is multiplied by its weight without being normalized. */
  extender: boolean
}

export interface ScoreCell {
  /** undefined: the extender's response had no score for the node, which is not 0. */
  raw: number | undefined
  /** Like raw for an extender. */
  normalized: number | undefined
  weighted: number
}

export const scoreValues = ['all', 'raw', 'normalized', 'weighted'] as const
export type ScoreValues = (typeof scoreValues)[number]

export interface ScoreTable {
  /** Plugins, then extenders. */
  columns: ScoreColumn[]
  /** Plugins that returned Skip in PreScore: they have no score, which is not 0. */
  skipped: string[]
  nodes: string[]
  raw: number[][]
  normalized: number[][]
  weighted: number[][]
  /** Extenders' responses and their weighted scores; empty without extenders. */
  answered: (number | null)[][]
  counted: number[][]
  totals: number[]
  /** From 1; equal totals share a rank. */
  ranks: Int32Array
  /** 1 where another node has the same total. */
  tied: Uint8Array
  /** Best first; among equals the chosen node first, then by name. */
  ranked: Int32Array
  /** The row of the chosen node, -1 when it was not scored. */
  chosen: number
  best: number
  /** For each column: the highest weighted score, and whether all nodes have it. */
  spans: { best: number; uniform: boolean }[]
}

/** undefined when nothing was scored. */
export function scoreTable(cycle: Cycle): ScoreTable | undefined {
  const score = cycle.score
  if (!score?.nodes.length) return undefined
  const { nodes, raw, normalized, weighted, totals } = score
  const { extenders = [], answered = [], counted = [] } = score
  const columns = [
    ...score.plugins.map(({ name, weight }) => ({ name, weight, extender: false })),
    ...extenders.map(({ name, weight }) => ({ name, weight, extender: true })),
  ]
  const chosen = cycle.selectedNode ? nodes.indexOf(cycle.selectedNode) : -1
  const ranked = Int32Array.from(nodes.keys()).sort(
    (a, b) =>
      (totals[b] ?? 0) - (totals[a] ?? 0) ||
      Number(b === chosen) - Number(a === chosen) ||
      compareNames(nodes[a] ?? '', nodes[b] ?? '')
  )
  const ranks = new Int32Array(nodes.length)
  const tied = new Uint8Array(nodes.length)
  ranked.forEach((row, i) => {
    const before = ranked[i - 1]
    const same = before !== undefined && totals[before] === totals[row]
    ranks[row] = same ? (ranks[before] ?? 0) : i + 1
    if (same) tied[row] = tied[before] = 1
  })
  const table: ScoreTable = {
    columns,
    skipped: score.skipped ?? [],
    nodes,
    raw,
    normalized,
    weighted,
    answered,
    counted,
    totals,
    ranks,
    tied,
    ranked,
    chosen,
    best: totals[ranked[0] ?? 0] ?? 0,
    spans: [],
  }
  table.spans = columns.map((_, p) => span(table, p))
  return table
}

function span(table: ScoreTable, column: number): { best: number; uniform: boolean } {
  let high = -Infinity
  let low = Infinity
  for (let row = 0; row < table.nodes.length; row++) {
    const value = numberAt(table, row, column, 'weighted') ?? 0
    if (value > high) high = value
    if (value < low) low = value
  }
  return { best: high, uniform: high === low }
}

function numberAt(
  table: ScoreTable,
  row: number,
  column: number,
  values: 'raw' | 'normalized' | 'weighted'
): number | undefined {
  const own = column - table.columns.length + (table.counted[row]?.length ?? 0)
  if (!table.columns[column]?.extender) return table[values][row]?.[column]
  return (values === 'weighted' ? table.counted[row]?.[own] : table.answered[row]?.[own]) ?? undefined
}

export function cellAt(table: ScoreTable, row: number, column: number): ScoreCell {
  return {
    raw: numberAt(table, row, column, 'raw'),
    normalized: numberAt(table, row, column, 'normalized'),
    weighted: numberAt(table, row, column, 'weighted') ?? 0,
  }
}

/** 0 for the best node, otherwise negative. */
export function toBest(table: ScoreTable, row: number): number {
  return (table.totals[row] ?? 0) - table.best
}

export interface ScoreQuery {
  /** Every word must occur in the node's name. */
  text: string
  /** total, node or a column's name; a minus puts the lowest (or last) first. Scores sort highest first. */
  sort: string
  /** Which of a column's numbers to sort by. */
  values: ScoreValues
}

/** The rows that match query, in its order. An unknown sort falls back to rank. */
export function selectScores(table: ScoreTable, { text, sort, values }: ScoreQuery): Int32Array {
  const found = finder(text)
  const rows = found ? table.ranked.filter((row) => found(table.nodes[row] ?? '')) : table.ranked.slice()
  const descending = sort.startsWith('-')
  const by = descending ? sort.slice(1) : sort
  const column = table.columns.findIndex((c) => c.name === by)
  if (by === 'node') rows.sort((a, b) => compareNames(table.nodes[a] ?? '', table.nodes[b] ?? ''))
  else if (column >= 0) {
    const number = (row: number) => numberAt(table, row, column, values === 'all' ? 'weighted' : values) ?? -Infinity
    const keys = new Float64Array(table.nodes.length)
    for (const row of rows) keys[row] = number(row)
    // The sort is stable, so equal rows stay in rank order.
    rows.sort((a, b) => (keys[b] ?? 0) - (keys[a] ?? 0) || 0)
  }
  return descending ? rows.reverse() : rows
}
