// Filters and sorts the decisions of a replay, each paired with the recorded one.

import type { ReplayDecision } from '@/api/replay'

export function decisionKey(d: ReplayDecision): string {
  return `${d.pod.uid || `${d.pod.namespace}/${d.pod.name}`} ${d.time}`
}

/** Decisions that contain every word of text in pod, nodes or reason. */
export function filterDecisions(decisions: readonly ReplayDecision[], text: string): readonly ReplayDecision[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (!words.length) return decisions
  return decisions.filter((d) => {
    const all = (
      `${d.pod.namespace}/${d.pod.name} ${d.recordedNode} ` +
      `${d.simulatedNode} ${d.why} ${d.recordedNodeRejectedBy?.plugin ?? ''}`
    ).toLowerCase()
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

/**
 * A share as a percentage with one decimal. Only all of them are 100 %, and only none is 0 %: 99.96
 * % is 99.9 %.
 */
export function formatShare(share: number): string {
  if (share === 0 || share === 1) return `${share * 100}%`
  return `${Math.min(99.9, Math.max(0.1, share * 100)).toFixed(1)}%`
}

/** What is known of a difference besides its reason. */
export type DecisionDetail =
  /** A plugin rejects the recorded node. */
  | { kind: 'rejectedBy'; plugin: string; node: string; reasons: readonly string[] }
  /** The totals of both nodes. */
  | { kind: 'totals'; selected: number; simulated: string; recorded: number; node: string }
  /** The recorded node was not evaluated. */
  | { kind: 'notEvaluated'; node: string }

/** The details of a decision that its reason does not name already. */
export function detailsOf(d: ReplayDecision): DecisionDetail[] {
  const node = d.recordedNode
  const by = d.recordedNodeRejectedBy
  const [selected, recorded] = [d.selectedNodeTotal, d.recordedNodeTotal]
  const out: DecisionDetail[] = []
  if (by) out.push({ kind: 'rejectedBy', plugin: by.plugin, node, reasons: by.reasons })
  if (recorded !== undefined && selected !== undefined && !(names(d.why, recorded) && names(d.why, selected)))
    out.push({ kind: 'totals', selected, simulated: d.simulatedNode, recorded, node })
  if (d.outcome === 'different' && !d.recordedNodeEvaluated && !by) out.push({ kind: 'notEvaluated', node })
  return out
}

function names(text: string, number: number): boolean {
  return new RegExp(`\\b${number}\\b`).test(text)
}
