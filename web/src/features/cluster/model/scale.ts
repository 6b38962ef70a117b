// A scale for shading: classes of about equally many nodes. A linear scale gives most tiles
// one colour, because values crowd together.

/** The number of shades; levels run from 1 to this. */
export const levels = 5

export interface Scale {
  /** The smallest and the largest value of each class, ascending. */
  classes: readonly { from: number; to: number; level: number }[]
  /** The level of a value within the scale. */
  levelOf(value: number): number
}

/**
 * Divides ascending values into at most as many classes as there are levels. Equal values
 * are in one class, and what crowded values leave over is divided among the others. The last
 * class always has the strongest shade.
 */
export function scaleOf(ascending: readonly number[]): Scale {
  const found: { from: number; to: number }[] = []
  let left = ascending.length
  let start = 0
  for (let at = 0; at < ascending.length; at++) {
    const [value, next] = [ascending[at] ?? 0, ascending[at + 1]]
    if (value === next) continue
    const size = at + 1 - start
    if (next !== undefined && size < left / (levels - found.length)) continue
    found.push({ from: ascending[start] ?? value, to: value })
    left -= size
    start = at + 1
  }
  const classes = found.map((one, i) => ({ ...one, level: Math.round(((i + 1) * levels) / found.length) }))
  return {
    classes,
    levelOf: (value) => (classes.find(({ to }) => value <= to) ?? classes.at(-1))?.level ?? levels,
  }
}
