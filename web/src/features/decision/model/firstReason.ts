// Why a cycle placed nothing, in a line, and how it ended.

import type { Outcome, Summary } from '@/api/types'
import { stageName } from './cycle'
import { parseFitError } from '@/kubernetes/pods'

/** How a cycle ended, for the feed: an unschedulable pod for which preemption made room is told apart. */
export type FeedOutcome = Outcome | 'preempted'
export const feedOutcomes: readonly FeedOutcome[] = ['scheduled', 'unschedulable', 'preempted', 'waiting', 'error']

export function feedOutcome(summary: Summary): FeedOutcome {
  return summary.outcome === 'unschedulable' && summary.nominatedNode ? 'preempted' : summary.outcome
}

/** Why a cycle placed nothing, in a line. */
export interface Reason {
  /** A plugin that rejected the pod or its nodes, or the extension point where the cycle ended or waits; '' when it is not known. */
  lead: string
  text: string
  /** What is said beside it. */
  note: string
  /** On how many nodes; undefined when no node was rejected for it. */
  nodes: number | undefined
  /** How many more reasons there are. */
  more: number
}

/** The most frequent reason by its plugin, or who holds the pod; older records have only the scheduler's message. */
export function firstReason(summary: Summary): Reason {
  const { refusal, message = '' } = summary
  if (!refusal) {
    const { reasons, message: rest } = parseFitError(message)
    const [first, ...others] = reasons
    return { lead: '', text: first?.text ?? rest, note: '', nodes: first?.count, more: others.length }
  }
  const { extensionPoint, plugin, reason = '' } = refusal
  if (extensionPoint === 'filter' || extensionPoint === 'preFilter') return { lead: plugin, text: reason || message, note: '', nodes: refusal.nodes, more: refusal.others ?? 0 }
  return { lead: stageName(extensionPoint), text: plugin, note: reason || (summary.outcome === 'waiting' ? '' : message), nodes: undefined, more: 0 }
}
