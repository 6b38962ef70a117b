// What came before and around a cycle, taken apart for looking at: the queue's part,
// the preemption's dry runs.

import type { Cycle, Preemption, Victim } from '@/api/types'
import { secondsBetween } from './time'

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

export interface PreemptionRow {
  node: string
  chosen: boolean
  victims: Victim[]
  reprieved: Victim[]
  pdbViolations: number
  /** More violations than another candidate has: that alone ruled it out. */
  tooManyViolations: boolean
}

export interface PreemptionTable {
  /** The chosen one first, the others as they came (by name). */
  rows: PreemptionRow[]
  /** How preemption ended, for the sentence above the table. */
  verdict: { kind: 'rule'; rule: NonNullable<Preemption['rule']> } | { kind: 'onlyOne' } | { kind: 'none' } | { kind: 'notChosen' }
  /** Dry run in vain, by reason, most nodes first. */
  unhelpful: { plugin: string; reason: string; nodes: string[] }[]
}

export function preemptionTable(cycle: Cycle): PreemptionTable | undefined {
  const { preemption } = cycle
  if (!preemption) return undefined
  const { candidates, chosen, rule } = preemption
  const fewest = Math.min(...candidates.map((c) => c.pdbViolations))
  const rows = candidates.map((c): PreemptionRow => ({
    node: c.node,
    chosen: c.node === chosen,
    victims: c.victims,
    reprieved: c.reprieved ?? [],
    pdbViolations: c.pdbViolations,
    tooManyViolations: c.pdbViolations > fewest,
  }))
  rows.sort((a, b) => Number(b.chosen) - Number(a.chosen))
  const byReason = new Map<string, { plugin: string; reason: string; nodes: string[] }>()
  for (const u of preemption.unhelpful ?? []) {
    const reason = u.reasons.join(', ')
    const key = `${u.plugin ?? ''} ${reason}`
    const known = byReason.get(key)
    if (known) known.nodes.push(...u.nodes)
    else byReason.set(key, { plugin: u.plugin ?? '', reason, nodes: [...u.nodes] })
  }
  return {
    rows,
    verdict: !candidates.length ? { kind: 'none' } : !chosen ? { kind: 'notChosen' } : rule ? { kind: 'rule', rule } : { kind: 'onlyOne' },
    unhelpful: [...byReason.values()].sort((a, b) => b.nodes.length - a.nodes.length || a.plugin.localeCompare(b.plugin)),
  }
}
