// What a row of the Filter matrix shows, made once for each node: scrolling renders a dozen
// rows in each frame.

import { plainName } from './cycle'
import { glyphPaths, type GlyphPath } from './glyphs'
import { refusalAt, type FilterMatrix } from './matrix'

export interface FilterRow {
  node: string
  /** One letter per shown column. */
  states: string
  paths: readonly GlyphPath[]
  feasible: boolean
  /** The plugin that rejected the node, why, and what its message leaves out; '' if it is feasible. */
  by: string
  reasons: string
  more: string
  /** undefined for a node that was not scored. */
  total: number | undefined
}

export interface FilterRowContext {
  matrix: FilterMatrix
  totals: ReadonlyMap<string, number>
  note: (node: string, plugin: string) => string
  columns: Columns
}

/** The columns that are shown. */
export interface Columns {
  plugins: readonly number[]
  /** One more folds and unfolds the plugins that were skipped. */
  more: boolean
  /** It stands for them, which have no columns then. */
  folded: boolean
}

/** The letters of the shown columns. The plugins that are not shown were skipped. */
export const shownLetters = (states: string, { plugins, folded }: Columns) =>
  plugins.map((p) => states[p] ?? 'N').join('') + (folded ? 'S' : '')

export const cellWidth = 31
export const cellHeight = 24

export function filterRow({ matrix, totals, note, columns }: FilterRowContext, row: number): FilterRow {
  const node = matrix.nodes[row] ?? ''
  const states = shownLetters(matrix.states[row] ?? '', columns)
  const feasible = matrix.feasibleAt[row] === 1
  const refusal = feasible ? undefined : refusalAt(matrix, row)
  return {
    node,
    states,
    paths: glyphPaths(states, cellWidth, cellHeight),
    feasible,
    by: plainName(refusal?.plugin ?? ''),
    reasons: refusal?.reasons.join(', ') ?? '',
    more: feasible ? '' : note(node, refusal?.plugin ?? ''),
    total: feasible ? totals.get(node) : undefined,
  }
}
