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

const filled: readonly CellState[] = ['N', 'R', 'E']

/** A path with its class: the glyphs of a state, or the backgrounds of its cells. */
export interface GlyphPath {
  name: string
  d: string
}

const made = new Map<string, readonly GlyphPath[]>()

/**
 * The paths of the states in `letters`, for cells of a given width and height. Every row has
 * the same paths, some of them empty, so that a row is drawn again without new elements.
 */
export function glyphPaths(letters: string, width: number, height: number): readonly GlyphPath[] {
  const key = `${width} ${height} ${letters}`
  const known = made.get(key)
  if (known) return known
  const backgrounds = new Map<CellState, string>(filled.map((state) => [state, '']))
  const glyphs = new Map<CellState, string>((Object.keys(strokes) as CellState[]).map((state) => [state, '']))
  for (let p = 0; p < letters.length; p++) {
    const state = letters[p] as CellState
    glyphs.set(state, `${glyphs.get(state) ?? ''}M${p * width + width / 2} ${height / 2}${strokes[state] ?? ''}`)
    if (backgrounds.has(state))
      backgrounds.set(state, `${backgrounds.get(state)}M${p * width + 1} 0h${width - 1}v${height}h${1 - width}z`)
  }
  const out = [
    ...[...backgrounds].map(([state, d]) => ({ name: `b${state}`, d })),
    ...[...glyphs].map(([state, d]) => ({ name: state, d })),
  ]
  if (made.size > 2000) made.clear()
  made.set(key, out)
  return out
}
