// A pod's way through the queue and its attempts, as one list of events.

import type { Cycle, Summary } from '@/api/types'
import { queueFacts } from './queueFacts'
import { secondsBetween } from '@/kubernetes/time'

export type TimelineEvent =
  | { kind: 'created'; time: string }
  | { kind: 'requeued'; time: string; event: string; object: string; plugin: string }
  | { kind: 'flushed'; time: string }
  /** The backoff ended, and the attempt started after it. */
  | { kind: 'backoff'; time: string }
  | { kind: 'attempt'; time: string; summary: Summary }

/** Oldest first. `cycles` are the loaded attempts; the others appear without their queue events. */
export function timeline(attempts: readonly Summary[], cycles: ReadonlyMap<number, Cycle>): TimelineEvent[] {
  const out: TimelineEvent[] = []
  for (const summary of attempts) {
    const queue = cycles.get(summary.attempt) && queueFacts(cycles.get(summary.attempt) as Cycle)
    if (queue) {
      if (summary.attempt === 1) out.push({ kind: 'created', time: queue.entered })
      const before: TimelineEvent[] = []
      if (queue.back?.kind === 'event') {
        const { time, event, object, plugin } = queue.back
        before.push({ kind: 'requeued', time, event, object, plugin })
      } else if (queue.back) before.push({ kind: 'flushed', time: summary.startTime })
      if (queue.backoff && !queue.backoff.early) before.push({ kind: 'backoff', time: queue.backoff.until })
      out.push(...before.sort((a, b) => secondsBetween(b.time, a.time) - secondsBetween(a.time, b.time)))
    }
    out.push({ kind: 'attempt', time: summary.startTime, summary })
  }
  return out
}
