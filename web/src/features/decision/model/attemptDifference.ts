// The differences between two decisions, as data for a table: of one pod or of two. It leaves
// out values that both share.

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
  /**
   * Nodes with a different result in Filter: first those that became feasible, then those that are
   * no longer feasible.
   */
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
  const { facts, numbers } = bothFacts(from, to)
  return {
    facts: facts.filter(changed),
    numbers: numbers.filter(changed),
    rejections: changedRejections(before.matrix, after.matrix),
    nodes: changedNodes(before.matrix, after.matrix),
    totals: changedTotals(before.table, after.table),
    weights: changedWeights(before.table, after.table),
    answers: changedAnswers(from, to),
  }
}

/** The most important facts of two decisions, those that they share included. */
export function bothFacts(from: Cycle, to: Cycle): Pick<CycleDifference, 'facts' | 'numbers'> {
  return {
    facts: [
      { fact: 'outcome' as const, from: from.outcome as string, to: to.outcome as string },
      { fact: 'node' as const, from: from.selectedNode ?? '', to: to.selectedNode ?? '' },
      { fact: 'profile' as const, from: from.profile, to: to.profile },
    ],
    numbers: [
      { fact: 'revision' as const, from: from.revision ?? 0, to: to.revision ?? 0 },
      { fact: 'total' as const, from: from.nodes.total, to: to.nodes.total },
      { fact: 'evaluated' as const, from: from.nodes.evaluated, to: to.nodes.evaluated },
      { fact: 'feasible' as const, from: from.nodes.feasible, to: to.nodes.feasible },
    ],
  }
}

/** True when nothing differs. */
export function isSame(difference: CycleDifference): boolean {
  return Object.values(difference).every((list: unknown[]) => list.length === 0)
}

export function changed<T>({ from, to }: Change<T>): boolean {
  return from !== to
}

function changedRejections(
  from: FilterMatrix | undefined,
  to: FilterMatrix | undefined
): CycleDifference['rejections'] {
  const counts = (matrix: FilterMatrix | undefined) =>
    new Map(matrix?.plugins.map((plugin, p) => [plugin, matrix.rejections[p] ?? 0]))
  const before = counts(from)
  const after = counts(to)
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((plugin) => ({ plugin, from: before.get(plugin) ?? 0, to: after.get(plugin) ?? 0 }))
    .filter(changed)
    .sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from))
}

/** Nodes by name, with Filter's result in each of two decisions. */
export function nodePairs(from: Cycle, to: Cycle): NodeChange[] {
  return pairs(filterMatrix(from), filterMatrix(to)).sort((a, b) => compareNames(a.node, b.node))
}

/** A node's total score in two decisions; undefined where the node was not scored. */
export interface TotalPair extends Change<number | undefined> {
  node: string
  parts: TotalChange['parts']
}

/**
 * The scored nodes of either decision: by the total of the later one, then those that only the
 * earlier one scored.
 */
export function totalPairs(from: Cycle, to: Cycle): TotalPair[] {
  const before = scoreTable(from)
  const after = scoreTable(to)
  const totals = (table: ScoreTable | undefined) =>
    new Map(table && Array.from(table.ranked, (row) => [table.nodes[row] ?? '', table.totals[row] ?? 0] as const))
  const [was, is] = [totals(before), totals(after)]
  const parts = new Map(changedTotals(before, after).map((change) => [change.node, change.parts]))
  return [...new Set([...is.keys(), ...was.keys()])].map((node) => ({
    node,
    from: was.get(node),
    to: is.get(node),
    parts: parts.get(node) ?? [],
  }))
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

function pairs(from: FilterMatrix | undefined, to: FilterMatrix | undefined): NodeChange[] {
  const before = rowsByName(from)
  const after = rowsByName(to)
  return [...new Set([...before.keys(), ...after.keys()])].map((node) => ({
    node,
    from: stateOf(from, before.get(node)),
    to: stateOf(to, after.get(node)),
  }))
}

function changedNodes(from: FilterMatrix | undefined, to: FilterMatrix | undefined): NodeChange[] {
  // Became feasible, no longer feasible, everything else.
  const order = (c: NodeChange) => (c.to.kind === 'feasible' ? 0 : c.from.kind === 'feasible' ? 1 : 2)
  return pairs(from, to)
    .filter((change) => !sameState(change.from, change.to))
    .sort((a, b) => order(a) - order(b) || compareNames(a.node, b.node))
}

export function sameState(a: NodeState, b: NodeState): boolean {
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
      .map((plugin, i) => ({
        plugin,
        difference:
          cellAt(to, row, columnsAfter[i] ?? -1).weighted - cellAt(from, old, columnsBefore[i] ?? -1).weighted,
      }))
      .filter((part) => part.difference !== 0)
      .sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference))
    if (changed(change) || parts.length) out.push({ ...change, parts })
  }
  return out
}

function changedWeights(from: ScoreTable | undefined, to: ScoreTable | undefined): CycleDifference['weights'] {
  if (!from || !to) return []
  const weight = (table: ScoreTable, name: string) => table.columns.find((c) => c.name === name)?.weight ?? 0
  return [...new Set([...from.columns, ...to.columns].map((c) => c.name))]
    .map((plugin) => ({ plugin, from: weight(from, plugin), to: weight(to, plugin) }))
    .filter(changed)
}

function changedAnswers(from: Cycle, to: Cycle): AnswerChange[] {
  const before = pipeline(from)
  return pipeline(to).flatMap((stage, i): AnswerChange[] => {
    const old = before[i]?.results ?? []
    // If only one attempt reached the extension point, a success there is not a difference.
    const inBoth = stage.ran && before[i]?.ran
    const isNews = (change: AnswerChange) =>
      inBoth || ![change.from, change.to].some((status) => status === 'Success' || status === 'Skip')
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
