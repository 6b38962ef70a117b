// How long a member may wait at Permit: from the record of its attempt.

import type { Cycle } from '@/api/types'

/** Times in ms. */
export interface Wait {
  /** The member that times out first; '' in a record. */
  pod: string
  from: number
  until: number
}

/** undefined when the plugin recorded no end of the wait, as plugins other than Coscheduling do not. */
export function waitOf(cycle: Pick<Cycle, 'startTime' | 'facts'>): Wait | undefined {
  const fact = cycle.facts?.find(({ plugin, node, key }) => plugin === 'Coscheduling' && !node && key === 'waitUntil')
  const until = Date.parse(fact?.value ?? '')
  return Number.isNaN(until) ? undefined : { pod: '', from: Date.parse(cycle.startTime), until }
}

/** Whole seconds, never less than 0. */
export const secondsLeft = (wait: Pick<Wait, 'until'>, now: Date) =>
  Math.max(0, Math.ceil((wait.until - now.getTime()) / 1000))
