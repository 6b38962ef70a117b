// The queue's part in a cycle: what happened before the attempt.

import type { Cycle } from '@/api/types'
import { secondsBetween } from '@/kubernetes/time'

export interface QueueFacts {
  entered: string
  /** From entering the queue to the start of the attempt. */
  waitedSeconds: number
  rejectedBy: string[]
  backoff: { until: string; early: boolean } | undefined
  back: { kind: 'event'; event: string; object: string; plugin: string; time: string } | { kind: 'flushed' } | undefined
  /** The scheduler's own count, if it differs from the attempt's number because the scheduler restarted. */
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
    // The scheduler may try a pod before its backoff ends if the queue is otherwise empty.
    backoff: queue.backoffUntil
      ? { until: queue.backoffUntil, early: secondsBetween(cycle.startTime, queue.backoffUntil) > 0 }
      : undefined,
    back: by
      ? {
          kind: 'event',
          event: by.event,
          object: [by.namespace, by.name].filter(Boolean).join('/'),
          plugin: by.plugin,
          time: by.time,
        }
      : queue.flushed
        ? { kind: 'flushed' }
        : undefined,
    ownCount: queue.attempts === cycle.attempt ? undefined : queue.attempts,
  }
}
