// What the page of scenarios shows of a sweep: small multiples of one metric, and the ranked points.

import type { RunPoint, RunSweep } from '@/api/types'

/** The metrics that every sweep has. */
export const ownMetrics = ['passed', 'expectations'] as const

/** At most this many panels are drawn; the table has all points. */
export const maxPanels = 24

/** A line of a panel: one value of the parameter of the rows. */
export interface SweepRow {
  /** undefined when there is one parameter only. */
  value: unknown
  cells: { value: unknown; point: RunPoint }[]
}

/** The points that have the same values of all parameters but two. */
export interface SweepPanel {
  /** Those values, with the names of their parameters. */
  labels: { name: string; value: unknown }[]
  rows: SweepRow[]
}

export interface SweepChart {
  /** The names of the parameters of columns and rows. */
  across: string
  down: string | undefined
  /** The values of the columns. */
  columns: readonly unknown[]
  panels: SweepPanel[]
}

/**
 * Spreads the points of a sweep over panels. The parameter with the most values goes across, the
 * next one down.
 */
export function chartOf({ parameters, points }: RunSweep): SweepChart {
  const byMany = parameters
    .map((_, i) => i)
    .sort((a, b) => (parameters[b]?.values.length ?? 0) - (parameters[a]?.values.length ?? 0) || b - a)
  const [x = 0, y, ...rest] = byMany
  rest.sort((a, b) => a - b)
  const numbered = new Map(points.map((point) => [point.point, point]))
  const values = (i: number | undefined): readonly unknown[] =>
    i === undefined ? [undefined] : (parameters[i]?.values ?? [])
  /** The number of a point: the last parameter changes fastest. */
  const numberOf = (at: ReadonlyMap<number, number>) =>
    parameters.reduce((number, { values }, i) => number * values.length + (at.get(i) ?? 0), 0)
  const panels: SweepPanel[] = []
  const fill = (depth: number, at: ReadonlyMap<number, number>) => {
    const own = rest[depth]
    if (own !== undefined) return values(own).forEach((_, i) => fill(depth + 1, new Map([...at, [own, i]])))
    panels.push({
      labels: rest.map((i) => ({ name: parameters[i]?.name ?? '', value: values(i)[at.get(i) ?? 0] })),
      rows: values(y).map((value, row) => ({
        value,
        cells: values(x).flatMap((value, column) => {
          const point = numbered.get(
            numberOf(new Map([...at, [x, column], ...(y === undefined ? [] : [[y, row] as const])]))
          )
          return point ? [{ value, point }] : []
        }),
      })),
    })
  }
  fill(0, new Map())
  return {
    across: parameters[x]?.name ?? '',
    down: y === undefined ? undefined : parameters[y]?.name,
    columns: values(x),
    panels,
  }
}

/** Whether more of a metric is better; undefined when the sweep does not say. */
export function moreIsBetter({ best }: RunSweep, metric: string): boolean | undefined {
  const goal = best.find((one) => one.metric === metric)
  if (goal) return goal.most
  return (ownMetrics as readonly string[]).includes(metric) ? true : undefined
}

/**
 * The metric that the page shows first: the first goal that tells points apart by more than whether
 * they pass.
 */
export function firstMetric({ best, metrics }: RunSweep): string {
  const telling = best.find(({ metric }) => metrics.includes(metric)) ?? best[0]
  return telling?.metric ?? metrics[0] ?? 'passed'
}

/**
 * How deep the colour of a point is, from 0 to 1; 1 is the best, or the most when the sweep does
 * not say what is better.
 */
export function shadesOf(sweep: RunSweep, metric: string): (point: RunPoint) => number {
  const values = sweep.points.flatMap((point) => (metric in point.metrics ? [point.metrics[metric] ?? 0] : []))
  const low = Math.min(...values)
  const high = Math.max(...values)
  const most = moreIsBetter(sweep, metric) ?? true
  return (point) => {
    const value = point.metrics[metric]
    if (value === undefined || low === high) return 0.5
    const share = (value - low) / (high - low)
    return most ? share : 1 - share
  }
}

/** How many points have a metric in a range of values, in steps of equal width. */
export interface SweepBar {
  /**
   * The ends of the range, which are equal if the bar is for one value. A value between two bars
   * counts for the higher one.
   */
  from: number
  to: number
  points: number
}

/** A histogram has at most this many bars. */
export const maxBars = 12

/** The histogram of a metric: a bar for each value, or for each range if there are too many values. */
export function histogramOf({ points }: RunSweep, metric: string): SweepBar[] {
  const values = points.flatMap((point) => point.metrics[metric] ?? []).sort((a, b) => a - b)
  const distinct = [...new Set(values)]
  if (distinct.length <= maxBars)
    return distinct.map((value) => ({
      from: value,
      to: value,
      points: values.filter((other) => other === value).length,
    }))
  const low = values[0] ?? 0
  const width = ((values.at(-1) ?? 0) - low) / maxBars
  const bars = Array.from({ length: maxBars }, (_, i): SweepBar => ({
    from: low + i * width,
    to: low + (i + 1) * width,
    points: 0,
  }))
  for (const value of values) {
    const bar = bars[Math.min(maxBars - 1, Math.floor((value - low) / width))]
    if (bar) bar.points++
  }
  return bars
}

/** A number of a metric, as short as it can be. */
export const metricText = (value: number | undefined): string =>
  value === undefined ? '–' : String(Math.round(value * 100) / 100)

/** The rank with = behind it when other points have the same. */
export function rankText(points: readonly RunPoint[], { rank }: RunPoint): string {
  if (!rank) return '–'
  return points.filter((other) => other.rank === rank).length > 1 ? `${rank}=` : String(rank)
}

/** The index of the result of a point with the seed at a position. */
export const resultIndex = ({ seeds }: RunSweep, point: number, seed: number): number => point * seeds.length + seed
