// The glyphs of a Filter row as paths: one per state and row, because an element per cell
// would mean drawing thousands of elements on each frame of scrolling.

import type { CellState } from './matrix'

/** Relative to the centre of the cell, in pixels; drawn as lines with round ends. */
const strokes: Record<CellState, string> = {
  P: 'm-4 .3 2.9 3 5.2-6.4',
  R: 'm-3.4-3.4 6.8 6.8m0-6.8-6.8 6.8',
  S: 'm-3 0h6',
  N: 'm-.1 0h.2',
  E: 'm0-4v4.6m0 2.6v.3',
}

const made = new Map<string, [CellState, string][]>()

/** The paths of the states in `letters`, for cells of a given width and height. Nodes share most of them. */
export function glyphPaths(letters: string, width: number, height: number): [CellState, string][] {
  const key = `${width} ${height} ${letters}`
  const known = made.get(key)
  if (known) return known
  const paths = new Map<CellState, string>()
  for (let p = 0; p < letters.length; p++) {
    const state = letters[p] as CellState
    paths.set(state, `${paths.get(state) ?? ''}M${p * width + width / 2} ${height / 2}${strokes[state] ?? ''}`)
  }
  const out = [...paths]
  if (made.size > 2000) made.clear()
  made.set(key, out)
  return out
}
