// The reason why a cycle placed no pod, in one line, and the outcome of the cycle.

import type { Outcome, Summary } from '@/api/types'
import { stageName } from './cycle'
import { parseFitError } from '@/kubernetes/pods'

/** The outcome of a cycle for the feed, which distinguishes unschedulable pods with a preemption. */
export type FeedOutcome = Outcome | 'preempted'
export const feedOutcomes: readonly FeedOutcome[] = ['scheduled', 'unschedulable', 'preempted', 'waiting', 'error']

export function feedOutcome(summary: Summary): FeedOutcome {
  return summary.outcome === 'unschedulable' && summary.nominatedNode ? 'preempted' : summary.outcome
}

export interface Reason {
  /**
   * The plugin that rejected the pod or its nodes, or the extension point where the cycle ended or
   * waits; '' when unknown.
   */
  lead: string
  text: string
  note: string
  /** The number of nodes; undefined when the reason rejected no node. */
  nodes: number | undefined
  more: number
}

/**
 * The most frequent reason with its plugin, or the plugin that holds the pod; older records have
 * only the scheduler's message. A reason of the preferred plugin comes before all others.
 */
export function firstReason(summary: Summary, preferred = ''): Reason {
  const { refusal, message = '' } = summary
  if (!refusal) {
    const { reasons, message: rest } = parseFitError(message)
    const [first, ...others] = reasons
    return { lead: '', text: first?.text ?? rest, note: '', nodes: first?.count, more: others.length }
  }
  const own = refusal.plugin === preferred ? undefined : refusal.further?.find((one) => one.plugin === preferred)
  if (own?.reason) return { lead: preferred, text: own.reason, note: '', nodes: own.nodes, more: refusal.others ?? 0 }
  const { extensionPoint, plugin, reason = '' } = refusal
  if (extensionPoint === 'filter' || extensionPoint === 'preFilter')
    return { lead: plugin, text: reason || message, note: '', nodes: refusal.nodes, more: refusal.others ?? 0 }
  return {
    lead: stageName(extensionPoint),
    text: plugin,
    note: reason || (summary.outcome === 'waiting' ? '' : message),
    nodes: undefined,
    more: 0,
  }
}

/** A reason why a cycle placed no pod, with its plugin. */
export interface PluginReason {
  plugin: string
  reason: string
  /** The number of nodes; undefined when the reason rejected no node. */
  nodes: number | undefined
}

/**
 * Every known reason, most nodes first, and how many more there are; empty for a pod with a node,
 * and in older records.
 */
export function reasonsOf({ refusal }: Pick<Summary, 'refusal'>): { reasons: PluginReason[]; more: number } {
  if (!refusal) return { reasons: [], more: 0 }
  const further = refusal.further ?? []
  const reasons = [
    { plugin: refusal.plugin, reason: refusal.reason ?? '', nodes: refusal.nodes },
    ...further.map((f) => ({ plugin: f.plugin, reason: f.reason ?? '', nodes: f.nodes })),
  ]
  return { reasons, more: Math.max(0, (refusal.others ?? 0) - further.length) }
}
