// The details of one cell of the tables, a node × a plugin, in Filter and in Score.

import type { Cycle, Fact, PluginResult, PodRequest } from '@/api/types'
import { refusalAt, refusalBy, stateAt, type CellState, type FilterMatrix } from './matrix'
import { comparisons, resourceLines, type Comparison, type ResourceLine } from './pluginComparison'
import { cellAt, type ScoreCell, type ScoreColumn, type ScoreTable } from './scores'

export interface FilterCell {
  state: CellState
  /** The plugin that rejected the node: this one or an earlier one. */
  rejectedBy: string | undefined
  /** Why this plugin rejected the node. */
  reasons: readonly string[]
  /** Whether removing pods would help. Known only if this plugin rejected the node and preemption considered it. */
  removal: { status: string; help: 'helps' | 'notEnough' | 'noHelp' } | undefined
  /** The result of a second Filter pass that also counts the pods nominated to the node; undefined if there was none. */
  nominatedPass: 'rejected' | 'passed' | undefined
  /** The plugin's position in the execution order, from 1, and the number of plugins. */
  order: number
  of: number
  /** The number of plugins that did not run because this one rejected the node. */
  notRunAfter: number
  /** For all nodes; undefined if the plugin did not run for this node, null if none of its calls was measured. */
  durationSeconds: number | null | undefined
  preFilter: PluginResult | undefined
}

/** undefined if the node or the plugin is not in the matrix. */
export function filterCellOf(cycle: Cycle, matrix: FilterMatrix | undefined, node: string, plugin: string): FilterCell | undefined {
  const column = matrix?.plugins.indexOf(plugin) ?? -1
  const row = matrix?.nodes.indexOf(node) ?? -1
  if (!matrix || column < 0 || row < 0) return undefined
  const state = stateAt(matrix, row, column)
  const own = refusalBy(matrix, row, plugin)
  return {
    state,
    rejectedBy: refusalAt(matrix, row)?.plugin,
    reasons: own?.reasons ?? [],
    removal: state === 'R' ? removalOf(cycle, node) : undefined,
    nominatedPass: nominatedPassOf(cycle, node),
    order: column + 1,
    of: matrix.plugins.length,
    notRunAfter: own ? [...(matrix.states[row] ?? '').slice(column + 1)].filter((s) => s === 'N').length : 0,
    durationSeconds: state === 'S' || state === 'N' ? undefined : cycle.filter?.durationSeconds?.[column],
    preFilter: (cycle.preFilter ?? []).find((r) => r.plugin === plugin),
  }
}

/** The record has a rejection's status code only for nodes that preemption considered. */
function removalOf({ preemption }: Cycle, node: string): FilterCell['removal'] {
  if (preemption?.candidates.some((c) => c.node === node)) return { status: 'Unschedulable', help: 'helps' }
  const status = preemption?.unhelpful?.find((u) => u.nodes.includes(node))?.status
  return status ? { status, help: status === 'Unschedulable' ? 'notEnough' : 'noHelp' } : undefined
}

function nominatedPassOf(cycle: Cycle, node: string): FilterCell['nominatedPass'] {
  const pass = cycle.filter?.nominated?.find((n) => n.node === node)
  return pass && (pass.rejected ? 'rejected' : 'passed')
}

export interface ScoreCellDetail extends ScoreCell {
  column: ScoreColumn
  /** The node's total. */
  total: number
  /** The highest weighted score of the column. */
  best: number
  /** Over all nodes; null where none of the plugin's calls was measured. */
  durationSeconds: number | null | undefined
}

export function scoreCellOf(cycle: Cycle, table: ScoreTable | undefined, node: string, plugin: string): ScoreCellDetail | undefined {
  const at = table?.columns.findIndex((c) => c.name === plugin) ?? -1
  const row = table?.nodes.indexOf(node) ?? -1
  const column = table?.columns[at]
  const span = table?.spans[at]
  if (!table || row < 0 || !column || !span) return undefined
  return { ...cellAt(table, row, at), column, total: table.totals[row] ?? 0, best: span.best, durationSeconds: cycle.score?.durationSeconds?.[at] }
}

/** The facts that a plugin recorded about the cycle or about this node. */
export function factsAt(cycle: Cycle, node: string, plugin: string): Fact[] {
  return (cycle.facts ?? []).filter((f) => f.plugin === plugin && (!f.node || f.node === node))
}

export interface Compared {
  resources: ResourceLine[]
  /** How the pod's requests for these resources follow from its containers. */
  requests: PodRequest[]
  taint: Comparison['taint']
  terms: NonNullable<Comparison['terms']>
  podTerms: NonNullable<Comparison['podTerms']>
  spread: NonNullable<Comparison['spread']>
  ports: NonNullable<Comparison['ports']>
  claims: NonNullable<Comparison['claims']>
  devices: NonNullable<Comparison['devices']>
}

/** The values that a plugin compared for a node. Without a plugin: those of the plugin that rejected it. */
export function comparedAt(cycle: Cycle, matrix: FilterMatrix | undefined, node: string, plugin: string): Compared | undefined {
  const row = matrix?.nodes.indexOf(node) ?? -1
  const by = plugin || (matrix && row >= 0 ? refusalAt(matrix, row)?.plugin : undefined)
  const comparison = node && by ? comparisons(cycle)(node, by) : undefined
  if (!comparison) return undefined
  const resources = resourceLines(comparison)
  const { taint, terms = [], podTerms = [], spread = [], ports = [], claims = [], devices = [] } = comparison
  const any = resources.length || taint || terms.length || podTerms.length || spread.length || ports.length || claims.length || devices.length
  const requests = (cycle.filter?.requests ?? []).filter((r) => resources.some((of) => of.name === r.resource))
  return any ? { resources, requests, taint, terms, podTerms, spread, ports, claims, devices } : undefined
}
