// The Filter matrix, node × plugin, in the format of the record: columns, and one string of
// letters per node. A row is an index, so selecting and sorting 5,000 nodes copies no cells.

import type { Cycle, NodeReasons } from '@/api/types'
import { compareNames } from '@/kubernetes/cluster'
import { finder } from '@/kubernetes/search'

/** P passed, R rejected, S skipped, N not run, E error. */
export type CellState = 'P' | 'R' | 'S' | 'N' | 'E'

export interface FilterMatrix {
  /** In execution order; extenders that filter come last. */
  plugins: string[]
  /** The number of extenders at the end of `plugins`. */
  extenders: number
  nodes: string[]
  /** states[row] has one letter per plugin. */
  states: string[]
  refusals: NodeReasons[]
  /**
   * refusalOf[row] is an index of refusals: of the first one, because a hypothetical cycle has one
   * from each plugin that rejects the node; -1 for a node without one.
   */
  refusalOf: Int32Array
  /** 1 for nodes that passed every plugin and extender. */
  feasibleAt: Uint8Array
  feasible: number
  /** By plugin: the number of nodes that it rejected, according to the server's explanation. */
  rejections: number[]
  /** By plugin: it ran for at least one node. */
  asked: boolean[]
  /** By plugin: it was skipped for every node, because its PreFilter returned Skip. */
  skipped: boolean[]
  /** At least one cell has the state E. */
  hasErrors: boolean
}

/** undefined if Filter did not run. */
export function filterMatrix(cycle: Cycle): FilterMatrix | undefined {
  const filter = cycle.filter
  if (!filter) return undefined
  const { nodes } = filter
  const refusals: NodeReasons[] = [...filter.reasons]
  const refusalOf = new Int32Array(nodes.length).fill(-1)
  const rowOf = new Map(nodes.map((node, row) => [node, row]))
  const columnOf = new Map(filter.plugins.map((plugin, p) => [plugin, p]))
  const column = (refusal: NodeReasons | undefined) => (refusal ? (columnOf.get(refusal.plugin) ?? -1) : Infinity)
  filter.reasons.forEach((refusal, i) => {
    const row = rowOf.get(refusal.node)
    if (row !== undefined && column(refusal) < column(refusals[refusalOf[row] ?? -1])) refusalOf[row] = i
  })
  const byPlugins = filter.states
  const { names, letters } = extenderColumns(cycle, rowOf, refusals, refusalOf)
  const plugins = [...filter.plugins, ...names]
  const states = names.length ? byPlugins.map((own, row) => own + (letters[row] ?? '')) : byPlugins
  const rejections = new Map(cycle.explanation.rejections?.map((by) => [by.plugin, by.nodes]))
  const matrix: FilterMatrix = {
    plugins,
    extenders: names.length,
    nodes,
    states,
    refusals,
    refusalOf,
    feasibleAt: new Uint8Array(nodes.length),
    feasible: 0,
    rejections: plugins.map((plugin) => rejections.get(plugin) ?? 0),
    asked: plugins.map(() => false),
    skipped: plugins.map(() => false),
    hasErrors: false,
  }
  count(matrix)
  return matrix
}

/** One letter per node and extender. An extender gets only the nodes that passed everything before it. */
function extenderColumns(
  cycle: Cycle,
  rowOf: ReadonlyMap<string, number>,
  refusals: NodeReasons[],
  refusalOf: Int32Array
): { names: string[]; letters: string[] } {
  const answers = filterAnswers(cycle)
  const letters = Array.from(refusalOf, () => '')
  for (const [plugin, { rejected, failed }] of answers) {
    for (const [node, row] of rowOf) {
      const before = refusals[refusalOf[row] ?? -1]
      const reason = rejected.get(node)
      if (before) letters[row] += before.plugin === plugin ? 'R' : 'N'
      else if (reason !== undefined) {
        refusalOf[row] = refusals.length
        refusals.push({ node, plugin, reasons: reason ? [reason] : [] })
        letters[row] += 'R'
      } else letters[row] += failed ? 'E' : 'P'
    }
  }
  return { names: [...answers.keys()], letters }
}

/**
 * The extenders that were called in Filter, in their order. Calls about the nominated node alone
 * count only if no search of all nodes followed.
 */
function filterAnswers(cycle: Cycle): Map<string, { rejected: Map<string, string>; failed: boolean }> {
  const calls = (cycle.extenders ?? []).filter((call) => call.verb === 'filter')
  const search = calls.filter((call) => !call.nominated)
  const out = new Map<string, { rejected: Map<string, string>; failed: boolean }>()
  for (const call of search.length ? search : calls) {
    const known = out.get(call.plugin) ?? { rejected: new Map<string, string>(), failed: false }
    for (const { node, reason } of call.rejected ?? []) known.rejected.set(node, reason)
    known.failed ||= call.status === 'Error'
    out.set(call.plugin, known)
  }
  return out
}

function count(matrix: FilterMatrix): void {
  const { plugins, states, refusals, refusalOf, feasibleAt, asked, skipped } = matrix
  states.forEach((letters, row) => {
    let notRun = false
    for (let p = 0; p < plugins.length; p++) {
      const state = letters.charCodeAt(p)
      if (state === 80 || state === 82) asked[p] = true
      else if (state === 83) skipped[p] = true
      else if (state === 78) notRun = true
      else if (state === 69) asked[p] = matrix.hasErrors = true
    }
    const refusal = refusals[refusalOf[row] ?? -1]
    // If plugins did not run although none rejected the node, the framework itself did.
    if (!refusal && !notRun) {
      feasibleAt[row] = 1
      matrix.feasible++
    }
  })
  asked.forEach((yes, p) => {
    if (yes) skipped[p] = false
  })
}

export function stateAt(matrix: FilterMatrix, row: number, column: number): CellState {
  return (matrix.states[row]?.[column] ?? 'N') as CellState
}

export function refusalAt(matrix: FilterMatrix, row: number): NodeReasons | undefined {
  return matrix.refusals[matrix.refusalOf[row] ?? -1]
}

export function refusalBy(matrix: FilterMatrix, row: number, plugin: string): NodeReasons | undefined {
  const first = refusalAt(matrix, row)
  if (first?.plugin === plugin) return first
  return matrix.refusals.find((refusal) => refusal.node === matrix.nodes[row] && refusal.plugin === plugin)
}

export type RowFilter =
  { kind: 'all' } | { kind: 'feasible' } | { kind: 'rejected' } | { kind: 'rejectedBy'; plugin: string }

export function parseRowFilter(text: string | undefined): RowFilter {
  if (text === 'feasible' || text === 'rejected') return { kind: text }
  if (text?.startsWith('by:') && text.length > 3) return { kind: 'rejectedBy', plugin: text.slice(3) }
  return { kind: 'all' }
}

export function formatRowFilter(filter: RowFilter): string | undefined {
  if (filter.kind === 'all') return undefined
  return filter.kind === 'rejectedBy' ? `by:${filter.plugin}` : filter.kind
}

/**
 * reason: one row for each reason, which unfolds. node: by name. result: feasible nodes by total, then
 * the others by the position of the rejecting plugin. A minus reverses the order.
 */
export const rowSorts = ['reason', 'node', '-node', 'result', '-result'] as const
export type RowSort = (typeof rowSorts)[number]

export interface RowQuery {
  show: RowFilter
  /** Every word must occur in the node's name, in the rejecting plugin or in a reason. */
  text: string
  sort: RowSort
  /** Totals of the scored nodes, by node. */
  totals?: ReadonlyMap<string, number>
}

/** The rows that match query, in its order; by reason they are yet to be ordered. */
export function selectRows(matrix: FilterMatrix, query: RowQuery): Int32Array {
  const { nodes } = matrix
  const wanted = wants(matrix, query)
  const rows = new Int32Array(nodes.length)
  let n = 0
  for (let row = 0; row < nodes.length; row++) if (wanted(row)) rows[n++] = row
  const found = rows.subarray(0, n)
  return query.sort === 'reason' ? found : sortRows(matrix, found, query)
}

function wants(matrix: FilterMatrix, { show, text }: RowQuery): (row: number) => boolean {
  const found = finder(text)
  const matches = (row: number) => {
    if (!found) return true
    const refusal = refusalAt(matrix, row)
    return found(`${matrix.nodes[row] ?? ''} ${refusal ? `${refusal.plugin} ${refusal.reasons.join(' ')}` : ''}`)
  }
  switch (show.kind) {
    case 'all':
      return matches
    case 'feasible':
      return (row) => matrix.feasibleAt[row] === 1 && matches(row)
    case 'rejected':
      return (row) => matrix.feasibleAt[row] !== 1 && matches(row)
    case 'rejectedBy':
      return (row) => refusalAt(matrix, row)?.plugin === show.plugin && matches(row)
  }
}

function sortRows(matrix: FilterMatrix, rows: Int32Array, { sort, totals }: RowQuery): Int32Array {
  const { nodes } = matrix
  const descending = sort.startsWith('-')
  const byName = (a: number, b: number) => compareNames(nodes[a] ?? '', nodes[b] ?? '')
  if (sort === 'node' || sort === '-node') {
    const sorted = rows.sort(byName)
    return descending ? sorted.reverse() : sorted
  }
  // One number per row: higher for a later rejection, and highest for feasible nodes.
  const columns = matrix.plugins.length
  const columnOf = new Map(matrix.plugins.map((plugin, p) => [plugin, p]))
  const rank = new Float64Array(nodes.length)
  for (const row of rows) {
    const refusal = refusalAt(matrix, row)
    rank[row] = refusal ? (columnOf.get(refusal.plugin) ?? columns) - columns - 1 : (totals?.get(nodes[row] ?? '') ?? 0)
  }
  const sign = descending ? 1 : -1
  return rows.sort((a, b) => sign * ((rank[a] ?? 0) - (rank[b] ?? 0)) || byName(a, b))
}
