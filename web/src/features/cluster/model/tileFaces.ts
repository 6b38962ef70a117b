// What a tile of the map shows about its node: its load, or its verdict in the shown
// decision. tilePainter chooses colours and strokes.

import { share, type NodeView } from '@/kubernetes/cluster'
import type { Nearness } from './nearness'
import { levels, scaleOf, type Scale } from './scale'
import type { NodeVerdict } from '@/features/decision/model/cycle'

export type TileFace =
  /** No decision is shown: level 0 is empty, 6 is over capacity. */
  | { kind: 'load'; level: number; flagged: boolean }
  | { kind: 'total'; level: number; chosen: boolean }
  | { kind: 'feasible'; chosen: boolean }
  /**
   * `sign`: the index of the rejecting plugin's sign. `level`: how near the node is to fitting, if amounts
   * are all that it lacks; 0 if it has none of a resource at all.
   */
  | { kind: 'rejected'; sign: number; level?: number }
  | { kind: 'notEvaluated' }
  | { kind: 'absent' }

export type LoadOf = 'cpu' | 'memory' | 'pods'

// Equal faces are the same object, so a comparison finds the tiles to repaint.
const faceOfLevel = (level: number) => [false, true].map((flagged): TileFace => ({ kind: 'load', level, flagged }))
const loadFaces = Array.from({ length: levels + 2 }, (_, level) => faceOfLevel(level))
const absent: TileFace = { kind: 'absent' }

/** In percent, rounded up, so that a stream of changes seldom moves the limits of the classes. */
const percent = (part: number) => Math.ceil(part * 100 - 1e-6)
const isOver = (part: number) => part > 1.0001

/** The scale of the nodes that are neither empty nor over capacity, in percent. */
export function loadScale(nodes: readonly NodeView[], of: LoadOf): Scale {
  const parts = nodes.map((view) => share(view[of])).filter((part) => part > 0 && !isOver(part))
  return scaleOf(parts.map(percent).sort((a, b) => a - b))
}

/** How full a node is, and whether it has a problem that keeps pods away. */
export function loadFace(view: NodeView, of: LoadOf, scale: Scale): TileFace {
  const part = share(view[of])
  const level = isOver(part) ? levels + 1 : part <= 0 ? 0 : scale.levelOf(percent(part))
  return loadFaces[level]?.[view.notReady || view.unschedulable ? 1 : 0] ?? absent
}

/** Counts for the map's legend, and how the tiles are told apart. */
export interface Tally {
  feasible: number
  rejected: number
  notEvaluated: number
  absent: number
  chosen: string | undefined
  /** Plugins that rejected nodes, most first; the index of a plugin is its sign. */
  plugins: { plugin: string; nodes: number }[]
  /** Totals of the scored nodes on the map, ascending. */
  totals: number[]
  /** Set for a pod that fits nowhere. */
  nearness?: Nearness
}

export function tally(
  nodes: readonly NodeView[],
  verdictOf: (node: string) => NodeVerdict,
  nearness?: Nearness
): Tally {
  const out: Tally = {
    ...(nearness && { nearness }),
    feasible: 0,
    rejected: 0,
    notEvaluated: 0,
    absent: 0,
    chosen: undefined,
    plugins: [],
    totals: [],
  }
  const plugins = new Map<string, number>()
  for (const { name } of nodes) {
    const verdict = verdictOf(name)
    switch (verdict.kind) {
      case 'scored':
      case 'feasible':
        out.feasible++
        if (verdict.kind === 'scored') out.totals.push(verdict.total)
        if (verdict.chosen) out.chosen = name
        break
      case 'rejected':
        out.rejected++
        plugins.set(verdict.plugin, (plugins.get(verdict.plugin) ?? 0) + 1)
        break
      default:
        out[verdict.kind]++
    }
  }
  out.totals.sort((a, b) => a - b)
  out.plugins = [...plugins]
    .map(([plugin, count]) => ({ plugin, nodes: count }))
    .sort((a, b) => b.nodes - a.nodes || (a.plugin < b.plugin ? -1 : 1))
  return out
}

/** The faces of one decision; the tally provides signs and the range of totals. */
export function verdictFaces(counted: Tally): (verdict: NodeVerdict, node: string) => TileFace {
  const signs = new Map(counted.plugins.map(({ plugin }, i) => [plugin, i]))
  const scale = scaleOf(counted.totals)
  return (verdict, node) => {
    switch (verdict.kind) {
      case 'scored':
        return { kind: 'total', chosen: verdict.chosen, level: scale.levelOf(verdict.total) }
      case 'feasible':
        return { kind: 'feasible', chosen: verdict.chosen }
      case 'rejected':
        return rejectedFace(signs.get(verdict.plugin) ?? 0, counted.nearness?.levelOf(node))
      default:
        return { kind: verdict.kind }
    }
  }
}

export const rejectedFace = (sign: number, level: number | undefined): TileFace => ({
  kind: 'rejected',
  sign,
  ...(level !== undefined && { level }),
})

export type VerdictFilter =
  | { kind: 'all' }
  | { kind: 'feasible' }
  | { kind: 'rejected' }
  | { kind: 'notEvaluated' }
  | { kind: 'by'; plugin: string }

export function parseVerdictFilter(text: string): VerdictFilter {
  if (text === 'feasible' || text === 'rejected' || text === 'notEvaluated') return { kind: text }
  return text.startsWith('by:') && text.length > 3 ? { kind: 'by', plugin: text.slice(3) } : { kind: 'all' }
}

export function matchesVerdict(filter: VerdictFilter, verdict: NodeVerdict): boolean {
  switch (filter.kind) {
    case 'all':
      return true
    case 'feasible':
      return verdict.kind === 'feasible' || verdict.kind === 'scored'
    case 'by':
      return verdict.kind === 'rejected' && verdict.plugin === filter.plugin
    case 'notEvaluated':
      return verdict.kind === 'notEvaluated' || verdict.kind === 'absent'
    default:
      return verdict.kind === filter.kind
  }
}

export interface Histogram {
  /** Where the first bar starts, and how wide each bar is. */
  from: number
  step: number
  counts: number[]
  median: number
}

/** Groups ascending values into at most `most` bars of a round width; undefined without values. */
export function histogram(ascending: readonly number[], most = 18): Histogram | undefined {
  const low = ascending[0]
  const high = ascending.at(-1)
  if (low === undefined || high === undefined) return undefined
  const step = roundStep(Math.max(1, (high - low) / most), (s) => Math.floor(high / s) - Math.floor(low / s) < most)
  const from = Math.floor(low / step) * step
  const counts = new Array<number>(Math.floor((high - from) / step) + 1).fill(0)
  for (const value of ascending) {
    const at = Math.floor((value - from) / step)
    counts[at] = (counts[at] ?? 0) + 1
  }
  return { from, step, counts, median: ascending[Math.floor((ascending.length - 1) / 2)] ?? low }
}

function roundStep(least: number, fits: (step: number) => boolean): number {
  for (let power = 1; ; power *= 10)
    for (const digit of [1, 2, 4, 5]) if (digit * power >= least && fits(digit * power)) return digit * power
}
