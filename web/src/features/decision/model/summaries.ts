// The list of decisions: filtered and sorted.

import type { Outcome, Summary } from '@/api/types'
import { compareNames } from '@/kubernetes/cluster'

export function filterSummaries(items: readonly Summary[], by: { outcome: Outcome | 'all'; text: string; profile?: string }): Summary[] {
  const words = by.text.toLowerCase().split(/\s+/).filter(Boolean)
  return items.filter((s) => {
    if (by.outcome !== 'all' && s.outcome !== by.outcome) return false
    if (by.profile && s.profile !== by.profile) return false
    if (!words.length) return true
    const text = `${s.pod.namespace}/${s.pod.name} ${s.selectedNode ?? ''} ${s.nominatedNode ?? ''} ${s.profile} ${s.refusal?.plugin ?? ''} ${s.message ?? ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Live decisions, newest first, then older ones; duplicates appear once, as in the live list. */
export function withOlder(live: readonly Summary[], older: readonly Summary[]): readonly Summary[] {
  if (!older.length) return live
  const keyOf = (s: Summary) => `${s.pod.uid}/${s.attempt}`
  const known = new Set(live.map(keyOf))
  return [...live, ...older.filter((s) => !known.has(keyOf(s)))]
}

const orders: Record<string, (a: Summary, b: Summary) => number> = {
  pod: (a, b) => compareNames(a.pod.name, b.pod.name),
  namespace: (a, b) => compareNames(a.pod.namespace, b.pod.namespace),
  attempt: (a, b) => a.attempt - b.attempt,
  outcome: (a, b) => a.outcome.localeCompare(b.outcome),
  result: (a, b) => compareNames(a.selectedNode || a.message || '', b.selectedNode || b.message || ''),
  nodes: (a, b) => a.nodes.feasible - b.nodes.feasible,
  duration: (a, b) => a.durationSeconds - b.durationSeconds,
  profile: (a, b) => compareNames(a.profile, b.profile),
}

/** items must be sorted newest first, which is "-time"; equal items keep that order. */
export function sortSummaries(items: Summary[], sort: string): Summary[] {
  if (sort === 'time') return [...items].reverse()
  const order = orders[sort.replace(/^-/, '')]
  if (!order) return items
  const sign = sort.startsWith('-') ? -1 : 1
  return [...items].sort((a, b) => sign * order(a, b))
}
