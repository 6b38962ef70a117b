// The differences between two attempts of a pod, as data for a table. It leaves out
// values that both attempts share.

import type { Cycle, PluginResult } from '@/api/types'
import { compareNames } from '@/kubernetes/cluster'
import { pipeline, type StageName } from './cycle'
import { filterMatrix, refusalAt, type FilterMatrix } from './matrix'
import { cellAt, scoreTable, type ScoreTable } from './scores'

export interface Change<T> {
  from: T
  to: T
}

/** Filter's result for a node in one attempt; absent: not in the snapshot, or not evaluated. */
export type NodeState = { kind: 'absent' } | { kind: 'feasible' } | { kind: 'rejected'; plugin: string; reason: string }

export interface NodeChange extends Change<NodeState> {
  node: string
}

export interface TotalChange extends Change<number> {
  node: string
  /** By plugin, largest first; they add up to the change of the total. */
  parts: { plugin: string; difference: number }[]
}

export interface AnswerChange extends Change<PluginResult['status'] | undefined> {
  stage: StageName
  plugin: string
  /** Reasons of the later attempt, or of the earlier one if the later has no result. */
  reasons: string[]
}

export interface CycleDifference {
  /** The most important facts that changed: outcome, node, configuration, numbers of nodes. */
  facts: ({ fact: 'outcome' | 'node' | 'profile' } & Change<string>)[]
  numbers: ({ fact: 'revision' | 'total' | 'evaluated' | 'feasible' } & Change<number>)[]
  /** Plugins that rejected a different number of nodes; largest change first. */
  rejections: ({ plugin: string } & Change<number>)[]
  /** Nodes with a different result in Filter: first those that became feasible, then those that are no longer feasible. */
  nodes: NodeChange[]
  /** Nodes that both attempts scored with different totals; by the later total. */
  totals: TotalChange[]
  /** Columns of Score with a different weight; 0: absent. */
  weights: ({ plugin: string } & Change<number>)[]
  /** Plugins whose status changed at an extension point that runs once per pod. */
  answers: AnswerChange[]
}

export function differenceOf(from: Cycle, to: Cycle): CycleDifference {
  const before = { cycle: from, matrix: filterMatrix(from), table: scoreTable(from) }
  const after = { cycle: to, matrix: filterMatrix(to), table: scoreTable(to) }
  return {
    facts: [
      { fact: 'outcome' as const, from: from.outcome as string, to: to.outcome as string },
      { fact: 'node' as const, from: from.selectedNode ?? '', to: to.selectedNode ?? '' },
      { fact: 'profile' as const, from: from.profile, to: to.profile },
    ].filter(changed),
    numbers: [
      { fact: 'revision' as const, from: from.revision ?? 0, to: to.revision ?? 0 },
      { fact: 'total' as const, from: from.nodes.total, to: to.nodes.total },
      { fact: 'evaluated' as const, from: from.nodes.evaluated, to: to.nodes.evaluated },
      { fact: 'feasible' as const, from: from.nodes.feasible, to: to.nodes.feasible },
    ].filter(changed),
    rejections: changedRejections(before.matrix, after.matrix),
    nodes: changedNodes(before.matrix, after.matrix),
    totals: changedTotals(before.table, after.table),
    weights: changedWeights(before.table, after.table),
    answers: changedAnswers(from, to),
  }
}

/** True when nothing differs. */
export function isSame(difference: CycleDifference): boolean {
  return Object.values(difference).every((list: unknown[]) => list.length === 0)
}

function changed<T>({ from, to }: Change<T>): boolean {
  return from !== to
}

function changedRejections(from: FilterMatrix | undefined, to: FilterMatrix | undefined): CycleDifference['rejections'] {
  const counts = (matrix: FilterMatrix | undefined) => new Map(matrix?.plugins.map((plugin, p) => [plugin, matrix.rejections[p] ?? 0]))
  const before = counts(from)
  const after = counts(to)
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((plugin) => ({ plugin, from: before.get(plugin) ?? 0, to: after.get(plugin) ?? 0 }))
    .filter(changed)
    .sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from))
}

function stateOf(matrix: FilterMatrix | undefined, row: number | undefined): NodeState {
  if (!matrix || row === undefined) return { kind: 'absent' }
  if (matrix.feasibleAt[row] === 1) return { kind: 'feasible' }
  const refusal = refusalAt(matrix, row)
  return { kind: 'rejected', plugin: refusal?.plugin ?? '', reason: refusal?.reasons.join(', ') ?? '' }
}

function rowsByName(matrix: FilterMatrix | undefined): Map<string, number> {
  return new Map(matrix?.nodes.map((node, row) => [node, row]))
}

function changedNodes(from: FilterMatrix | undefined, to: FilterMatrix | undefined): NodeChange[] {
  const before = rowsByName(from)
  const after = rowsByName(to)
  const out: NodeChange[] = []
  for (const node of new Set([...before.keys(), ...after.keys()])) {
    const change = { node, from: stateOf(from, before.get(node)), to: stateOf(to, after.get(node)) }
    if (!sameState(change.from, change.to)) out.push(change)
  }
  // Became feasible, no longer feasible, everything else.
  const order = (c: NodeChange) => (c.to.kind === 'feasible' ? 0 : c.from.kind === 'feasible' ? 1 : 2)
  return out.sort((a, b) => order(a) - order(b) || compareNames(a.node, b.node))
}

function sameState(a: NodeState, b: NodeState): boolean {
  if (a.kind !== 'rejected' || b.kind !== 'rejected') return a.kind === b.kind
  return a.plugin === b.plugin && a.reason === b.reason
}

function changedTotals(from: ScoreTable | undefined, to: ScoreTable | undefined): TotalChange[] {
  if (!from || !to) return []
  const before = new Map(from.nodes.map((node, row) => [node, row]))
  const names = [...new Set([...from.columns, ...to.columns].map((c) => c.name))]
  const columnsBefore = names.map((name) => from.columns.findIndex((c) => c.name === name))
  const columnsAfter = names.map((name) => to.columns.findIndex((c) => c.name === name))
  const out: TotalChange[] = []
  for (const row of to.ranked) {
    const old = before.get(to.nodes[row] ?? '')
    if (old === undefined) continue
    const change = { node: to.nodes[row] ?? '', from: from.totals[old] ?? 0, to: to.totals[row] ?? 0 }
    const parts = names
      .map((plugin, i) => ({ plugin, difference: cellAt(to, row, columnsAfter[i] ?? -1).weighted - cellAt(from, old, columnsBefore[i] ?? -1).weighted }))
      .filter((part) => part.difference !== 0)
      .sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference))
    if (changed(change) || parts.length) out.push({ ...change, parts })
  }
  return out
}

function changedWeights(from: ScoreTable | undefined, to: ScoreTable | undefined): CycleDifference['weights'] {
  if (!from || !to) return []
  const weight = (table: ScoreTable, name: string) => table.columns.find((c) => c.name === name)?.weight ?? 0
  return [...new Set([...from.columns, ...to.columns].map((c) => c.name))].map((plugin) => ({ plugin, from: weight(from, plugin), to: weight(to, plugin) })).filter(changed)
}

function changedAnswers(from: Cycle, to: Cycle): AnswerChange[] {
  const before = pipeline(from)
  return pipeline(to).flatMap((stage, i): AnswerChange[] => {
    const old = before[i]?.results ?? []
    // If only one attempt reached the extension point, a success there is not a difference.
    const inBoth = stage.ran && before[i]?.ran
    const isNews = (change: AnswerChange) => inBoth || ![change.from, change.to].some((status) => status === 'Success' || status === 'Skip')
    const plugins = [...new Set([...old, ...stage.results].map((r) => r.plugin))]
    return plugins
      .map((plugin) => {
        const was = old.find((r) => r.plugin === plugin)
        const is = stage.results.find((r) => r.plugin === plugin)
        return { stage: stage.name, plugin, from: was?.status, to: is?.status, reasons: (is ?? was)?.reasons ?? [] }
      })
      .filter((change) => changed(change) && isNews(change))
  })
}
