// What a page says about a cycle, as data: how it ended and the numbers in the
// sentence. The facts are the server's explanation; here they are only put in the
// order in which a sentence needs them, so that it can be said in any language.

import type { Cycle } from '@/api/types'

export interface Rejecter {
  plugin: string
  nodes: number
}

export type Said =
  /** The best of several, ahead of the next. */
  | { kind: 'best'; node: string; total: number; feasible: number; margin: number; next: string }
  /** The same total as others: chance decided. */
  | { kind: 'tied'; node: string; total: number; feasible: number; others: string[] }
  /** The same total as others: the seed decided that the simulator was started with. */
  | { kind: 'tiedBySeed'; node: string; total: number; feasible: number; others: string[] }
  /** One node was feasible, so there was nothing to score. */
  | { kind: 'only'; node: string; evaluated: number }
  /** Opportunistic batching proposed the node; the others were not looked at. */
  | { kind: 'hinted'; node: string }
  /** Preemption had made room on the node, and it was tried first. */
  | { kind: 'wasNominated'; node: string }
  /** Selected, but the record has no scores to compare. */
  | { kind: 'selected'; node: string; feasible: number }
  /** Filter let no node through. */
  | { kind: 'noNode'; evaluated: number; total: number; rejecters: Rejecter[] }
  /** Plugins refused the pod before any node was looked at. */
  | { kind: 'preFilter'; plugins: string[]; reasons: string[] }
  /** A plugin refused the pod after a node was chosen. */
  | { kind: 'refusedLater'; stage: string; plugin: string; reasons: string[]; node: string }
  /** The place was lost without a plugin's refusal: a wait that ran out, for one. */
  | { kind: 'lost'; node: string; message: string }
  /** A Permit plugin holds the pod. */
  | { kind: 'waiting'; node: string; plugins: string[] }
  | { kind: 'noNodes' }
  | { kind: 'unschedulable'; message: string }
  | { kind: 'error'; message: string }

export function say(cycle: Cycle): Said {
  const node = cycle.selectedNode ?? ''
  const message = cycle.message ?? ''
  switch (cycle.outcome) {
    case 'error':
      return { kind: 'error', message }
    case 'waiting':
      return { kind: 'waiting', node, plugins: (cycle.permit ?? []).filter((r) => r.status === 'Wait').map((r) => r.plugin) }
    case 'scheduled':
      return sayScheduled(cycle, node)
    case 'unschedulable':
      return sayUnschedulable(cycle, node, message)
  }
}

function sayScheduled(cycle: Cycle, node: string): Said {
  const { margin, notEvaluated } = cycle.explanation
  const { feasible, evaluated } = cycle.nodes
  if (cycle.hint?.used) return { kind: 'hinted', node }
  if (notEvaluated?.why === 'nominatedNode') return { kind: 'wasNominated', node }
  const at = cycle.score?.nodes.indexOf(node) ?? -1
  const total = cycle.score?.totals[at]
  if (!margin || total === undefined) return feasible === 1 ? { kind: 'only', node, evaluated } : { kind: 'selected', node, feasible }
  if (margin.total === 0) return { kind: seeded(cycle) ? 'tiedBySeed' : 'tied', node, total, feasible, others: margin.tied ?? [margin.over] }
  return { kind: 'best', node, total, feasible, margin: margin.total, next: margin.over }
}

/** A seed decided among nodes with the same total; the scheduler attaches a fact to such a cycle. */
export function seeded(cycle: Cycle): boolean {
  return cycle.facts?.some((fact) => fact.plugin === 'TieSeed') ?? false
}

function sayUnschedulable(cycle: Cycle, node: string, message: string): Said {
  const { rejections = [], notEvaluated } = cycle.explanation
  if (cycle.nodes.total === 0) return { kind: 'noNodes' }
  if (!cycle.filter) {
    const plugins = notEvaluated?.plugins ?? []
    if (!plugins.length) return { kind: 'unschedulable', message }
    const reasons = (cycle.preFilter ?? []).filter((r) => plugins.includes(r.plugin)).flatMap((r) => r.reasons ?? [])
    return { kind: 'preFilter', plugins, reasons }
  }
  if (node) {
    for (const [stage, results] of [
      ['Reserve', cycle.reserve],
      ['Permit', cycle.permit],
      ['PreBind', cycle.preBind],
      ['Bind', cycle.bind],
    ] as const) {
      const bad = results?.find((r) => !['Success', 'Skip', 'Wait'].includes(r.status))
      if (bad) return { kind: 'refusedLater', stage, plugin: bad.plugin, reasons: bad.reasons ?? [], node }
    }
    return { kind: 'lost', node, message }
  }
  if (!rejections.length) return { kind: 'unschedulable', message }
  return { kind: 'noNode', evaluated: cycle.nodes.evaluated, total: cycle.nodes.total, rejecters: rejections.map(({ plugin, nodes }) => ({ plugin, nodes })) }
}

/** What preemption did for a pod that fits nowhere; undefined when it made no room. */
export function roomMade(cycle: Cycle): { node: string; victims: number | undefined } | undefined {
  const node = cycle.preemption?.chosen ?? cycle.nominatedNode
  if (cycle.outcome !== 'unschedulable' || !node) return undefined
  return { node, victims: cycle.preemption?.candidates.find((c) => c.node === node)?.victims.length }
}
