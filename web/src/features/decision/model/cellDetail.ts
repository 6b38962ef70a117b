// The details of one cell of the tables, a node × a plugin, in Filter and in Score.

import type { Cycle, Fact, PluginResult, PodRequest } from '@/api/types'
import { refusalAt, refusalBy, stateAt, type CellState, type FilterMatrix } from './matrix'
import { comparisons, resourceLines, type ResourceLine } from './pluginComparison'
import { cellAt, type ScoreCell, type ScoreColumn, type ScoreTable } from './scores'

export interface FilterCell {
  state: CellState
  /** The plugin that rejected the node: this one or an earlier one. */
  rejectedBy: string | undefined
  reasons: readonly string[]
  /**
   * The status that this plugin returned when it rejected the node; undefined if it did not, and in
   * records of an earlier version.
   */
  status: string | undefined
  /**
   * The result of a second Filter pass that also counts the pods nominated to the node; undefined
   * if there was none.
   */
  nominatedPass: 'rejected' | 'passed' | undefined
  /** The plugin's position in the execution order, from 1, and the number of plugins. */
  order: number
  of: number
  /** The number of plugins that did not run because this one rejected the node. */
  notRunAfter: number
  /**
   * For all nodes; undefined if the plugin did not run for this node, null if none of its calls was
   * measured.
   */
  durationSeconds: number | null | undefined
  preFilter: PluginResult | undefined
}

/** undefined if the node or the plugin is not in the matrix. */
export function filterCellOf(
  cycle: Cycle,
  matrix: FilterMatrix | undefined,
  node: string,
  plugin: string
): FilterCell | undefined {
  const column = matrix?.plugins.indexOf(plugin) ?? -1
  const row = matrix?.nodes.indexOf(node) ?? -1
  if (!matrix || column < 0 || row < 0) return undefined
  const state = stateAt(matrix, row, column)
  const own = refusalBy(matrix, row, plugin)
  return {
    state,
    rejectedBy: refusalAt(matrix, row)?.plugin,
    reasons: own?.reasons ?? [],
    status: own?.status,
    nominatedPass: nominatedPassOf(cycle, node),
    order: column + 1,
    of: matrix.plugins.length,
    notRunAfter: own ? [...(matrix.states[row] ?? '').slice(column + 1)].filter((s) => s === 'N').length : 0,
    durationSeconds: state === 'S' || state === 'N' ? undefined : cycle.filter?.durationSeconds?.[column],
    preFilter: (cycle.preFilter ?? []).find((r) => r.plugin === plugin),
  }
}

function nominatedPassOf(cycle: Cycle, node: string): FilterCell['nominatedPass'] {
  const pass = cycle.filter?.nominated?.find((n) => n.node === node)
  return pass && (pass.rejected ? 'rejected' : 'passed')
}

export interface ScoreCellDetail extends ScoreCell {
  column: ScoreColumn
  total: number
  /** The highest weighted score of the column. */
  best: number
  /** Over all nodes; null where none of the plugin's calls was measured. */
  durationSeconds: number | null | undefined
}

export function scoreCellOf(
  cycle: Cycle,
  table: ScoreTable | undefined,
  node: string,
  plugin: string
): ScoreCellDetail | undefined {
  const at = table?.columns.findIndex((c) => c.name === plugin) ?? -1
  const row = table?.nodes.indexOf(node) ?? -1
  const column = table?.columns[at]
  const span = table?.spans[at]
  if (!table || row < 0 || !column || !span) return undefined
  return {
    ...cellAt(table, row, at),
    column,
    total: table.totals[row] ?? 0,
    best: span.best,
    durationSeconds: cycle.score?.durationSeconds?.[at],
  }
}

/** The facts that a plugin recorded about the cycle or about this node. */
export function factsAt(cycle: Cycle, node: string, plugin: string): Fact[] {
  return (cycle.facts ?? []).filter((f) => f.plugin === plugin && (!f.node || f.node === node))
}

/**
 * The resources of which a plugin found too little, and how the pod's requests for them follow from
 * its containers.
 */
export function resourcesAt(
  cycle: Cycle,
  node: string,
  plugin: string
): { resources: ResourceLine[]; requests: PodRequest[] } {
  const comparison = comparisons(cycle)(node, plugin)
  const resources = comparison ? resourceLines(comparison) : []
  return {
    resources,
    requests: (cycle.filter?.requests ?? []).filter((r) => resources.some((of) => of.name === r.resource)),
  }
}
