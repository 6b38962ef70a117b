// The preemption's dry runs as a table: candidates, and per rule what each candidate
// brought to it, up to the rule that decided.

import type { Cycle, Preemption, PreemptionRule, Summary, Victim } from '@/api/types'

/** The rules with a number to show, in the order in which the scheduler applies them. */
export const comparedRules = ['fewestPDBViolations', 'lowestHighestPriority', 'lowestSumOfPriorities', 'fewestVictims', 'latestEarliestStartTime'] as const satisfies readonly PreemptionRule[]
export type ComparedRule = (typeof comparedRules)[number]

export interface PreemptionRow {
  node: string
  chosen: boolean
  victims: Victim[]
  reprieved: Victim[]
  /** By rule; latestEarliestStartTime is the earliest start among the most important victims, '' when none is known. */
  values: Record<ComparedRule, number | string>
  /** The rule at which the candidate fell behind; undefined: it was among the last. */
  outBy: ComparedRule | undefined
  /** The extender that took the node out of the choice: no rule was applied to it. */
  removedBy: string
  /** The extender whose victims these are, in place of the dry run's. */
  changedBy: string
}

export interface PreemptionTable {
  /** The chosen one first, then those that lasted longest, then by name. */
  rows: PreemptionRow[]
  /** How preemption ended, for the sentence above the table. */
  verdict: { kind: 'rule'; rule: PreemptionRule } | { kind: 'onlyOne' } | { kind: 'none' } | { kind: 'notChosen' }
  /** The rule that decided, where it is one of those that compare. */
  decided: ComparedRule | undefined
  /** Dry run in vain, by reason, most nodes first. */
  unhelpful: { plugin: string; reason: string; nodes: string[] }[]
}

export function preemptionTable(cycle: Cycle): PreemptionTable | undefined {
  const { preemption } = cycle
  if (!preemption) return undefined
  const { candidates, chosen, rule } = preemption
  const decided = comparedRules.find((r) => r === rule)
  const rows = candidates.map(
    (c): PreemptionRow => ({
      node: c.node,
      chosen: c.node === chosen,
      victims: c.victims,
      reprieved: c.reprieved ?? [],
      values: {
        fewestPDBViolations: c.pdbViolations,
        lowestHighestPriority: c.victims[0]?.priority ?? 0,
        lowestSumOfPriorities: c.victims.reduce((sum, v) => sum + v.priority, 0),
        fewestVictims: c.victims.length,
        latestEarliestStartTime: earliestStart(c.victims),
      },
      outBy: undefined,
      removedBy: c.removedBy ?? '',
      changedBy: c.changedBy ?? '',
    }),
  )
  if (chosen) markLosers(rows, rule)
  const lasted = (row: PreemptionRow) => (row.chosen ? 99 : row.removedBy ? -1 : row.outBy ? comparedRules.indexOf(row.outBy) : 98)
  rows.sort((a, b) => lasted(b) - lasted(a))
  return {
    rows,
    verdict: !candidates.length ? { kind: 'none' } : !chosen ? { kind: 'notChosen' } : rule ? { kind: 'rule', rule } : { kind: 'onlyOne' },
    decided,
    unhelpful: byReason(preemption),
  }
}

/** The earliest start among the victims of the highest priority. */
function earliestStart(victims: readonly Victim[]): string {
  const highest = Math.max(...victims.map((v) => v.priority))
  const starts = victims.filter((v) => v.priority === highest && v.startTime).map((v) => v.startTime ?? '')
  return starts.sort()[0] ?? ''
}

/** Fewer is better, except that the latest start is. */
function cost(row: PreemptionRow, rule: ComparedRule): number {
  const value = row.values[rule]
  // The scheduler adds 2³¹ per victim, so that more victims never make a smaller sum.
  if (rule === 'lowestSumOfPriorities') return Number(value) + row.victims.length * 2 ** 31
  if (rule === 'latestEarliestStartTime') return -Date.parse(String(value))
  return Number(value)
}

/** Follows the rules up to the one that decided; the chosen candidate is the measure. */
function markLosers(rows: PreemptionRow[], rule: PreemptionRule | undefined): void {
  const chosen = rows.find((row) => row.chosen)
  if (!chosen) return
  const last = rule ? comparedRules.findIndex((r) => r === rule) : -1
  for (const compared of comparedRules.slice(0, last < 0 ? comparedRules.length : last + 1)) {
    for (const row of rows) if (!row.outBy && !row.chosen && !row.removedBy && cost(row, compared) > cost(chosen, compared)) row.outBy = compared
  }
}

function byReason(preemption: Preemption): PreemptionTable['unhelpful'] {
  const found = new Map<string, { plugin: string; reason: string; nodes: string[] }>()
  for (const u of preemption.unhelpful ?? []) {
    const reason = u.reasons.join(', ')
    const key = `${u.plugin ?? ''} ${reason}`
    const known = found.get(key)
    if (known) known.nodes.push(...u.nodes)
    else found.set(key, { plugin: u.plugin ?? '', reason, nodes: [...u.nodes] })
  }
  return [...found.values()].sort((a, b) => b.nodes.length - a.nodes.length || a.plugin.localeCompare(b.plugin))
}

/** What the choice between candidates came to: the deciding rule's value of the chosen one, and the next best. */
export function decidingValues(table: PreemptionTable): { rule: ComparedRule; value: number | string; next: number | string } | undefined {
  const { decided, rows } = table
  const chosen = rows.find((row) => row.chosen)
  if (!decided || !chosen) return undefined
  const next = rows.filter((row) => row.outBy === decided).reduce<PreemptionRow | undefined>((best, row) => (best && cost(best, decided) <= cost(row, decided) ? best : row), undefined)
  return next && { rule: decided, value: chosen.values[decided], next: next.values[decided] }
}

/** The pods of lower priority on a candidate, in the order in which the dry run puts them back: by priority, then by who started first. */
export function putBack(row: PreemptionRow): { pod: Victim; stays: boolean }[] {
  const all = [...row.victims.map((pod) => ({ pod, stays: false })), ...row.reprieved.map((pod) => ({ pod, stays: true }))]
  const start = (v: Victim) => (v.startTime ? Date.parse(v.startTime) : Infinity)
  return all.sort((a, b) => b.pod.priority - a.pod.priority || start(a.pod) - start(b.pod))
}

/** What came after an attempt that preempted, as far as it is known. */
export interface Aftermath {
  node: string
  nominated: string
  victims: string[]
  /** The event that brought the pod back. */
  back: { event: string; object: string; plugin: string; time: string } | undefined
  ended: { attempt: number; node: string; time: string; afterSeconds: number; onNominated: boolean } | undefined
}

/** undefined when no room was made. `next` is the attempt after it. */
export function aftermath(cycle: Cycle, next: Summary | undefined, nextCycle: Cycle | undefined): Aftermath | undefined {
  const node = cycle.nominatedNode
  if (cycle.outcome !== 'unschedulable' || !node) return undefined
  const by = nextCycle?.queue?.requeuedBy
  const seconds = (Date.parse(cycle.startTime) / 1000) + cycle.durationSeconds
  return {
    node,
    nominated: new Date(seconds * 1000).toISOString(),
    victims: cycle.preemption?.candidates.find((c) => c.node === node)?.victims.map((v) => v.pod.name) ?? [],
    back: by && { event: by.event, object: [by.namespace, by.name].filter(Boolean).join('/'), plugin: by.plugin, time: by.time },
    ended: next && {
      attempt: next.attempt,
      node: next.selectedNode ?? '',
      time: next.startTime,
      afterSeconds: Math.max(0, Date.parse(next.startTime) / 1000 - seconds),
      onNominated: next.selectedNode === node,
    },
  }
}
