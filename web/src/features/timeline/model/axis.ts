// The axis of the time line: times as parts of its width, its ticks, and its zoom.

/** The times at the two ends, in ms since the epoch. */
export interface Axis {
  from: number
  to: number
}

/** How much of the recording the axis shows, in seconds; 0 is all of it. */
export const zooms = [600, 3600, 21_600, 0] as const

/** An axis shorter than this would show nothing but its own grain (ms). */
const shortest = 10_000

/**
 * The axis of a recording from `start` to `end` at a zoom. It keeps `at` in view: where the
 * newest part does not contain it, the axis is centred on it.
 */
export function axisOf({
  start,
  end,
  zoom,
  at,
}: {
  start: number
  end: number
  zoom: number
  at: number | undefined
}): Axis {
  const from = Math.min(start, end - shortest)
  const length = zoom * 1000
  if (!length || length >= end - from) return { from, to: end }
  if (at === undefined || at >= end - length) return { from: end - length, to: end }
  const first = Math.min(Math.max(from, at - length / 2), end - length)
  return { from: first, to: first + length }
}

/** Where a time is on the axis, from 0 to 1; beyond its ends, the nearer end. */
export function partOf({ from, to }: Axis, at: number): number {
  return to > from ? Math.min(1, Math.max(0, (at - from) / (to - from))) : 1
}

/** The time at a part of the axis. */
export function timeAt({ from, to }: Axis, part: number): number {
  return Math.round(from + Math.min(1, Math.max(0, part)) * (to - from))
}

const rounds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map(
  (s) => s * 1000
)

/** Round times on the axis, at most `most` of them. `offset` is that of the local zone in ms. */
export function ticksOf({ from, to }: Axis, most: number, offset: number): number[] {
  const day = 86_400_000
  const step = rounds.find((round) => (to - from) / round <= most) ?? Math.ceil((to - from) / most / day) * day
  const ticks: number[] = []
  for (let at = Math.ceil((from + offset) / step) * step - offset; at <= to; at += step) ticks.push(at)
  return ticks
}

/** "42 min", "3 h 5 min", "52 s" as numbers: the two largest units, from days to seconds. */
export function durationParts(ms: number): { unit: 'd' | 'h' | 'min' | 's'; n: number }[] {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const all = [
    { unit: 'd' as const, n: Math.floor(seconds / 86_400) },
    { unit: 'h' as const, n: Math.floor(seconds / 3600) % 24 },
    { unit: 'min' as const, n: Math.floor(seconds / 60) % 60 },
    { unit: 's' as const, n: seconds % 60 },
  ]
  const first = all.findIndex(({ n }) => n > 0)
  if (first < 0) return [{ unit: 's', n: 0 }]
  return all.slice(first, first + 2).filter(({ n }) => n > 0)
}
