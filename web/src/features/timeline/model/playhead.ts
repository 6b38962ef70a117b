// The playhead: where a key, a pointer or playing takes it.

import type { Step } from '@/api/timeline'
import type { Axis } from './axis'
import { nextMark } from './steps'

/** The number of positions between the two ends that arrow keys step through. */
const grain = 200

/** Where a key takes the playhead (ms); `now` leaves the past, undefined leaves the key alone. */
export function keyMove(
  key: string,
  at: number,
  { from, to }: Axis,
  steps: readonly Step[]
): number | 'now' | undefined {
  const step = Math.max(1, (to - from) / grain)
  const limited = (value: number) => (value >= to ? 'now' : Math.round(Math.max(from, value)))
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return limited(at - step)
    case 'ArrowRight':
    case 'ArrowUp':
      return limited(at + step)
    case 'PageUp': {
      const mark = nextMark(steps, at, -1)
      return mark ? Date.parse(mark.time) : from
    }
    case 'PageDown': {
      const mark = nextMark(steps, at, 1)
      return mark ? Date.parse(mark.time) : 'now'
    }
    case 'Home':
      return Math.round(from)
    case 'End':
      return 'now'
    default:
      return undefined
  }
}

/** How many seconds of the recording pass in a second of playing. */
export const speeds = [1, 10, 60] as const
