// The steps of the time line: which are near a moment, where the next mark is, and the
// configuration between them.

import type { Moment, Step } from '@/api/timeline'

/**
 * The steps around a moment: up to `before` until it, and up to `after` later ones; oldest first. A
 * step that changes no object has the moment before it, so the time decides, too.
 */
export function around(
  steps: readonly Step[],
  { moment, time }: Pick<Moment, 'moment' | 'time'>,
  { before, after }: { before: number; after: number }
): { past: Step[]; later: Step[] } {
  const until = Date.parse(time)
  const at = steps.findIndex((step) => step.moment > moment || Date.parse(step.time) > until)
  const first = at < 0 ? steps.length : at
  return { past: steps.slice(Math.max(0, first - before), first), later: steps.slice(first, first + after) }
}

/** The nearest step before (-1) or after (1) a time in ms; undefined when there is none. */
export function nextMark(steps: readonly Step[], at: number, way: 1 | -1): Step | undefined {
  const timed = steps.map((step) => ({ step, at: Date.parse(step.time) }))
  return way > 0 ? timed.find((one) => one.at > at)?.step : timed.findLast((one) => one.at < at)?.step
}

/** The step nearest to a time, if it is within `reach` ms. */
export function markNear(steps: readonly Step[], at: number, reach: number): Step | undefined {
  let best: Step | undefined
  let least = reach
  for (const step of steps) {
    const far = Math.abs(Date.parse(step.time) - at)
    if (far > least) continue
    least = far
    best = step
  }
  return best
}

/** A time during which one revision was in force, or for which one failed to start. */
export interface ConfigurationSpan {
  /** undefined before the first step that the recording has. */
  step: Step | undefined
  from: number
  to: number
  failed: boolean
}

/** The revisions between two times, without gaps. A failed one is as long as the attempt to start it was. */
export function configurationSpans(steps: readonly Step[], from: number, to: number): ConfigurationSpan[] {
  const spans: ConfigurationSpan[] = []
  let open: ConfigurationSpan = { step: undefined, from, to, failed: false }
  for (const step of steps) {
    if (step.kind !== 'configuration') continue
    const at = Math.max(from, Date.parse(step.time))
    if (step.failed) {
      spans.push({ step, from: at, to: Math.min(to, step.endTime ? Date.parse(step.endTime) : at), failed: true })
      continue
    }
    if (at > open.from) spans.push({ ...open, to: at })
    open = { step, from: at, to, failed: false }
  }
  return [...spans, open].sort((a, b) => a.from - b.from)
}

/** Failures with their ends; one that lasts ends at `until`. */
export function failureSpans(
  steps: readonly Step[],
  until: number
): { step: Step; from: number; to: number; lasts: boolean }[] {
  return steps
    .filter(({ kind }) => kind === 'failure')
    .map((step) => ({
      step,
      from: Date.parse(step.time),
      to: step.endTime ? Date.parse(step.endTime) : until,
      lasts: !step.endTime,
    }))
}
