// What came before a cycle, taken apart for looking at: the queue's part.

import type { Cycle } from '@/api/types'
import { secondsBetween } from '@/kubernetes/time'

export interface QueueFacts {
  entered: string
  /** From entering the queue to the start of the attempt. */
  waitedSeconds: number
  rejectedBy: string[]
  backoff: { until: string; early: boolean } | undefined
  back: { kind: 'event'; event: string; object: string; plugin: string; time: string } | { kind: 'flushed' } | undefined
  /** The scheduler's own count, where it is not the attempt's number: it was restarted since. */
  ownCount: number | undefined
}

export function queueFacts(cycle: Cycle): QueueFacts | undefined {
  const { queue } = cycle
  if (!queue) return undefined
  const by = queue.requeuedBy
  return {
    entered: queue.addedTime,
    waitedSeconds: secondsBetween(queue.addedTime, cycle.startTime),
    rejectedBy: queue.rejectedBy ?? [],
    // The scheduler may try a pod before its backoff has ended, when nothing else is to be tried.
    backoff: queue.backoffUntil ? { until: queue.backoffUntil, early: secondsBetween(cycle.startTime, queue.backoffUntil) > 0 } : undefined,
    back: by
      ? { kind: 'event', event: by.event, object: [by.namespace, by.name].filter(Boolean).join('/'), plugin: by.plugin, time: by.time }
      : queue.flushed
        ? { kind: 'flushed' }
        : undefined,
    ownCount: queue.attempts === cycle.attempt ? undefined : queue.attempts,
  }
}
