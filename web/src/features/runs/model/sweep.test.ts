import { describe, expect, it } from 'vitest'
import type { RunPoint, RunSweep } from '@/api/types'
import {
  chartOf,
  firstMetric,
  histogramOf,
  maxBars,
  metricText,
  moreIsBetter,
  rankText,
  resultIndex,
  shadesOf,
} from './sweep'

const point = (number: number, rank: number, metrics: Record<string, number> = {}): RunPoint => ({
  point: number,
  values: [],
  done: 2,
  passed: 2,
  rank,
  metrics,
})

/** strategy × spread × fit: 2 × 3 × 4 points. */
const sweep = (points: RunPoint[]): RunSweep => ({
  parameters: [
    { name: 'strategy', values: ['Least', 'Most'] },
    { name: 'spread', values: ['off', 1, 5] },
    { name: 'fit', values: [1, 2, 5, 10] },
  ],
  metrics: ['skew', 'nodes'],
  best: [
    { metric: 'passed', most: true },
    { metric: 'skew', most: false },
  ],
  seeds: [4, 7],
  points,
})
const all = Array.from({ length: 24 }, (_, i) => point(23 - i, i + 1))

describe('the chart of a sweep', () => {
  it('has the parameter with the most values across, the next one down, and a panel for the rest', () => {
    const chart = chartOf(sweep(all))
    expect([chart.across, chart.down, chart.columns]).toEqual(['fit', 'spread', [1, 2, 5, 10]])
    expect(chart.panels.map(({ labels }) => labels)).toEqual([
      [{ name: 'strategy', value: 'Least' }],
      [{ name: 'strategy', value: 'Most' }],
    ])
    expect(chart.panels[1]?.rows.map(({ value, cells }) => [value, cells.map((cell) => cell.point.point)])).toEqual([
      ['off', [12, 13, 14, 15]],
      [1, [16, 17, 18, 19]],
      [5, [20, 21, 22, 23]],
    ])
  })

  it('finds points whatever the order of the parameters', () => {
    const { parameters, ...rest } = sweep(all)
    const chart = chartOf({ ...rest, parameters: parameters.toReversed() })
    expect([chart.across, chart.down]).toEqual(['fit', 'spread'])
    // fit changes slowest now: its second value begins at 6.
    expect(chart.panels[0]?.rows[0]?.cells.map((cell) => cell.point.point)).toEqual([0, 6, 12, 18])
  })

  it('has one line for one parameter', () => {
    const chart = chartOf({ ...sweep([point(0, 1), point(1, 2)]), parameters: [{ name: 'fit', values: [1, 2] }] })
    expect([chart.down, chart.panels.length, chart.panels[0]?.rows[0]?.cells.length]).toEqual([undefined, 1, 2])
  })
})

describe('the metrics of a sweep', () => {
  it('are better or worse as the sweep says', () => {
    expect(['skew', 'passed', 'expectations', 'nodes'].map((metric) => moreIsBetter(sweep([]), metric))).toEqual([
      false,
      true,
      true,
      undefined,
    ])
    expect(firstMetric(sweep([]))).toBe('skew')
    expect(firstMetric({ ...sweep([]), best: [{ metric: 'passed', most: true }] })).toBe('passed')
  })

  it('shade the best the deepest', () => {
    const points = [
      point(0, 1, { skew: 1, nodes: 4 }),
      point(1, 2, { skew: 3, nodes: 4 }),
      { ...point(2, 0), metrics: {} },
    ]
    expect(points.map(shadesOf(sweep(points), 'skew'))).toEqual([1, 0, 0.5])
    expect(points.map(shadesOf(sweep(points), 'nodes'))).toEqual([0.5, 0.5, 0.5])
  })

  it('have a bar for each value', () => {
    const points = [
      point(0, 1, { skew: 3 }),
      point(1, 2, { skew: 1 }),
      point(2, 2, { skew: 3 }),
      { ...point(3, 0), metrics: {} },
    ]
    expect(histogramOf(sweep(points), 'skew')).toEqual([
      { from: 1, to: 1, points: 1 },
      { from: 3, to: 3, points: 2 },
    ])
    expect(histogramOf(sweep([]), 'skew')).toEqual([])
  })

  it('have a bar for each range when there are many values', () => {
    const bars = histogramOf(sweep(Array.from({ length: 25 }, (_, i) => point(i, 1, { skew: i }))), 'skew')
    expect(bars.length).toBe(maxBars)
    expect([bars[0], bars.at(-1)]).toEqual([
      { from: 0, to: 2, points: 2 },
      { from: 22, to: 24, points: 3 },
    ])
    expect(bars.reduce((sum, bar) => sum + bar.points, 0)).toBe(25)
  })

  it('are short', () => {
    expect([1, 0.333333, undefined].map(metricText)).toEqual(['1', '0.33', '–'])
  })
})

it('says when points share a rank', () => {
  const points = [point(0, 1), point(1, 1), point(2, 3), point(3, 0)]
  expect(points.map((one) => rankText(points, one))).toEqual(['1=', '1=', '3', '–'])
})

it('counts results by point and seed', () => {
  expect([resultIndex(sweep([]), 0, 1), resultIndex(sweep([]), 5, 0)]).toEqual([1, 10])
})
