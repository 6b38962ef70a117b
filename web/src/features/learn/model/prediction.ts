// A prediction beside the cycle that the scheduler ran, revealed plugin by plugin.

import type { NodeGrade, Prediction } from '@/api/learn'
import type { Cycle } from '@/api/types'
import { filterMatrix, refusalAt, stateAt, type CellState } from '@/features/decision/model/matrix'
import { comparisons, noteOf, type Note } from '@/features/decision/model/pluginComparison'
import { cellAt, scoreTable, type ScoreCell } from '@/features/decision/model/scores'

/** One row of the reveal. */
export type Reveal =
  | { kind: 'preFilter'; plugin: string; reason: string }
  | { kind: 'filter'; plugin: string; column: number; rejected: string[] }
  | { kind: 'score'; plugin: string; weight: number; column: number; best: string[]; top: number }
  | { kind: 'total'; best: string; margin: number; next: string; tied: string[] }
  | { kind: 'none' }

export type Cell =
  | { kind: 'passed' | 'notRun' | 'skipped' | 'error' | 'notScored' }
  | { kind: 'rejected'; reason: string; note: Note | undefined }
  | ({ kind: 'scored' } & ScoreCell)
  | { kind: 'total'; total: number; chosen: boolean }

/** What stands at the foot of a node's card. */
export interface Foot {
  /** The scheduler's word so far. */
  verdict:
    | { kind: 'in' }
    | { kind: 'rejected'; plugin: string; reason: string; note: Note | undefined }
    | { kind: 'feasible' }
    | { kind: 'chosen' }
  /** The learner's answer below it. */
  learner: 'agreed' | 'crossedOut' | 'leftIn' | 'picked' | 'pickedRight' | 'notPicked'
  right: boolean
  /** The reveal has got to the node's verdict. */
  settled: boolean
}

export interface Reveals {
  cycle: Cycle
  rows: Reveal[]
  cell(row: number, node: string): Cell
  /** The card of a node after `shown` rows. */
  foot(node: string, shown: number): Foot
}

const cellKind: Record<Exclude<CellState, 'R'>, 'passed' | 'notRun' | 'skipped' | 'error'> = {
  P: 'passed',
  N: 'notRun',
  S: 'skipped',
  E: 'error',
}

/**
 * The rows are the plugins that rejected a node or whose scores differ, in the order in which they
 * ran, and the totals.
 * A plugin that the learner thought would reject has nothing to say unless its score does.
 */
export function reveals(cycle: Cycle, grades: readonly NodeGrade[]): Reveals {
  const matrix = filterMatrix(cycle)
  const table = scoreTable(cycle)
  const compared = comparisons(cycle)
  const gradeOf = new Map(grades.map((grade) => [grade.node, grade]))
  const rowOf = new Map(matrix?.nodes.map((node, row) => [node, row]))
  const scoreRowOf = new Map(table?.nodes.map((node, row) => [node, row]))
  const rejectedBy = (node: string) => {
    const row = rowOf.get(node)
    const refusal = matrix && row !== undefined ? refusalAt(matrix, row) : undefined
    if (!refusal) return undefined
    const comparison = compared(node, refusal.plugin)
    return { plugin: refusal.plugin, reason: refusal.reasons.join(', '), note: comparison && noteOf(comparison) }
  }

  const rows: Reveal[] = []
  const early = cycle.preFilter?.find(({ status }) => status !== 'Success' && status !== 'Skip')
  if (!matrix && early) rows.push({ kind: 'preFilter', plugin: early.plugin, reason: early.reasons?.join(', ') ?? '' })
  matrix?.plugins.forEach((plugin, column) => {
    const rejected = matrix.nodes.filter((node) => rejectedBy(node)?.plugin === plugin)
    if (rejected.length) rows.push({ kind: 'filter', plugin, column, rejected })
  })
  table?.columns.forEach(({ name, weight }, column) => {
    const values = table.nodes.map((_, row) => cellAt(table, row, column).weighted)
    const top = Math.max(...values)
    if (values.every((value) => value === 0)) return
    rows.push({
      kind: 'score',
      plugin: name,
      weight,
      column,
      top,
      best: table.nodes.filter((_, row) => values[row] === top),
    })
  })
  if (table) {
    const [first = 0, second] = table.ranked
    const tied = table.nodes.filter((_, row) => table.totals[row] === table.best)
    rows.push({
      kind: 'total',
      best: cycle.selectedNode ?? table.nodes[first] ?? '',
      margin: second === undefined ? 0 : table.best - (table.totals[second] ?? 0),
      next: second === undefined ? '' : (table.nodes[second] ?? ''),
      tied: tied.length > 1 ? tied : [],
    })
  } else if (cycle.selectedNode) rows.push({ kind: 'total', best: cycle.selectedNode, margin: 0, next: '', tied: [] })
  else rows.push({ kind: 'none' })

  /** The row that settles a node: the plugin that rejected it, or the last one. */
  const settledAt = (node: string) => {
    const by = rejectedBy(node)
    const at = by
      ? rows.findIndex((row) => row.kind === 'filter' && row.plugin === by.plugin)
      : rows.findIndex((row) => row.kind === 'preFilter')
    return at < 0 ? rows.length - 1 : at
  }

  return {
    cycle,
    rows,
    cell(row, node) {
      const at = rows[row]
      if (at?.kind === 'filter' && matrix) {
        const state = stateAt(matrix, rowOf.get(node) ?? -1, at.column)
        const by = rejectedBy(node)
        if (by?.plugin === at.plugin) return { kind: 'rejected', reason: by.reason, note: by.note }
        return { kind: state === 'R' ? 'notRun' : (cellKind[state] ?? 'notRun') }
      }
      const scored = scoreRowOf.get(node)
      if (at?.kind === 'score' && table && scored !== undefined)
        return { kind: 'scored', ...cellAt(table, scored, at.column) }
      if (at?.kind === 'total' && table && scored !== undefined)
        return { kind: 'total', total: table.totals[scored] ?? 0, chosen: node === cycle.selectedNode }
      return { kind: at?.kind === 'preFilter' ? 'notRun' : 'notScored' }
    },
    foot(node, shown) {
      const grade = gradeOf.get(node)
      const settled = shown > settledAt(node)
      const by =
        rejectedBy(node) ??
        (grade?.verdict === 'rejected' && early
          ? { plugin: early.plugin, reason: early.reasons?.join(', ') ?? '', note: undefined }
          : undefined)
      const verdict: Foot['verdict'] = !settled
        ? { kind: 'in' }
        : by
          ? { kind: 'rejected', ...by }
          : { kind: node === cycle.selectedNode ? 'chosen' : 'feasible' }
      return { verdict, learner: learnerOf(grade, grades), right: grade?.right ?? false, settled }
    },
  }
}

function learnerOf(grade: NodeGrade | undefined, all: readonly NodeGrade[]): Foot['learner'] {
  if (!grade) return 'leftIn'
  if (grade.picked) return grade.verdict === 'chosen' ? 'pickedRight' : 'picked'
  if (grade.crossedOut) return grade.verdict === 'rejected' ? 'agreed' : 'crossedOut'
  if (grade.verdict === 'chosen') return all.some(({ picked }) => picked) ? 'notPicked' : 'leftIn'
  return grade.verdict === 'rejected' ? 'leftIn' : 'agreed'
}

/** How many nodes the learner judged right. */
export const rightOf = (grades: readonly NodeGrade[]): number => grades.filter(({ right }) => right).length

/** The prediction after a node was crossed out or taken back. A crossed-out node is not picked. */
export function crossed({ crossedOut, picked }: Prediction, node: string): Prediction {
  const out = crossedOut.includes(node)
  return {
    crossedOut: out ? crossedOut.filter((one) => one !== node) : [...crossedOut, node],
    picked: !out && picked === node ? '' : picked,
  }
}

/** The prediction after a node was picked or put back. A picked node is not crossed out. */
export function picked({ crossedOut, picked: before }: Prediction, node: string): Prediction {
  return before === node
    ? { crossedOut, picked: '' }
    : { crossedOut: crossedOut.filter((one) => one !== node), picked: node }
}

/** Whether the scheduler can be asked: a node is picked, or every node is crossed out. */
export const isComplete = ({ crossedOut, picked: node }: Prediction, nodes: number): boolean =>
  node !== '' || (nodes > 0 && crossedOut.length === nodes)
