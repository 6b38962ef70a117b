// The order of the list of decisions.

import type { Summary } from '@/api/types'
import { compareNames } from '@/kubernetes/cluster'

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

/**
 * Sorts decisions that come newest first. The server lists them by when they ended; by time means
 * by when they began. Equal ones keep their order.
 */
export function sortSummaries(items: readonly Summary[], sort: string): Summary[] {
  const began = new Map(items.map((s) => [s, Date.parse(s.startTime)]))
  const byTime = (a: Summary, b: Summary) => (began.get(a) ?? 0) - (began.get(b) ?? 0)
  const newestFirst = [...items].sort((a, b) => byTime(b, a))
  if (sort === 'time') return newestFirst.reverse()
  const order = orders[sort.replace(/^-/, '')]
  if (!order) return newestFirst
  const sign = sort.startsWith('-') ? -1 : 1
  return newestFirst.sort((a, b) => sign * order(a, b))
}
