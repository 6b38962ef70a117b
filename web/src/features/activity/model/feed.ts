// The feed of scheduling cycles: filtered, with a line where a new configuration took
// effect.

import type { Summary } from '@/api/types'
import { feedOutcome, type FeedOutcome } from '@/features/decision/model/firstReason'

export interface FeedFilter {
  outcome: FeedOutcome | 'all'
  /** An empty field matches everything. */
  profile: string
  namespace: string
  text: string
}

export function filterFeed(items: readonly Summary[], filter: FeedFilter): Summary[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  return items.filter((s) => {
    if (filter.outcome !== 'all' && feedOutcome(s) !== filter.outcome) return false
    if (filter.profile && s.profile !== filter.profile) return false
    if (filter.namespace && s.pod.namespace !== filter.namespace) return false
    if (!words.length) return true
    const text = (
      `${s.pod.namespace}/${s.pod.name} ${s.selectedNode ?? ''} ` +
      `${s.nominatedNode ?? ''} ${s.refusal?.plugin ?? ''} ${s.message ?? ''}`
    ).toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

export function countOutcomes(items: readonly Summary[]): Record<FeedOutcome, number> {
  const counts: Record<FeedOutcome, number> = { scheduled: 0, unschedulable: 0, preempted: 0, waiting: 0, error: 0 }
  for (const s of items) counts[feedOutcome(s)]++
  return counts
}

/** The distinct values of a field, sorted. */
export function valuesOf(items: readonly Summary[], field: (s: Summary) => string): string[] {
  return [...new Set(items.map(field))].sort()
}

/** The configuration revision that a cycle ran with; 0 when unknown. */
export function revisionOf(summary: Summary): number {
  return summary.revision ?? 0
}

export type FeedRow =
  | { kind: 'cycle'; key: string; summary: Summary }
  /** Cycles above the line ran with `now`, those below with `before`. */
  | { kind: 'revision'; key: string; now: number; before: number }

/** items must be sorted newest first. */
export function feedRows(items: readonly Summary[]): FeedRow[] {
  const rows: FeedRow[] = []
  let above = 0
  for (const summary of items) {
    const revision = revisionOf(summary)
    if (above && revision && revision !== above)
      rows.push({ kind: 'revision', key: `r${above}/${revision}/${rows.length}`, now: above, before: revision })
    if (revision) above = revision
    rows.push({ kind: 'cycle', key: `${summary.pod.uid}/${summary.attempt}`, summary })
  }
  return rows
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

/** How many of items came after those that are held; items and held come newest first. */
export function freshCount(held: readonly Summary[], items: readonly Summary[]): number {
  const top = held[0]
  if (!top) return items.length
  const at = items.findIndex((s) => s.pod.uid === top.pod.uid && s.attempt === top.attempt)
  return at < 0 ? items.length : at
}
