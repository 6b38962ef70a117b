// Preemption's dry runs as a table: candidates, and for each rule the value of each
// candidate, up to the deciding rule.

import type { Cycle, Evictions, Preemption, PreemptionRule, Summary, Victim } from '@/api/types'
import { noCandidates, type NoCandidates } from './rejected'

/** The rules with a numeric value, in the order in which the scheduler applies them. */
export const comparedRules = [
  'fewestPDBViolations',
  'lowestHighestPriority',
  'lowestSumOfPriorities',
  'fewestVictims',
  'latestEarliestStartTime',
] as const satisfies readonly PreemptionRule[]
export type ComparedRule = (typeof comparedRules)[number]

export interface PreemptionRow {
  node: string
  chosen: boolean
  victims: Victim[]
  reprieved: Victim[]
  victimsDropped: number
  reprievedDropped: number
  /**
   * By rule; latestEarliestStartTime is the earliest start among the highest-priority victims, ''
   * when none has started: the scheduler takes that as now.
   */
  values: Record<ComparedRule, number | string>
  /** The rule that eliminated the candidate; undefined: it was among the last. */
  outBy: ComparedRule | undefined
  /** The extender that removed the node, so that no rule was applied to it. */
  removedBy: string
  /** The scheduler had enough candidates and did not consider this one. */
  surplus: boolean
  /** The extender that chose these victims instead of the dry run. */
  changedBy: string
}

export interface PreemptionTable {
  /** The chosen candidate first, then those that lasted longest, then by name. */
  rows: PreemptionRow[]
  /** The number of all candidates: a record keeps only those closest to the chosen one. */
  candidates: number
  verdict:
    | { kind: 'rule'; rule: PreemptionRule }
    | { kind: 'onlyOne' }
    | { kind: 'onlyConsidered' }
    | { kind: NoCandidates }
    | { kind: 'notChosen' }
  /** The deciding rule, if it is one of those that compare. */
  decided: ComparedRule | undefined
  /** Nodes whose dry run found no victims, by reason, most nodes first. */
  unhelpful: Unhelpful[]
  evictions: Evictions | undefined
}

/**
 * Why dry runs found no victims. plugin and reason are '' if no pod may be evicted: the dry run
 * ended before Filter.
 */
export interface Unhelpful {
  why: 'noPods' | 'nobodyLower' | 'nobodyMay' | 'notEnough' | 'failed' | 'unknown'
  plugin: string
  reason: string
  nodes: string[]
}

export function preemptionTable(cycle: Cycle): PreemptionTable | undefined {
  const { preemption } = cycle
  if (!preemption) return undefined
  const { candidates, chosen, rule } = preemption
  const decided = comparedRules.find((r) => r === rule)
  const rows = candidates.map((c): PreemptionRow => ({
    node: c.node,
    chosen: c.node === chosen,
    victims: c.victims,
    reprieved: c.reprieved ?? [],
    victimsDropped: c.victimsDropped ?? 0,
    reprievedDropped: c.reprievedDropped ?? 0,
    values: {
      fewestPDBViolations: c.pdbViolations,
      lowestHighestPriority: c.victims[0]?.priority ?? 0,
      lowestSumOfPriorities: c.victims.reduce((sum, v) => sum + v.priority, 0),
      fewestVictims: c.victims.length + (c.victimsDropped ?? 0),
      latestEarliestStartTime: earliestStart(c.victims),
    },
    outBy: undefined,
    removedBy: c.removedBy ?? '',
    surplus: c.surplus ?? false,
    changedBy: c.changedBy ?? '',
  }))
  if (chosen) markLosers(rows, rule)
  const lasted = (row: PreemptionRow) =>
    row.chosen ? 99 : row.surplus ? -2 : row.removedBy ? -1 : row.outBy ? comparedRules.indexOf(row.outBy) : 98
  rows.sort((a, b) => lasted(b) - lasted(a))
  return {
    rows,
    candidates: rows.length + (preemption.candidatesDropped ?? 0),
    verdict:
      preemption.ineligible || !candidates.length
        ? { kind: noCandidates(preemption) }
        : !chosen
          ? { kind: 'notChosen' }
          : rule
            ? { kind: 'rule', rule }
            : { kind: rows.some((row) => row.surplus) ? 'onlyConsidered' : 'onlyOne' },
    decided,
    unhelpful: byReason(preemption, cycle.pod.name),
    evictions: preemption.evictions,
  }
}

/** The earliest start among the victims with the highest priority. */
function earliestStart(victims: readonly Victim[]): string {
  const highest = Math.max(...victims.map((v) => v.priority))
  const starts = victims.filter((v) => v.priority === highest && v.startTime).map((v) => v.startTime ?? '')
  return starts.sort()[0] ?? ''
}

/** Lower is better, except for the start time, where latest is best. */
function cost(row: PreemptionRow, rule: ComparedRule): number {
  const value = row.values[rule]
  // The scheduler adds 2³¹ per victim, so that more victims never give a smaller sum.
  if (rule === 'lowestSumOfPriorities') return Number(value) + (row.victims.length + row.victimsDropped) * 2 ** 31
  if (rule === 'latestEarliestStartTime') return value ? -Date.parse(String(value)) : -Infinity
  return Number(value)
}

/** Applies the rules up to the deciding one, comparing with the chosen candidate. */
function markLosers(rows: PreemptionRow[], rule: PreemptionRule | undefined): void {
  const chosen = rows.find((row) => row.chosen)
  if (!chosen) return
  const last = rule ? comparedRules.findIndex((r) => r === rule) : -1
  for (const compared of comparedRules.slice(0, last < 0 ? comparedRules.length : last + 1)) {
    for (const row of rows)
      if (!row.outBy && !row.chosen && !row.removedBy && !row.surplus && cost(row, compared) > cost(chosen, compared))
        row.outBy = compared
  }
}

/** A reason without names, by which alone those of two nodes may differ. */
const withoutNames = (reason: string, names: readonly string[]) =>
  names.reduce(
    (text, name) => text.replace(new RegExp(`(?<![\\w.-])${name.replaceAll('.', '\\.')}(?![\\w.-]*\\w)`, 'g'), '…'),
    reason
  )

function byReason(preemption: Preemption, pod: string): PreemptionTable['unhelpful'] {
  const found = new Map<string, Unhelpful>()
  for (const u of preemption.unhelpful ?? []) {
    const why = u.why ?? 'unknown'
    const said = why === 'notEnough' || why === 'failed' || why === 'unknown'
    const [plugin, reason] = said ? [u.plugin ?? '', u.reasons.join(', ')] : ['', '']
    const alike = withoutNames(reason, [...u.nodes, pod])
    const key = `${why} ${plugin} ${alike}`
    const known = found.get(key)
    if (known) {
      known.nodes.push(...u.nodes)
      if (known.reason !== reason) known.reason = alike
    } else found.set(key, { why, plugin, reason, nodes: [...u.nodes] })
  }
  return [...found.values()].sort((a, b) => b.nodes.length - a.nodes.length || a.plugin.localeCompare(b.plugin))
}

/** The victims that the scheduler did not try to evict, because a call had failed. */
export const notTried = (e: Evictions) =>
  e.done ? e.victims - e.deleted - e.released - (e.terminating ?? 0) - (e.failed ?? 0) : 0

/** The result of the choice: the deciding rule, the value of the chosen candidate, and the next best. */
export function decidingValues(
  table: PreemptionTable
): { rule: ComparedRule; value: number | string; next: number | string } | undefined {
  const { decided, rows } = table
  const chosen = rows.find((row) => row.chosen)
  if (!decided || !chosen) return undefined
  const next = rows
    .filter((row) => row.outBy === decided)
    .reduce<PreemptionRow | undefined>(
      (best, row) => (best && cost(best, decided) <= cost(row, decided) ? best : row),
      undefined
    )
  return next && { rule: decided, value: chosen.values[decided], next: next.values[decided] }
}

/**
 * The lower-priority pods on a candidate, in the order in which the dry run adds them back: by
 * priority, then by start time.
 */
export function putBack(row: PreemptionRow): { pod: Victim; stays: boolean }[] {
  const all = [
    ...row.victims.map((pod) => ({ pod, stays: false })),
    ...row.reprieved.map((pod) => ({ pod, stays: true })),
  ]
  const start = (v: Victim) => (v.startTime ? Date.parse(v.startTime) : Infinity)
  return all.sort((a, b) => b.pod.priority - a.pod.priority || start(a.pod) - start(b.pod))
}

/** What happened after an attempt that preempted, as far as known. */
export interface Aftermath {
  node: string
  nominated: string
  victims: string[]
  /** The event that requeued the pod. */
  back: { event: string; object: string; plugin: string; time: string } | undefined
  /**
   * The attempts after it, up to the one that selected a node; of many, the first and the last
   * ones. node: '' for none.
   */
  tries: { attempt: number; node: string; time: string }[]
  hidden: number
  /** The attempt that selected a node; undefined while none has. */
  ended: { attempt: number; afterSeconds: number; onNominated: boolean } | undefined
}

const lastTries = 3

/**
 * undefined when preemption made no room. `later` are the attempts after this one, in order;
 * nextCycle is the record of the first of them.
 */
export function aftermath(
  cycle: Cycle,
  later: readonly Summary[],
  nextCycle: Cycle | undefined
): Aftermath | undefined {
  const node = cycle.nominatedNode
  if (cycle.outcome !== 'unschedulable' || !node) return undefined
  const by = nextCycle?.queue?.requeuedBy
  const seconds = Date.parse(cycle.startTime) / 1000 + cycle.durationSeconds
  const end = later.findIndex((a) => a.selectedNode)
  const tries = later
    .slice(0, end < 0 ? undefined : end + 1)
    .map((a) => ({ attempt: a.attempt, node: a.selectedNode ?? '', time: a.startTime }))
  const last = later[end]
  const hidden = Math.max(0, tries.length - 1 - lastTries)
  return {
    node,
    nominated: new Date(seconds * 1000).toISOString(),
    victims: cycle.preemption?.candidates.find((c) => c.node === node)?.victims.map((v) => v.pod.name) ?? [],
    back: by && {
      event: by.event,
      object: [by.namespace, by.name].filter(Boolean).join('/'),
      plugin: by.plugin,
      time: by.time,
    },
    tries: [...tries.slice(0, 1), ...tries.slice(1 + hidden)],
    hidden,
    ended: last && {
      attempt: last.attempt,
      afterSeconds: Math.max(0, Date.parse(last.startTime) / 1000 - seconds),
      onNominated: last.selectedNode === node,
    },
  }
}
