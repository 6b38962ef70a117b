// A scale for shading: classes of about equally many nodes. A linear scale gives most tiles
// one colour, because values crowd together.

/** The number of shades; levels run from 1 to this. */
export const levels = 5

export interface Scale {
  /** The smallest and the largest value of each class, ascending. */
  classes: readonly { from: number; to: number; level: number }[]
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
  let open: { from: number; to: number; size: number } | undefined
  const close = () => {
    if (!open) return
    found.push({ from: open.from, to: open.to })
    left -= open.size
    open = undefined
  }
  const fair = () => left / Math.max(1, levels - found.length)
  for (const { value, size } of runs(ascending)) {
    // A crowded value does not take its neighbours along.
    if (open && size >= fair() && found.length < levels - 1) close()
    open = { from: open?.from ?? value, to: value, size: (open?.size ?? 0) + size }
    if (open.size >= fair() && found.length < levels - 1) close()
  }
  close()
  const classes = found.map((one, i) => ({ ...one, level: Math.round(((i + 1) * levels) / found.length) }))
  return {
    classes,
    levelOf: (value) => (classes.find(({ to }) => value <= to) ?? classes.at(-1))?.level ?? levels,
  }
}

function runs(ascending: readonly number[]): { value: number; size: number }[] {
  const all: { value: number; size: number }[] = []
  for (const value of ascending) {
    const last = all.at(-1)
    if (last?.value === value) last.size++
    else all.push({ value, size: 1 })
  }
  return all
}
