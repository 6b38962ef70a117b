import { describe, expect, it } from 'vitest'
import { filterMatrix, formatRowFilter, nameParts, parseRowFilter, pipeline, scoreTable, selectRows, verdicts } from './cycle'
import { explained, mockupCycle } from './testing'
import type { Cycle } from '@/api/types'

function defined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('undefined')
  return value
}

describe('filterMatrix', () => {
  const matrix = defined(filterMatrix(mockupCycle()))
  it('counts per plugin', () => {
    expect(Object.fromEntries(matrix.plugins.map((p, i) => [p, matrix.asked[i] ? matrix.rejections[i] : matrix.skipped[i] ? 'skipped' : 'not run']))).toEqual({
      NodeName: 0,
      NodeUnschedulable: 0,
      TaintToleration: 3,
      NodeAffinity: 1,
      NodePorts: 'skipped',
      NodeResourcesFit: 2,
      PodTopologySpread: 0,
    })
    expect(matrix.feasible).toBe(6)
  })
  it('knows a plugin that was never reached as neither asked nor skipped', () => {
    const cycle = mockupCycle()
    const filter = defined(cycle.filter)
    cycle.filter = { ...filter, plugins: ['A', 'B'], nodes: ['n'], states: ['RN'], reasons: [{ node: 'n', plugin: 'A', reasons: ['no'] }] }
    const m = defined(filterMatrix(cycle))
    expect([m.asked, m.skipped]).toEqual([[true, false], [false, false]])
  })
  it('knows an extender that refused what every plugin had passed', () => {
    const cycle = mockupCycle()
    cycle.filter = { plugins: ['A'], nodes: ['n'], states: ['P'], reasons: [{ node: 'n', plugin: 'http://ext', reasons: ['full'] }] }
    expect(filterMatrix(cycle)?.rows[0]).toMatchObject({ plugin: 'http://ext', feasible: false })
  })
  it('does not take a node for feasible that the framework refused before any plugin ran', () => {
    const cycle = mockupCycle()
    cycle.filter = { plugins: ['A', 'B'], nodes: ['n'], states: ['NN'], reasons: [] }
    expect(filterMatrix(cycle)?.feasible).toBe(0)
  })
  it('is absent when Filter did not run', () => {
    expect(filterMatrix(mockupCycle({ filter: undefined } as Partial<Cycle>))).toBeUndefined()
  })
  it('selects rows, and the selection survives the address', () => {
    const by = parseRowFilter('by:NodeResourcesFit')
    expect(selectRows(matrix.rows, by).map((r) => r.node)).toEqual(['node-a1', 'node-c1'])
    expect(selectRows(matrix.rows, parseRowFilter('feasible'))).toHaveLength(6)
    expect(['feasible', 'by:X', undefined, 'nonsense'].map((t) => formatRowFilter(parseRowFilter(t)))).toEqual(['feasible', 'by:X', undefined, undefined])
  })
})

describe('scoreTable', () => {
  const table = defined(scoreTable(mockupCycle()))
  it('ranks best first, equals share a rank', () => {
    expect(table.rows.map((r) => `${r.rank}${r.tied ? '=' : ''} ${r.node} ${r.total} ${r.toBest}${r.chosen ? ' chosen' : ''}`)).toEqual([
      '1 node-b2 823 0 chosen',
      '2 node-a3 782 -41',
      '3 node-a2 763 -60',
      '4= node-b3 738 -85',
      '4= node-c3 738 -85',
      '6 node-b1 676 -147',
    ])
  })
  it('puts the chosen one first among equals', () => {
    const cycle = mockupCycle({ selectedNode: 'node-c3' })
    const score = defined(cycle.score)
    cycle.score = { ...score, totals: score.totals.map(() => 700) }
    const t = defined(scoreTable(cycle))
    expect(t.rows[0]?.node).toBe('node-c3')
    expect(new Set(t.rows.map((r) => r.rank))).toEqual(new Set([1]))
  })
  it('knows which columns decide nothing', () => {
    expect(table.plugins.filter((_, p) => table.columns[p]?.uniform).map((p) => p.name)).toEqual(['TaintToleration', 'NodeResourcesBalancedAllocation'])
  })
  it('is absent without scores', () => {
    expect(scoreTable(mockupCycle({ score: undefined } as Partial<Cycle>))).toBeUndefined()
  })
})

it('gives each node its verdict', () => {
  const of = verdicts(mockupCycle())
  expect(of('node-a1')).toEqual({ kind: 'rejected', plugin: 'NodeResourcesFit', reason: 'Insufficient cpu' })
  expect(of('node-b2')).toMatchObject({ kind: 'scored', rank: 1, chosen: true, total: 823, share: 1 })
  expect(of('node-z9')).toEqual({ kind: 'absent' })
  const stopped = explained({ notEvaluated: { nodes: 87, why: 'enoughFeasibleNodes', wanted: 6 } })
  expect(verdicts(mockupCycle({ explanation: stopped }))('node-z9')).toEqual({ kind: 'notEvaluated', why: 'enoughFeasibleNodes' })
  expect(verdicts(mockupCycle({ score: undefined } as Partial<Cycle>))('node-b2')).toEqual({ kind: 'feasible', chosen: true })
})

it('lays out the pipeline, and says what did not run', () => {
  const micro = (seconds: number | undefined) => (seconds === undefined ? '-' : Math.round(seconds * 1e6))
  expect(pipeline(mockupCycle()).map((s) => `${s.group} ${s.name}: ${s.ran ? `${s.plugins}+${s.skipped} ${micro(s.durationSeconds)}` : 'not run'}`)).toEqual([
    'queue PreEnqueue: not run',
    'scheduling PreFilter: 6+1 96',
    'scheduling Filter: 7+0 412',
    'scheduling PostFilter: not run',
    'scheduling PreScore: not run',
    'scheduling Score: 7+1 238',
    'scheduling Reserve: not run',
    'scheduling Permit: 0+0 2',
    'binding PreBind: not run',
    'binding Bind: not run',
    'binding PostBind: not run',
  ])
})

it('breaks plugin names between words', () => {
  expect(nameParts('NodeResourcesBalancedAllocation')).toEqual(['Node', 'Resources', 'Balanced', 'Allocation'])
})
