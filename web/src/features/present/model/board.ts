// The nodes at one step of a presentation: which ones are still in, which ones a plugin
// crosses out now, and the points that the feasible ones have so far. Few nodes are shown
// one by one; of many the board has counts, and the nodes with the best totals.

import { refusalAt } from '@/features/decision/model/matrix'
import { noteOf, type Note } from '@/features/decision/model/pluginComparison'
import { cellAt } from '@/features/decision/model/scores'
import type { Presentation, Step } from './steps'

/** More nodes than this do not fit on a slide that the last row of a room can read. */
const mostFaces = 24
/** The nodes that a slide of many nodes shows with their points. */
const mostBest = 8

/**
 * in: not rejected so far. leaving: rejected in this step. out: rejected earlier. failed: a plugin
 * failed on it. chosen, nominated: the outcome.
 */
export type FaceState = 'in' | 'leaving' | 'out' | 'failed' | 'chosen' | 'nominated'

export interface Face {
  node: string
  state: FaceState
  /** The plugin that rejected it, and why; '' while it is in. */
  plugin: string
  reason: string
  /** What the plugin's message leaves out. */
  note: Note | undefined
  /** The points so far; undefined before Score. */
  points: number | undefined
  /** points ÷ the best total at the end, from 0 to 1. */
  share: number
  /** What the plugin of this step adds. `raw` is undefined if an extender had no score for the node. */
  added: { raw: number | undefined; normalized: number | undefined; weighted: number } | undefined
}

/** A number of nodes in one state; `plugin` rejected them. */
export interface Count {
  state: FaceState | 'notEvaluated'
  plugin: string
  nodes: number
}

export interface Board {
  /** All nodes of a small cluster in the order of their names; of a large one, those with the best totals. */
  faces: Face[]
  /** For a large cluster: how many nodes are in which state; empty for a small one. */
  counts: Count[]
  /** For a large cluster: the number of scored nodes, of which `faces` shows the best. */
  scored: number
  /** Nodes without an entry in Filter: the search did not reach them. */
  notEvaluated: number
}

/** The board at a step of a presentation; undefined when no node was looked at. */
export function boardAt(shown: Presentation, step: Step): Board | undefined {
  const { matrix, cycle } = shown
  if (!matrix) return undefined
  const notEvaluated = cycle.explanation.notEvaluated?.nodes ?? 0
  if (matrix.nodes.length <= mostFaces)
    return { faces: matrix.nodes.map((_, row) => faceOf(shown, step, row)), counts: [], scored: 0, notEvaluated }
  const { rows, scored } = bestRows(shown, step)
  return {
    faces: rows.map((row) => faceOf(shown, step, row)),
    counts: countsOf(shown, step, notEvaluated),
    scored,
    notEvaluated,
  }
}

/** The column whose nodes leave in this step; -1 for other steps. */
function leavingColumn({ content, filtered }: Step): number {
  return content.kind === 'rejects' || content.kind === 'failed' ? filtered - 1 : -1
}

function stateOf({ matrix, cycle, outAt }: Presentation, step: Step, row: number): FaceState {
  const out = outAt[row] ?? -1
  const node = matrix?.nodes[row]
  const { kind } = step.content
  const told = kind === 'chosen' || kind === 'binding' || kind === 'end' || kind === 'victims'
  if (out < 0) return told && node === cycle.selectedNode ? 'chosen' : 'in'
  if (out >= step.filtered) return 'in'
  if (told && node === cycle.nominatedNode) return 'nominated'
  if (matrix?.states[row]?.[out] === 'E') return 'failed'
  return out === leavingColumn(step) ? 'leaving' : 'out'
}

function faceOf(shown: Presentation, step: Step, row: number): Face {
  const { matrix, table } = shown
  const node = matrix?.nodes[row] ?? ''
  const state = stateOf(shown, step, row)
  const refusal = state === 'in' || state === 'chosen' ? undefined : matrix && refusalAt(matrix, row)
  const plugin = refusal?.plugin ?? (state === 'failed' ? (matrix?.plugins[shown.outAt[row] ?? -1] ?? '') : '')
  const compared = refusal && shown.compared(node, plugin)
  const scored = step.part === 'Score' || step.scored > 0 ? (table?.nodes.indexOf(node) ?? -1) : -1
  return {
    node,
    state,
    plugin,
    reason: refusal?.reasons.join(', ') ?? '',
    note: compared && noteOf(compared),
    ...(table && scored >= 0 ? pointsOf(table, step, scored) : { points: undefined, share: 0, added: undefined }),
  }
}

function pointsOf(
  table: NonNullable<Presentation['table']>,
  { content, scored }: Step,
  row: number
): Pick<Face, 'points' | 'share' | 'added'> {
  let points = 0
  for (let p = 0; p < scored; p++) points += cellAt(table, row, p).weighted
  const added = content.kind === 'score' ? cellAt(table, row, scored - 1) : undefined
  return { points, share: table.best > 0 ? Math.min(1, Math.max(0, points / table.best)) : 0, added }
}

/**
 * The nodes with the most points at a step, among all scored nodes, and their points; empty when
 * all have the same.
 */
export function leadersAt({ table }: Presentation, { scored }: Step): { nodes: string[]; points: number } {
  let points = -Infinity
  let nodes: string[] = []
  table?.nodes.forEach((node, row) => {
    let own = 0
    for (let p = 0; p < scored; p++) own += cellAt(table, row, p).weighted
    if (own > points) [points, nodes] = [own, [node]]
    else if (own === points) nodes.push(node)
  })
  return nodes.length < (table?.nodes.length ?? 0) ? { nodes, points } : { nodes: [], points: 0 }
}

function countsOf(shown: Presentation, step: Step, notEvaluated: number): Count[] {
  const counts = new Map<string, Count>()
  const { matrix, outAt } = shown
  for (let row = 0; row < outAt.length; row++) {
    const state = stateOf(shown, step, row)
    const plugin = state === 'in' || state === 'chosen' ? '' : (matrix?.plugins[outAt[row] ?? -1] ?? '')
    const key = `${state} ${plugin}`
    const known = counts.get(key)
    if (known) known.nodes++
    else counts.set(key, { state, plugin, nodes: 1 })
  }
  if (notEvaluated) counts.set('notEvaluated', { state: 'notEvaluated', plugin: '', nodes: notEvaluated })
  const rank: Record<Count['state'], number> = {
    chosen: 0,
    nominated: 0,
    in: 1,
    leaving: 2,
    failed: 3,
    out: 3,
    notEvaluated: 4,
  }
  const position = (plugin: string) => matrix?.plugins.indexOf(plugin) ?? 0
  return [...counts.values()].sort((a, b) => rank[a.state] - rank[b.state] || position(b.plugin) - position(a.plugin))
}

/**
 * The rows of the nodes with the best totals at the end, so that they stay in place while points
 * are added.
 */
function bestRows({ matrix, table, cycle }: Presentation, step: Step): { rows: number[]; scored: number } {
  if (!table || step.part === 'Filter' || step.part === 'PreFilter' || step.part === 'Queue')
    return { rows: rowsOf(matrix, [cycle.nominatedNode], step), scored: 0 }
  const rowOf = new Map(matrix?.nodes.map((node, row) => [node, row]))
  const best = [...table.ranked.subarray(0, mostBest)].map((row) => rowOf.get(table.nodes[row] ?? ''))
  return { rows: best.filter((row) => row !== undefined), scored: table.nodes.length }
}

function rowsOf(matrix: Presentation['matrix'], nodes: readonly (string | undefined)[], { content }: Step): number[] {
  if (content.kind !== 'victims' && content.kind !== 'end') return []
  return nodes.flatMap((node) => (node ? [matrix?.nodes.indexOf(node) ?? -1] : [])).filter((row) => row >= 0)
}
