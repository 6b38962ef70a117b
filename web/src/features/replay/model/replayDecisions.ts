// Filters and sorts the decisions of a replay, each paired with the recorded one.

import type { ReplayDecision, ReplayOutcome } from '@/api/replay'

export const replayOutcomes: readonly ReplayOutcome[] = ['different', 'matching', 'pending', 'notCompared']

export function decisionKey(d: ReplayDecision): string {
  return `${d.pod.uid || `${d.pod.namespace}/${d.pod.name}`} ${d.time}`
}

/** Decisions that contain every word of text in pod, nodes or reason. */
export function filterDecisions(decisions: readonly ReplayDecision[], text: string): readonly ReplayDecision[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (!words.length) return decisions
  return decisions.filter((d) => {
    const all = `${d.pod.namespace}/${d.pod.name} ${d.recordedNode} ${d.simulatedNode} ${d.why} ${d.recordedNodeRejectedBy?.plugin ?? ''}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
}

const columns: Record<string, (d: ReplayDecision) => string> = {
  time: (d) => d.time,
  pod: (d) => `${d.pod.namespace}/${d.pod.name}`,
  recorded: (d) => d.recordedNode,
  simulated: (d) => d.simulatedNode,
  why: (d) => d.why,
}

/** Sorts by a column; a leading `-` reverses the order. */
export function sortDecisions(decisions: readonly ReplayDecision[], sort: string): readonly ReplayDecision[] {
  const key = columns[sort.replace(/^-/, '')]
  if (!key) return decisions
  const way = sort.startsWith('-') ? -1 : 1
  return [...decisions].sort((a, b) => way * key(a).localeCompare(key(b), undefined, { numeric: true }))
}

/** The percentage of compared decisions that match; undefined before the first. */
export function matchShare({ compared, matching }: { compared: number; matching: number }): number | undefined {
  return compared > 0 ? matching / compared : undefined
}
