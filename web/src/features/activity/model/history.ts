// The decisions of a range of time: those from before the page was opened and those that
// arrive; and the cycles over time.

import type { Outcome, Summary, Timeline } from '@/api/types'
import { attemptKey } from '@/features/decision/model/search'
import { sortSummaries } from '@/features/decision/model/summaries'
import { boundsOf, secondsOf, type TimeRange } from '@/features/decision/model/timeRange'

/** The range of the charts while none is chosen, in seconds. */
export const usualSpan = 300
/** Points of a chart. */
export const points = 100
/** Decisions that the feed holds. The list of decisions has all. */
export const mostHeld = 2000

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

/**
 * Live decisions and those from before, each once, at most `mostHeld`; within the range. Newest
 * first by when they began: the server lists those from before by when they ended.
 */
export function withHistory(
  live: readonly Summary[],
  before: readonly Summary[],
  range: TimeRange,
  now: number
): readonly Summary[] {
  const known = new Set(live.map(attemptKey))
  const all = sortSummaries([...live, ...before.filter((s) => !known.has(attemptKey(s)))], '-time')
  const { since, until } = boundsOf(range, now)
  const from = since ? Date.parse(since) : -Infinity
  const to = until ? Date.parse(until) : Infinity
  const within =
    since || until ? all.filter((s) => Date.parse(s.startTime) >= from && Date.parse(s.startTime) < to) : all
  return within.slice(0, mostHeld)
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
  const first = oldest ? Date.parse(oldest) : Infinity
  return timeline.scheduled.map((bound, i) => {
    const count = of === 'bound' ? bound : outcomes.reduce((sum, outcome) => sum + (timeline[outcome][i] ?? 0), 0)
    return since + (i + 1) * seconds * 1000 > first ? count / seconds : undefined
  })
}
