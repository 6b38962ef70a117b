// A cycle prepared for display: each node's verdict, and the pipeline of extension
// points. It contains only numbers and states; the pages add words. The Filter matrix
// and the Score table are in matrix.ts and scores.ts.

import type { Cycle, ExtenderCall, ExtensionCalls, NotEvaluated, PermitWait, PluginResult } from '@/api/types'
import { comparisons, noteOf, type Note } from './pluginComparison'
import { filterMatrix, refusalAt } from './matrix'
import { secondsBetween } from '@/kubernetes/time'
import { scoreTable, toBest } from './scores'

export type NodeVerdict =
  /** `note`: what the plugin's message leaves out. */
  | { kind: 'rejected'; plugin: string; reason: string; note?: Note }
  | { kind: 'scored'; rank: number; tied: boolean; total: number; toBest: number; share: number; chosen: boolean }
  /** Feasible, but the scheduler did not score. */
  | { kind: 'feasible'; chosen: boolean }
  /** In the snapshot, but the search did not reach it. */
  | { kind: 'notEvaluated'; why: NotEvaluated['why'] }
  /** Not in the snapshot. `later`: the node was created after the decision. */
  | { kind: 'absent'; later?: boolean }

/** Verdicts by node. Missing nodes were not evaluated in the cycle. */
export function verdicts(cycle: Cycle): (node: string) => NodeVerdict {
  const matrix = filterMatrix(cycle)
  const table = scoreTable(cycle)
  const compared = comparisons(cycle)
  const byNode = new Map<string, NodeVerdict>()
  matrix?.nodes.forEach((node, row) => {
    if (matrix.feasibleAt[row] === 1) {
      byNode.set(node, { kind: 'feasible', chosen: node === cycle.selectedNode })
      return
    }
    const refusal = refusalAt(matrix, row)
    const plugin = refusal?.plugin ?? ''
    const comparison = compared(node, plugin)
    const note = comparison && noteOf(comparison)
    byNode.set(node, { kind: 'rejected', plugin, reason: refusal?.reasons.join(', ') ?? '', ...(note ? { note } : {}) })
  })
  table?.nodes.forEach((node, row) => {
    const total = table.totals[row] ?? 0
    byNode.set(node, {
      kind: 'scored',
      rank: table.ranks[row] ?? 0,
      tied: table.tied[row] === 1,
      total,
      toBest: toBest(table, row),
      share: table.best > 0 ? Math.max(0, total / table.best) : 0,
      chosen: row === table.chosen,
    })
  })
  const left = cycle.explanation.notEvaluated
  const rest: NodeVerdict = left ? { kind: 'notEvaluated', why: left.why } : { kind: 'absent' }
  return (node) => byNode.get(node) ?? rest
}

// Pipeline.

interface Point<Name = string> {
  name: Name
  group: StageGroup
  /** What an extender is asked for at this point. */
  verb?: ExtenderCall['verb']
  rare?: true
}

/**
 * The extension points in execution order, with the scheduling queue after the first. A cycle has
 * the results of a point in the field with its name. `rare` points exist for few pods and are shown
 * only where they have something to say.
 */
const stages = [
  { name: 'PreEnqueue', group: 'queue' },
  { name: 'Queue', group: 'queue' },
  { name: 'PreFilter', group: 'scheduling' },
  { name: 'Filter', group: 'scheduling', verb: 'filter' },
  { name: 'PostFilter', group: 'scheduling', verb: 'preempt' },
  { name: 'PreScore', group: 'scheduling' },
  { name: 'Score', group: 'scheduling', verb: 'prioritize' },
  { name: 'Reserve', group: 'scheduling' },
  { name: 'Permit', group: 'scheduling' },
  { name: 'PreBindPreFlight', group: 'binding', rare: true },
  { name: 'WaitOnPermit', group: 'binding', rare: true },
  { name: 'PreBind', group: 'binding' },
  { name: 'Bind', group: 'binding', verb: 'bind' },
  { name: 'PostBind', group: 'binding' },
  { name: 'Unreserve', group: 'binding', rare: true },
] as const satisfies Point[]

export type StageName = (typeof stages)[number]['name']
export type StageGroup = 'queue' | 'scheduling' | 'binding'

export interface Stage {
  name: StageName
  group: StageGroup
  rare: boolean
  ran: boolean
  /** Plugins that returned a result; skips are counted separately. For Filter and Score: the columns. */
  plugins: number
  skipped: number
  /** Results other than success, skip and wait. */
  failed: number
  waiting: number
  durationSeconds: number | undefined
  /** Queue: the time the pod waited. Filter: nodes in and out. Score: scored nodes. */
  nodesIn?: number
  nodesOut?: number
  results: PluginResult[]
  calls: ExtenderCall[]
  extensions: ExtensionCalls[]
}

/** The API writes extension points like the fields of the configuration: preFilter, filter. */
const fieldOf = <N extends StageName>(name: N) => (name.charAt(0).toLowerCase() + name.slice(1)) as Uncapitalize<N>

/** The reverse: filter → Filter. */
export const stageName = (field: string) => field.charAt(0).toUpperCase() + field.slice(1)

export function pipeline(cycle: Cycle): Stage[] {
  const times = new Map((cycle.extensionPoints ?? []).map((e) => [e.name, e.durationSeconds]))
  const points: readonly Point<StageName>[] = stages
  return points.map(({ name, group, verb, rare = false }): Stage => {
    const field = fieldOf(name)
    const found = field === 'waitOnPermit' ? undefined : cycle[field]
    const results = Array.isArray(found) ? found : []
    const stage: Stage = {
      name,
      group,
      rare,
      ran: results.length > 0 || times.has(field),
      plugins: results.filter((r) => r.status !== 'Skip').length,
      skipped: results.filter((r) => r.status === 'Skip').length,
      failed: results.filter((r) => !['Success', 'Skip', 'Wait'].includes(r.status)).length,
      waiting: results.filter((r) => r.status === 'Wait').length,
      durationSeconds:
        times.get(field) ?? (results.length ? results.reduce((sum, r) => sum + r.durationSeconds, 0) : undefined),
      results,
      calls: (cycle.extenders ?? []).filter((call) => verb && call.verb === verb),
      extensions: (cycle.preFilterExtensions ?? []).filter((e) => e.point === field),
    }
    stage.ran ||= stage.calls.length > 0
    if (name === 'Queue' && cycle.queue) {
      stage.ran = true
      stage.durationSeconds = secondsBetween(cycle.queue.addedTime, cycle.startTime)
    }
    if (name === 'Filter' && cycle.filter) {
      stage.ran = true
      stage.plugins = cycle.filter.plugins.length
      stage.nodesIn = cycle.filter.nodes.length
      stage.nodesOut = cycle.nodes.feasible
    }
    if (name === 'Score' && cycle.score) {
      stage.ran = true
      stage.plugins = cycle.score.plugins.length
      stage.skipped = cycle.score.skipped?.length ?? 0
      stage.nodesOut = cycle.score.nodes.length
    }
    if (name === 'WaitOnPermit' && cycle.permitWait) {
      stage.ran = true
      stage.plugins = cycle.permitWait.plugins.length
      stage.waiting = cycle.permitWait.status ? 0 : stage.plugins
      stage.failed = cycle.permitWait.status && cycle.permitWait.status !== 'Success' ? 1 : 0
    }
    return stage
  })
}

/**
 * Whether the strip of extension points has a step for the stage. That every PreBind plugin skips
 * the pod shows in PreBind, too.
 */
export function isShown(stage: Stage): boolean {
  if (!stage.rare) return true
  return stage.ran && (stage.name !== 'PreBindPreFlight' || stage.plugins > 0)
}

export type WaitEnd = 'waiting' | 'allowed' | 'rejected' | 'timedOut' | 'preempted' | 'over'

export function waitEnd(wait: PermitWait): WaitEnd {
  if (!wait.status) return 'waiting'
  if (wait.status === 'Success') return 'allowed'
  if (!wait.plugin) return 'over'
  if (wait.timedOut) return 'timedOut'
  return wait.status === 'Error' ? 'preempted' : 'rejected'
}

/**
 * Splits a name where a line may break: NodeResourcesFit → Node, Resources, Fit; an extender's URL
 * at dots and slashes.
 */
export function nameParts(name: string): string[] {
  const plain = plainName(name)
  return plain === name ? name.split(/(?<=[a-z0-9])(?=[A-Z])/) : plain.split(/(?<=[/:.])/)
}

/** An extender's URL without the prefix that all of them share; a plugin's name unchanged. */
export function plainName(name: string): string {
  return name.replace(/^https?:\/\//, '')
}
