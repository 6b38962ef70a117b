// Filters and sorts the decisions of a replay, each paired with the recorded one.

import type { ReplayDecision } from '@/api/replay'
import { finder } from '@/kubernetes/search'

export function decisionKey(d: ReplayDecision): string {
  return `${d.pod.uid || `${d.pod.namespace}/${d.pod.name}`} ${d.time}`
}

export type Why = (d: ReplayDecision) => string

/** Decisions that contain every word of text in pod, nodes or reason. */
export function filterDecisions(
  decisions: readonly ReplayDecision[],
  text: string,
  why: Why
): readonly ReplayDecision[] {
  const found = finder(text)
  if (!found) return decisions
  return decisions.filter((d) =>
    found(`${d.pod.namespace}/${d.pod.name} ${d.recordedNode} ${d.simulatedNode} ${why(d)}`)
  )
}

const columns: Record<string, Why> = {
  time: (d) => d.time,
  pod: (d) => `${d.pod.namespace}/${d.pod.name}`,
  recorded: (d) => d.recordedNode,
  simulated: (d) => d.simulatedNode,
}

/** Sorts by a column; a leading `-` reverses the order. */
export function sortDecisions(decisions: readonly ReplayDecision[], sort: string, why: Why): readonly ReplayDecision[] {
  const key = { ...columns, why }[sort.replace(/^-/, '')]
  if (!key) return decisions
  const way = sort.startsWith('-') ? -1 : 1
  return [...decisions].sort((a, b) => way * key(a).localeCompare(key(b), undefined, { numeric: true }))
}

/** The percentage of compared decisions that match; undefined before the first. */
export function matchShare({ compared, matching }: { compared: number; matching: number }): number | undefined {
  return compared > 0 ? matching / compared : undefined
}

/**
 * A share as a percentage with one decimal. Only all of them are 100 %, and only none is 0 %: 99.96
 * % is 99.9 %.
 */
export function formatShare(share: number): string {
  if (share === 0 || share === 1) return `${share * 100}%`
  return `${Math.min(99.9, Math.max(0.1, share * 100)).toFixed(1)}%`
}
