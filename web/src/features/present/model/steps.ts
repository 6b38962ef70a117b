// A decision as a presentation: one step at a time along the pipeline, from the pod to the
// node it got, or to the reason why it got none. Steps contain names and numbers; the page
// adds words.

import type { Cycle, PluginResult, PodGroup, Victim } from '@/api/types'
import { pipeline, type Stage, type StageName } from '@/features/decision/model/cycle'
import { filterMatrix, refusalAt, stateAt, type FilterMatrix } from '@/features/decision/model/matrix'
import {
  comparedRules,
  preemptionTable,
  type ComparedRule,
  type PreemptionRow,
  type PreemptionTable,
  type Unhelpful,
} from '@/features/decision/model/preemption'
import { comparisons } from '@/features/decision/model/pluginComparison'
import { scoreTable, type ScoreTable } from '@/features/decision/model/scores'
import { secondsBetween } from '@/kubernetes/time'

/** A part of the pipeline. The rail below the presentation names the parts that a decision went through. */
export type Part = 'Queue' | 'PreFilter' | 'Filter' | 'Score' | 'PostFilter' | 'Bind' | 'Result'

export interface Reason {
  /** '' when the plugin gave none. */
  reason: string
  nodes: number
}

export type Content =
  /** The pod before its attempt. `waited`: seconds in the queue; undefined if the record does not say. */
  | { kind: 'pod'; attempt: number; nodes: number; waited: number | undefined }
  | { kind: 'group'; group: PodGroup }
  | { kind: 'placements'; group: PodGroup }
  /**
   * `narrowed`: plugins that restricted the search to some nodes. `refused`: plugins that rejected
   * the pod outright.
   */
  | {
      kind: 'preFilter'
      plugins: number
      skipped: string[]
      narrowed: { plugin: string; nodes: number }[]
      refused: PluginResult[]
    }
  /**
   * Plugins that ran one after the other and rejected no node. Those that PreFilter skips are named
   * there.
   */
  | { kind: 'passes'; plugins: string[]; left: number }
  /** One plugin, or an extender, that rejected nodes; '' if no plugin did, but the framework itself. */
  | { kind: 'rejects'; plugin: string; extender: boolean; nodes: number; left: number; reasons: Reason[] }
  /** Plugins that did not run, because no node was left. */
  | { kind: 'notRun'; plugins: string[] }
  /** `ignored`: an extender that may fail, so that its nodes stay. */
  | { kind: 'failed'; plugin: string; nodes: number; ignored: boolean }
  | { kind: 'notEvaluated'; nodes: number; why: string; wanted: number | undefined; plugins: string[] }
  /** The nodes that are scored next, and the plugins that skip scoring. */
  | { kind: 'feasible'; nodes: number; columns: number; skipped: string[] }
  /** Feasible nodes, but no scores. */
  | { kind: 'unscored'; nodes: number; why: 'one' | 'hint' | 'nominated' | 'missing' }
  /** One plugin, or an extender, adds its scores. `same`: every node gets this many points from it. */
  | { kind: 'score'; plugin: string; extender: boolean; weight: number; same: number | undefined }
  /**
   * The best node. `tied`: other nodes with the same total, among which the seed of the simulator
   * or chance decided.
   */
  | {
      kind: 'chosen'
      node: string
      total: number | undefined
      tied: string[]
      bySeed: boolean
      next: string
      margin: number
    }
  | { kind: 'candidates'; candidates: number; nodes: number; unhelpful: Unhelpful[] }
  /**
   * One rule of preemption, and the candidates that it removes. `equal`: earlier rules under which
   * all were equal.
   */
  | { kind: 'rule'; rule: ComparedRule; equal: ComparedRule[]; out: number; left: number; decides: boolean }
  /** Several candidates were equal under every rule. */
  | { kind: 'firstFound'; node: string; left: number }
  | { kind: 'victims'; node: string; victims: Victim[]; more: number; reprieved: number; violations: number }
  /** Extension points after the choice of a node, up to binding. */
  | { kind: 'binding'; stages: { name: StageName; status: string; plugins: string[] }[] }
  | { kind: 'end' }

export interface Step {
  part: Part
  content: Content
  /** The number of Filter columns that have crossed out their nodes. */
  filtered: number
  /** The number of Score columns that are added up. */
  scored: number
  /** The number of preemption's rules that are applied; undefined outside of preemption. */
  rules?: number
}

export interface Presentation {
  cycle: Cycle
  matrix: FilterMatrix | undefined
  table: ScoreTable | undefined
  preemption: PreemptionTable | undefined
  /** The values that a plugin compared for a node, if recorded. */
  compared: ReturnType<typeof comparisons>
  /**
   * By row of the matrix: the column that rejected the node, or failed on it; -1 for a feasible
   * node. The number of columns if the framework rejected it.
   */
  outAt: Int32Array
  steps: Step[]
}

/** The presentation of a cycle. Its first step is the pod, its last one the outcome. */
export function presentation(cycle: Cycle): Presentation {
  const matrix = filterMatrix(cycle)
  const found: Presentation = {
    cycle,
    matrix,
    table: scoreTable(cycle),
    preemption: preemptionTable(cycle),
    compared: comparisons(cycle),
    outAt: matrix ? outColumns(cycle, matrix) : new Int32Array(),
    steps: [],
  }
  const add = (part: Part, contents: readonly Content[], at: Partial<Step> = {}) => {
    const last = found.steps.at(-1)
    for (const content of contents)
      found.steps.push({ part, content, filtered: last?.filtered ?? 0, scored: last?.scored ?? 0, ...at })
  }
  add('Queue', [podOf(cycle), ...groupOf(cycle)])
  add('PreFilter', preFilterOf(cycle))
  const left = notEvaluatedOf(cycle)
  if (left?.early) add('PreFilter', [left.content])
  if (matrix) for (const { content, filtered } of filterOf(found, matrix)) add('Filter', [content], { filtered })
  if (left && !left.early) add('Filter', [left.content])
  for (const { content, scored } of scoreOf(found)) add('Score', [content], { scored })
  add('Score', chosenOf(found))
  for (const { content, rules } of preemptionOf(found)) add('PostFilter', [content], { rules })
  add('Bind', bindingOf(cycle))
  add('Result', [{ kind: 'end' }])
  return found
}

export function partsOf({ steps }: Presentation): Part[] {
  return [...new Set(steps.map((step) => step.part))]
}

function podOf(cycle: Cycle): Content {
  const added = cycle.queue?.addedTime
  return {
    kind: 'pod',
    attempt: cycle.attempt,
    nodes: cycle.nodes.total,
    waited: added ? secondsBetween(added, cycle.startTime) : undefined,
  }
}

function groupOf({ podGroup: group }: Cycle): Content[] {
  if (!group) return []
  // A group without a topology constraint has one placement, which is all nodes.
  const several = (group.placements ?? []).some((place) => place.name)
  return [{ kind: 'group', group }, ...(several ? [{ kind: 'placements', group } as const] : [])]
}

const accepted: ReadonlySet<string> = new Set(['Success', 'Skip', 'Wait'])

function preFilterOf({ preFilter = [] }: Cycle): Content[] {
  if (!preFilter.length) return []
  return [
    {
      kind: 'preFilter',
      plugins: preFilter.filter((r) => r.status !== 'Skip').length,
      skipped: preFilter.filter((r) => r.status === 'Skip').map((r) => r.plugin),
      narrowed: preFilter.flatMap(({ plugin, nodes }) => (nodes ? [{ plugin, nodes: nodes.length }] : [])),
      refused: preFilter.filter((r) => !accepted.has(r.status)),
    },
  ]
}

/** `early`: the nodes were left out before Filter. */
function notEvaluatedOf({ explanation }: Cycle): { content: Content; early: boolean } | undefined {
  const left = explanation.notEvaluated
  if (!left) return undefined
  const why = left.why === 'enoughFeasibleNodes' && left.wanted === 1 ? 'firstFeasible' : left.why
  return {
    content: { kind: 'notEvaluated', nodes: left.nodes, why, wanted: left.wanted, plugins: left.plugins ?? [] },
    early: left.why === 'preFilter' || left.why === 'outsidePlacement',
  }
}

// Filter.

/** A call that failed, and the scheduler continued without its answer. */
const ignoredExtender = ({ extenders = [] }: Cycle, plugin: string) =>
  extenders.some(
    (call) => call.plugin === plugin && call.verb === 'filter' && call.status === 'Error' && !!call.ignored
  )

function outColumns(cycle: Cycle, matrix: FilterMatrix): Int32Array {
  const columnOf = new Map(matrix.plugins.map((plugin, p) => [plugin, p]))
  return Int32Array.from(matrix.nodes, (_, row) => {
    const refusal = refusalAt(matrix, row)
    const column = refusal && columnOf.get(refusal.plugin)
    if (column !== undefined) return column
    // An extender fails for all nodes, which it then does not reject one by one.
    const failed = [...(matrix.states[row] ?? '')].findIndex(
      (state, p) => state === 'E' && !ignoredExtender(cycle, matrix.plugins[p] ?? '')
    )
    if (failed < 0 && matrix.feasibleAt[row] === 1) return -1
    // The framework rejected the node itself, after all plugins.
    return failed >= 0 ? failed : matrix.plugins.length
  })
}

function* filterOf(
  { outAt, cycle }: Presentation,
  matrix: FilterMatrix
): Generator<{ content: Content; filtered: number }> {
  let left = matrix.nodes.length
  let passing: string[] = []
  let notRun: string[] = []
  const quiet = function* (filtered: number): Generator<{ content: Content; filtered: number }> {
    if (passing.length) yield { content: { kind: 'passes', plugins: passing, left }, filtered }
    if (notRun.length) yield { content: { kind: 'notRun', plugins: notRun }, filtered }
    passing = []
    notRun = []
  }
  for (const [column, plugin] of matrix.plugins.entries()) {
    const rows: number[] = []
    for (let row = 0; row < outAt.length; row++) if (outAt[row] === column) rows.push(row)
    if (!rows.length) {
      if (ignoredExtender(cycle, plugin)) {
        yield* quiet(column)
        yield { content: { kind: 'failed', plugin, nodes: left, ignored: true }, filtered: column + 1 }
      } else if (matrix.asked[column]) passing.push(plugin)
      else if (!matrix.skipped[column]) notRun.push(plugin)
      continue
    }
    yield* quiet(column)
    left -= rows.length
    const failing = rows.filter((row) => stateAt(matrix, row, column) === 'E').length
    if (failing < rows.length)
      yield {
        content: {
          kind: 'rejects',
          plugin,
          extender: column >= matrix.plugins.length - matrix.extenders,
          nodes: rows.length - failing,
          left,
          reasons: reasonsOf(matrix, rows),
        },
        filtered: column + 1,
      }
    if (failing) yield { content: { kind: 'failed', plugin, nodes: failing, ignored: false }, filtered: column + 1 }
  }
  yield* quiet(matrix.plugins.length)
  const byFramework = outAt.filter((column) => column === matrix.plugins.length).length
  if (byFramework)
    yield {
      content: {
        kind: 'rejects',
        plugin: '',
        extender: false,
        nodes: byFramework,
        left: left - byFramework,
        reasons: [],
      },
      filtered: matrix.plugins.length + 1,
    }
}

function reasonsOf(matrix: FilterMatrix, rows: readonly number[]): Reason[] {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const reason = refusalAt(matrix, row)?.reasons.join(', ') ?? ''
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return [...counts]
    .map(([reason, nodes]) => ({ reason, nodes }))
    .sort((a, b) => b.nodes - a.nodes || a.reason.localeCompare(b.reason))
}

// Score.

function* scoreOf({ cycle, table }: Presentation): Generator<{ content: Content; scored: number }> {
  const { feasible } = cycle.nodes
  if (!table) {
    const why = cycle.hint?.used ? 'hint' : cycle.nomination?.used ? 'nominated' : feasible === 1 ? 'one' : 'missing'
    if (feasible) yield { content: { kind: 'unscored', nodes: feasible, why }, scored: 0 }
    return
  }
  yield {
    content: { kind: 'feasible', nodes: table.nodes.length, columns: table.columns.length, skipped: table.skipped },
    scored: 0,
  }
  for (const [p, { name, extender, weight }] of table.columns.entries()) {
    const span = table.spans[p]
    yield {
      content: { kind: 'score', plugin: name, extender, weight, same: span?.uniform ? span.best : undefined },
      scored: p + 1,
    }
  }
}

function chosenOf({ cycle, table }: Presentation): Content[] {
  const node = cycle.selectedNode
  if (!node) return []
  const row = table?.nodes.indexOf(node) ?? -1
  if (!table || row < 0)
    return [{ kind: 'chosen', node, total: undefined, tied: [], bySeed: false, next: '', margin: 0 }]
  const total = table.totals[row] ?? 0
  const others = [...table.ranked].filter((r) => r !== row)
  const second = others[0]
  return [
    {
      kind: 'chosen',
      node,
      total,
      tied: others.filter((r) => table.totals[r] === total).map((r) => table.nodes[r] ?? ''),
      bySeed: cycle.explanation.headline.kind === 'tiedBySeed',
      next: second === undefined ? '' : (table.nodes[second] ?? ''),
      margin: second === undefined ? 0 : total - (table.totals[second] ?? 0),
    },
  ]
}

// Preemption.

/** Whether a candidate was compared under the rules at all. */
export const isCompared = (row: PreemptionRow) => !row.removedBy && !row.surplus

/** The candidates that are left after the first `rules` rules. */
export function leftAfter({ rows }: PreemptionTable, rules: number): PreemptionRow[] {
  return rows.filter((row) => isCompared(row) && (!row.outBy || comparedRules.indexOf(row.outBy) >= rules))
}

function* preemptionOf({ cycle, preemption: table }: Presentation): Generator<{ content: Content; rules: number }> {
  if (!table) return
  yield {
    content: { kind: 'candidates', candidates: table.candidates, nodes: cycle.nodes.total, unhelpful: table.unhelpful },
    rules: 0,
  }
  const chosen = table.rows.find((row) => row.chosen)
  if (!chosen) return
  let equal: ComparedRule[] = []
  if (table.verdict.kind === 'rule') {
    for (const [i, rule] of comparedRules.entries()) {
      const out = leftAfter(table, i).length - leftAfter(table, i + 1).length
      const decides = rule === table.decided
      if (!out && !decides) {
        equal.push(rule)
        continue
      }
      yield { content: { kind: 'rule', rule, equal, out, left: leftAfter(table, i + 1).length, decides }, rules: i + 1 }
      equal = []
      if (decides) break
    }
    if (!table.decided)
      yield {
        content: { kind: 'firstFound', node: chosen.node, left: leftAfter(table, comparedRules.length).length },
        rules: comparedRules.length,
      }
  }
  yield {
    content: {
      kind: 'victims',
      node: chosen.node,
      victims: chosen.victims,
      more: chosen.victimsDropped,
      reprieved: chosen.reprieved.length + chosen.reprievedDropped,
      violations: Number(chosen.values.fewestPDBViolations),
    },
    rules: comparedRules.length,
  }
}

// After the choice.

function bindingOf(cycle: Cycle): Content[] {
  const all = pipeline(cycle)
  const stages = all
    .slice(all.findIndex((stage) => stage.name === 'Score') + 1)
    .filter(({ name, plugins, ran }) => ran && name !== 'PreBindPreFlight' && (plugins > 0 || name === 'WaitOnPermit'))
  if (!stages.length) return []
  return [
    {
      kind: 'binding',
      stages: stages.map((stage) => ({
        name: stage.name,
        status: statusOf(cycle, stage),
        plugins: pluginsOf(cycle, stage),
      })),
    },
  ]
}

/** The status of a stage: that of the first plugin that stopped or delayed the pod, otherwise Success. */
function statusOf({ permitWait }: Cycle, { name, results }: Stage): string {
  if (name === 'WaitOnPermit') return permitWait?.status ?? 'Wait'
  return (
    results.find((r) => !accepted.has(r.status))?.status ??
    results.find((r) => r.status === 'Wait')?.status ??
    'Success'
  )
}

function pluginsOf({ permitWait }: Cycle, { name, results, calls }: Stage): string[] {
  if (name === 'WaitOnPermit') return permitWait?.plugins ?? []
  const stopped = results.filter((r) => !accepted.has(r.status))
  const shown = stopped.length ? stopped : results.filter((r) => r.status !== 'Skip')
  return [...shown.map((r) => r.plugin), ...calls.map((call) => call.plugin)]
}
