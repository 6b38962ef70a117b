// What the page shows of a comparison of two versions.

import type { UpgradeAnswer, UpgradeCause, UpgradeDecision, UpgradeRejection, UpgradeStatus } from '@/api/types'

export type UpgradeClass = UpgradeCause['class']

/** In the order of the page. The first one needs no cause. */
export const classes: readonly UpgradeClass[] = ['same', 'tie', 'moved', 'lost', 'gained', 'reason']

/** A share as text: one decimal, but never 0% or 100% for a part. */
export function share(n: number, of: number): string {
  if (!of || !n) return '0%'
  if (n === of) return '100%'
  const percent = Math.min(99.9, Math.max(0.1, (100 * n) / of))
  return `${percent.toFixed(1)}%`
}

/** How many decisions differ. */
export const differing = (answer: UpgradeAnswer): number => answer.pods - answer.same

/** A cause and its index in the answer, by which an address names it. */
export interface Numbered {
  index: number
  cause: UpgradeCause
}

/** The causes of a class, or all of them; the most pods first. */
export function causesOf(answer: UpgradeAnswer, of: UpgradeClass | ''): Numbered[] {
  return answer.causes
    .map((cause, index) => ({ index, cause }))
    .filter(({ cause }) => !of || cause.class === of)
    .sort((a, b) => b.cause.pods - a.cause.pods || a.index - b.index)
}

/** The cause to show: the chosen one if it is listed, or else what deserves a look first. */
export function causeShown(listed: readonly Numbered[], chosen: string): Numbered | undefined {
  const found = listed.find(({ index }) => String(index) === chosen)
  if (found) return found
  const urgent: readonly UpgradeClass[] = ['lost', 'moved', 'gained', 'reason', 'tie']
  for (const of of urgent) {
    const first = listed.find(({ cause }) => cause.class === of)
    if (first) return first
  }
  return undefined
}

/** A row of the score table: what a plugin adds to the totals of the nodes shown. */
export interface ScoreRow {
  plugin: string
  weight: number | undefined
  /** By node; undefined if the plugin did not score, or the node was not scored. */
  values: readonly (number | undefined)[]
  /** The versions rank the nodes shown differently in this row. */
  differs: boolean
}

/** The score table of one version. */
export interface ScoreSide {
  nodes: readonly string[]
  rows: readonly ScoreRow[]
  totals: readonly (number | undefined)[]
  /** The node of the best total among those shown. */
  winner: string | undefined
  /** What the winner has more than the other node shown. */
  lead: number | undefined
}

/** The nodes that tell the difference: a best one of each version, or the best and the next. */
export function nodesShown(before: UpgradeDecision, after: UpgradeDecision): string[] {
  const old = before.best ?? []
  const fresh = after.best ?? []
  const left = old.find((node) => !fresh.includes(node)) ?? old[0]
  const right = fresh.find((node) => !old.includes(node) && node !== left) ?? fresh.find((node) => node !== left)
  const further = old.find((node) => node !== left && node !== right) ?? nextBest(before, left)
  return [...new Set([left, right ?? further].filter((node) => node !== undefined))]
}

function nextBest({ scores }: UpgradeDecision, than: string | undefined): string | undefined {
  if (!scores) return undefined
  const ranked = scores.nodes
    .map((node, i) => ({ node, total: scores.totals[i] ?? 0 }))
    .filter(({ node }) => node !== than)
    .sort((a, b) => b.total - a.total)
  return ranked[0]?.node
}

const weightedOf = ({ scores }: UpgradeDecision, plugin: string, node: string): number | undefined => {
  const column = scores?.plugins.findIndex(({ name }) => name === plugin) ?? -1
  const row = scores?.nodes.indexOf(node) ?? -1
  const value = scores?.normalized[row]?.[column]
  return value === undefined ? undefined : value * (scores?.plugins[column]?.weight ?? 1)
}

/** What a plugin gives the first node more than the second. */
const leadIn = (decision: UpgradeDecision, plugin: string, [a, b]: readonly string[]): number =>
  a === undefined || b === undefined
    ? 0
    : (weightedOf(decision, plugin, a) ?? 0) - (weightedOf(decision, plugin, b) ?? 0)

/** Both score tables, with the same rows and columns. undefined unless both versions scored nodes. */
export function scoreSides(
  before: UpgradeDecision,
  after: UpgradeDecision
): readonly [ScoreSide, ScoreSide] | undefined {
  if (!before.scores || !after.scores) return undefined
  const nodes = nodesShown(before, after)
  const plugins = [...new Set([...before.scores.plugins, ...after.scores.plugins].map(({ name }) => name))]
  const differs = (plugin: string) => leadIn(before, plugin, nodes) !== leadIn(after, plugin, nodes)
  const side = (decision: UpgradeDecision): ScoreSide => {
    const totals = nodes.map((node) => decision.scores?.totals[decision.scores.nodes.indexOf(node)])
    const best = Math.max(...totals.filter((total) => total !== undefined))
    const [first, second] = totals
    return {
      nodes,
      rows: plugins.map((plugin) => ({
        plugin,
        weight: decision.scores?.plugins.find(({ name }) => name === plugin)?.weight,
        values: nodes.map((node) => weightedOf(decision, plugin, node)),
        differs: differs(plugin),
      })),
      totals,
      winner: nodes[totals.indexOf(best)],
      lead: first === undefined || second === undefined ? undefined : Math.abs(first - second),
    }
  }
  return [side(before), side(after)]
}

/** A verdict that rejects nodes, for a list. */
export interface Verdict {
  plugin: string
  reasons: string
  code: string
  count: number
  /** It rejects the node in question. */
  here: boolean
  /** The other version has no such verdict, or for another number of nodes. */
  differs: boolean
}

const wordsOf = ({ plugin = '', code, reasons = [] }: UpgradeStatus): string => [plugin, code, ...reasons].join('\n')

/**
 * The verdicts of a decision, those about the nodes in question first, then those with most nodes.
 * A PreFilter that fails stands for all nodes.
 */
export function verdictsOf(
  decision: UpgradeDecision,
  other: UpgradeDecision,
  about: readonly string[] = []
): Verdict[] {
  const plain = (rejections: readonly UpgradeRejection[] = []) => rejections.filter(({ further }) => !further)
  const others = new Map(plain(other.rejections).map((one) => [wordsOf(one), one.count]))
  if (other.preFilter) others.set(wordsOf(other.preFilter), other.nodes)
  const verdict = (status: UpgradeStatus, count: number, here: boolean): Verdict => ({
    plugin: status.plugin ?? '',
    code: status.code,
    reasons: (status.reasons ?? []).join(', '),
    count,
    here,
    differs: others.get(wordsOf(status)) !== count,
  })
  const found = plain(decision.rejections).map((one) =>
    verdict(
      one,
      one.count,
      about.some((node) => one.nodes?.includes(node))
    )
  )
  if (decision.preFilter) found.unshift(verdict(decision.preFilter, decision.nodes, true))
  return found.sort((a, b) => Number(b.here) - Number(a.here) || b.count - a.count)
}

/** The decisions whose cause names a gate, by gate. */
export function podsByGate(answer: UpgradeAnswer): Map<string, number> {
  const out = new Map<string, number>()
  for (const { gates = [], pods } of answer.causes) {
    for (const gate of gates) out.set(gate, (out.get(gate) ?? 0) + pods)
  }
  return out
}

export const podName = ({ namespace, name }: { namespace?: string; name: string }): string =>
  namespace && namespace !== 'default' ? `${namespace}/${name}` : name
