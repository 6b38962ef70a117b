// The scheduler's rates over a range of time.

import type { Outcome, Summary, Timeline } from '@/api/types'
import { secondsOf, type TimeRange } from './timeRange'

/** The range of the charts while none is chosen, in seconds. */
export const usualSpan = 300
export const points = 100

/** The times between which the charts show values, in ms; an open range ends now. */
export function chartBounds(
  range: TimeRange,
  oldest: string | undefined,
  now: number
): { since: number; until: number } {
  const until = range.until ? Date.parse(range.until) : now
  const seconds = secondsOf(range.last)
  if (seconds !== undefined) return { since: now - seconds * 1000, until: now }
  if (range.since) return { since: Math.min(Date.parse(range.since), until - 1000), until }
  // Only the end is fixed: from the oldest decision on.
  const first = range.until && oldest ? Date.parse(oldest) : NaN
  return { since: first < until ? first : until - usualSpan * 1000, until }
}

const outcomes: readonly Outcome[] = ['scheduled', 'unschedulable', 'waiting', 'error']

/**
 * Cycles per second in each interval of a timeline; undefined where the server keeps no decisions
 * any more.
 */
export function perSecond(
  timeline: Timeline,
  of: 'cycles' | 'bound',
  { since, until }: { since: number; until: number },
  oldest: string | undefined
): (number | undefined)[] {
  const length = timeline.scheduled.length
  const seconds = (until - since) / 1000 / Math.max(1, length)
  const first = oldest ? Date.parse(oldest) : 0
  return timeline.scheduled.map((bound, i) => {
    const count = of === 'bound' ? bound : outcomes.reduce((sum, outcome) => sum + (timeline[outcome][i] ?? 0), 0)
    return since + (i + 1) * seconds * 1000 > first ? count / seconds : undefined
  })
}

/** Pods that wait in Permit, and how many each plugin holds, most first. */
export function waitingAtPermit(items: readonly Summary[]): { pods: number; by: { plugin: string; pods: number }[] } {
  const by = new Map<string, number>()
  let pods = 0
  for (const s of items) {
    if (s.outcome !== 'waiting') continue
    pods++
    if (s.refusal) by.set(s.refusal.plugin, (by.get(s.refusal.plugin) ?? 0) + 1)
  }
  return {
    pods,
    by: [...by]
      .map(([plugin, n]) => ({ plugin, pods: n }))
      .sort((a, b) => b.pods - a.pods || (a.plugin < b.plugin ? -1 : 1)),
  }
}
