// A cycle taken apart for looking at: the Filter matrix, the ranked Score table, the
// pipeline of extension points, each node's verdict. Numbers and states only; words
// are the pages' business.

import type { Cycle, NotEvaluated, PluginResult, ScorePlugin } from '@/api/types'

/** P passed, R rejected, S skipped, N not run, E error. */
export type CellState = 'P' | 'R' | 'S' | 'N' | 'E'

export interface FilterRow {
  node: string
  states: string
  /** Who rejected the node (a plugin, or an extender that is no column); empty when it is feasible. */
  plugin: string
  reasons: string[]
  feasible: boolean
}

export interface FilterMatrix {
  plugins: string[]
  /** Per plugin: how many nodes it rejected. */
  rejections: number[]
  /** Per plugin: it was asked about at least one node. */
  asked: boolean[]
  /** Per plugin: it said in PreFilter that it has nothing to do, for every node. */
  skipped: boolean[]
  rows: FilterRow[]
  feasible: number
}

export function filterMatrix(cycle: Cycle): FilterMatrix | undefined {
  const filter = cycle.filter
  if (!filter) return undefined
  const reasons = new Map(filter.reasons.map((r) => [r.node, r]))
  const rejected = new Map((cycle.explanation.rejections ?? []).map((r) => [r.plugin, r.nodes]))
  const asked = filter.plugins.map(() => false)
  const skipped = filter.plugins.map(() => false)
  let feasible = 0
  const rows = filter.nodes.map((node, i): FilterRow => {
    const states = filter.states[i] ?? ''
    for (let p = 0; p < filter.plugins.length; p++) {
      const state = states[p]
      if (state === 'P' || state === 'R' || state === 'E') asked[p] = true
      if (state === 'S') skipped[p] = true
    }
    const by = reasons.get(node)
    // Not run without a rejection before it: the framework itself refused the node.
    const fits = !by && !states.includes('N')
    if (fits) feasible++
    return { node, states, plugin: by?.plugin ?? '', reasons: by?.reasons ?? [], feasible: fits }
  })
  return {
    plugins: filter.plugins,
    rejections: filter.plugins.map((plugin) => rejected.get(plugin) ?? 0),
    asked,
    skipped: skipped.map((s, p) => s && !asked[p]),
    rows,
    feasible,
  }
}

/** Which rows of the matrix are shown: all, the feasible ones, or those that one plugin rejected. */
export type RowFilter = { kind: 'all' } | { kind: 'feasible' } | { kind: 'rejectedBy'; plugin: string }

export function parseRowFilter(text: string | undefined): RowFilter {
  if (text === 'feasible') return { kind: 'feasible' }
  if (text?.startsWith('by:') && text.length > 3) return { kind: 'rejectedBy', plugin: text.slice(3) }
  return { kind: 'all' }
}

export function formatRowFilter(filter: RowFilter): string | undefined {
  if (filter.kind === 'all') return undefined
  return filter.kind === 'feasible' ? 'feasible' : `by:${filter.plugin}`
}

export function selectRows(rows: readonly FilterRow[], filter: RowFilter): FilterRow[] {
  if (filter.kind === 'feasible') return rows.filter((r) => r.feasible)
  if (filter.kind === 'rejectedBy') return rows.filter((r) => r.plugin === filter.plugin)
  return [...rows]
}

export interface ScoreCell {
  raw: number
  normalized: number
  weighted: number
}

export interface ScoreRow {
  node: string
  /** From 1; equal totals share a rank. */
  rank: number
  tied: boolean
  chosen: boolean
  total: number
  /** 0 for the best, else negative. */
  toBest: number
  cells: ScoreCell[]
}

export interface ScoreTable {
  plugins: ScorePlugin[]
  skipped: string[]
  /** Best first; among equals the chosen one first, then by name. */
  rows: ScoreRow[]
  /** Per plugin: the highest weighted score, and whether all nodes have it. */
  columns: { best: number; uniform: boolean }[]
  best: number
}

export function scoreTable(cycle: Cycle): ScoreTable | undefined {
  const score = cycle.score
  if (!score || !score.nodes.length) return undefined
  const rows = score.nodes.map((node, i): ScoreRow => ({
    node,
    rank: 0,
    tied: false,
    chosen: node === cycle.selectedNode,
    total: score.totals[i] ?? 0,
    toBest: 0,
    cells: score.plugins.map((_, p) => ({
      raw: score.raw[i]?.[p] ?? 0,
      normalized: score.normalized[i]?.[p] ?? 0,
      weighted: score.weighted[i]?.[p] ?? 0,
    })),
  }))
  rows.sort((a, b) => b.total - a.total || Number(b.chosen) - Number(a.chosen) || (a.node < b.node ? -1 : 1))
  const best = rows[0]?.total ?? 0
  rows.forEach((row, i) => {
    const before = rows[i - 1]
    row.rank = before && before.total === row.total ? before.rank : i + 1
    row.tied = before?.total === row.total || rows[i + 1]?.total === row.total
    row.toBest = row.total - best
  })
  const columns = score.plugins.map((_, p) => {
    let high = -Infinity
    let low = Infinity
    for (const row of rows) {
      const value = row.cells[p]?.weighted ?? 0
      if (value > high) high = value
      if (value < low) low = value
    }
    return { best: high, uniform: high === low }
  })
  return { plugins: score.plugins, skipped: score.skipped ?? [], rows, columns, best }
}

/** What one cycle says about one node. */
export type NodeVerdict =
  | { kind: 'rejected'; plugin: string; reason: string }
  | { kind: 'scored'; rank: number; tied: boolean; total: number; toBest: number; share: number; chosen: boolean }
  /** Feasible, but nothing was scored. */
  | { kind: 'feasible'; chosen: boolean }
  /** In the snapshot, but the search did not come to it. */
  | { kind: 'notEvaluated'; why: NotEvaluated['why'] }
  /** Not in the snapshot: the node is newer than the decision. */
  | { kind: 'absent' }

/** Verdicts by node. Nodes that are missing were not in the cycle's evaluation. */
export function verdicts(cycle: Cycle): (node: string) => NodeVerdict {
  const matrix = filterMatrix(cycle)
  const table = scoreTable(cycle)
  const byNode = new Map<string, NodeVerdict>()
  for (const row of matrix?.rows ?? []) {
    byNode.set(
      row.node,
      row.feasible
        ? { kind: 'feasible', chosen: row.node === cycle.selectedNode }
        : { kind: 'rejected', plugin: row.plugin, reason: row.reasons.join(', ') },
    )
  }
  for (const row of table?.rows ?? []) {
    byNode.set(row.node, {
      kind: 'scored',
      rank: row.rank,
      tied: row.tied,
      total: row.total,
      toBest: row.toBest,
      share: table && table.best > 0 ? Math.max(0, row.total / table.best) : 0,
      chosen: row.chosen,
    })
  }
  const left = cycle.explanation.notEvaluated
  const rest: NodeVerdict = left ? { kind: 'notEvaluated', why: left.why } : { kind: 'absent' }
  return (node) => byNode.get(node) ?? rest
}

// ── pipeline ────────────────────────────────────────────────────────────

export const stageNames = [
  'PreEnqueue',
  'PreFilter',
  'Filter',
  'PostFilter',
  'PreScore',
  'Score',
  'Reserve',
  'Permit',
  'PreBind',
  'Bind',
  'PostBind',
] as const

export type StageName = (typeof stageNames)[number]
export type StageGroup = 'queue' | 'scheduling' | 'binding'

export interface Stage {
  name: StageName
  group: StageGroup
  ran: boolean
  /** Plugins that answered; skips counted apart. For Filter and Score: the columns. */
  plugins: number
  skipped: number
  /** Answers that were neither success, skip nor wait. */
  failed: number
  waiting: number
  durationSeconds: number | undefined
  /** Filter: nodes in and out. Score: nodes that were scored. */
  nodesIn?: number
  nodesOut?: number
  results: PluginResult[]
}

const groups: Record<StageName, StageGroup> = {
  PreEnqueue: 'queue',
  PreFilter: 'scheduling',
  Filter: 'scheduling',
  PostFilter: 'scheduling',
  PreScore: 'scheduling',
  Score: 'scheduling',
  Reserve: 'scheduling',
  Permit: 'scheduling',
  PreBind: 'binding',
  Bind: 'binding',
  PostBind: 'binding',
}

/** The API writes extension points as the configuration's fields: preFilter, filter. */
const fieldOf = (name: StageName) => name.charAt(0).toLowerCase() + name.slice(1)

export function pipeline(cycle: Cycle): Stage[] {
  const times = new Map((cycle.extensionPoints ?? []).map((e) => [e.name, e.durationSeconds]))
  return stageNames.map((name): Stage => {
    const results = resultsOf(cycle, name)
    const stage: Stage = {
      name,
      group: groups[name],
      ran: results.length > 0 || times.has(fieldOf(name)),
      plugins: results.filter((r) => r.status !== 'Skip').length,
      skipped: results.filter((r) => r.status === 'Skip').length,
      failed: results.filter((r) => !['Success', 'Skip', 'Wait'].includes(r.status)).length,
      waiting: results.filter((r) => r.status === 'Wait').length,
      durationSeconds: times.get(fieldOf(name)) ?? (results.length ? results.reduce((sum, r) => sum + r.durationSeconds, 0) : undefined),
      results,
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
    return stage
  })
}

function resultsOf(cycle: Cycle, name: StageName): PluginResult[] {
  switch (name) {
    case 'PreEnqueue':
      return cycle.preEnqueue ?? []
    case 'PreFilter':
      return cycle.preFilter ?? []
    case 'PostFilter':
      return cycle.postFilter ?? []
    case 'PreScore':
      return cycle.preScore ?? []
    case 'Reserve':
      return cycle.reserve ?? []
    case 'Permit':
      return cycle.permit ?? []
    case 'PreBind':
      return cycle.preBind ?? []
    case 'Bind':
      return cycle.bind ?? []
    case 'PostBind':
      return cycle.postBind ?? []
    default:
      return []
  }
}

/** Breaks a plugin's name where a line may break: NodeResourcesFit → Node, Resources, Fit. */
export function nameParts(name: string): string[] {
  return name.split(/(?<=[a-z0-9])(?=[A-Z])/)
}
