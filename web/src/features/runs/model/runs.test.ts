import { describe, expect, it } from 'vitest'
import type { RunMetricComparison, RunResult } from '@/api/types'
import { clusterClock, firstToShow, matrixOf, mistakesIn, metricName, metricValue, stripOf, verdictOf } from './runs'

const result = (
  configuration: string,
  seed: number,
  outcome: RunResult['outcome'],
  featureGates?: Record<string, boolean>
) =>
  ({
    configuration,
    seed,
    outcome,
    expectations: 2,
    held: outcome === 'passed' ? 2 : 1,
    ...(featureGates ? { featureGates } : {}),
  }) as RunResult

const metric = (a: number[], b: number[], pairs?: RunMetricComparison['pairs']): RunMetricComparison => {
  const range = ([min = 0, median = 0, max = 0]: number[]) => ({ min, median, max, values: [] })
  return { name: 'pending', a: range(a), b: range(b), ...(pairs ? { pairs } : {}) }
}

describe('runs', () => {
  it('says times to the tenth', () => {
    expect([0, 59.96, 342.3].map(clusterClock)).toEqual(['0:00.0', '1:00.0', '5:42.3'])
  })

  it('marks mistakes in the file that they are in', () => {
    const details = [
      { message: 'a', line: 3, column: 2, file: 'scenario.yaml' },
      { message: 'b', line: 4, file: 'sweep' },
      { message: 'no line' },
    ]
    expect(mistakesIn(details, 'sweep')).toEqual({
      scenario: [{ line: 3, column: 2, message: 'a' }],
      sweep: [{ line: 4, message: 'b' }],
    })
    expect(mistakesIn([{ message: 'c', line: 1 }], 'scenario')).toEqual({
      scenario: [{ line: 1, message: 'c' }],
      sweep: [],
    })
  })

  it('makes a row for each configuration and its gates', () => {
    const rows = matrixOf([result('default', 1, 'passed'), null, result('default', 1, 'failed', { B: true, A: false })])
    expect(
      rows.map(({ configuration, gates, cells }) => [configuration, gates, cells.map((cell) => cell.index)])
    ).toEqual([
      ['default', '', [0]],
      ['default', 'A=false,B=true', [2]],
    ])
  })

  it('shows the first run that did not pass', () => {
    expect(firstToShow([null, result('a', 1, 'passed'), result('a', 2, 'failed')])).toBe(2)
    expect(firstToShow([null, result('a', 1, 'passed')])).toBe(1)
    expect(firstToShow([null])).toBe(0)
  })
})

describe('comparisons', () => {
  it('names a difference only if it is clear', () => {
    expect(
      [
        undefined,
        { better: 0, equal: 1, worse: 0 },
        { better: 0.95, equal: 0.05, worse: 0 },
        { better: 0, equal: 0, worse: 1 },
        { better: 0.5, equal: 0, worse: 0.5 },
      ].map((pairs) => verdictOf(metric([1], [1], pairs)))
    ).toEqual(['none', 'same', 'better', 'worse', 'unclear'])
  })

  it('puts both ranges on one scale', () => {
    expect(stripOf(metric([1, 1, 1], [1, 1, 1]))).toBeUndefined()
    expect(stripOf(metric([0, 5, 10], [5, 5, 5]))).toEqual({ a: [4, 50, 96], b: [50, 50, 50] })
  })

  it('knows units and resources', () => {
    expect(metricName('allocation cpu')).toEqual({ key: 'allocation', resource: 'cpu' })
    expect(metricValue({ ...metric([], []), unit: 'share' }, 0.5)).toBe('50.0 %')
    expect(metricValue({ ...metric([], []), unit: 'seconds' }, 2)).toBe('2.0 s')
    expect(metricValue(metric([], []), 3)).toBe('3')
  })
})
