import { describe, expect, it } from 'vitest'
import { filterMatrix, formatRowFilter, margin, nameParts, parseRowFilter, pipeline, scoreTable, selectRows, verdicts } from './cycle'
import { explain } from './explain'
import { mockupCycle } from './testing'
import type { Cycle } from '@/api/types'

function defined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('undefined')
  return value
}

describe('filterMatrix', () => {
  const matrix = defined(filterMatrix(mockupCycle()))
  it('counts per plugin and per rejecter', () => {
    expect(Object.fromEntries(matrix.plugins.map((p, i) => [p, matrix.asked[i] ? matrix.rejections[i] : matrix.skipped[i] ? 'skipped' : 'not run']))).toEqual({
      NodeName: 0,
      NodeUnschedulable: 0,
      TaintToleration: 3,
      NodeAffinity: 1,
      NodePorts: 'skipped',
      NodeResourcesFit: 2,
      PodTopologySpread: 0,
    })
    expect(matrix.rejecters.map((r) => `${r.plugin} ${r.count}`)).toEqual(['TaintToleration 3', 'NodeResourcesFit 2', 'NodeAffinity 1'])
    expect([matrix.feasible, matrix.notEvaluated]).toEqual([6, 0])
  })
  it('tells not evaluated from rejected', () => {
    expect(filterMatrix(mockupCycle({ nodes: { total: 5000, evaluated: 12, feasible: 6 } }))?.notEvaluated).toBe(4988)
  })
  it('knows a plugin that was never reached as neither asked nor skipped', () => {
    const cycle = mockupCycle()
    const filter = defined(cycle.filter)
    cycle.filter = { ...filter, plugins: ['A', 'B'], nodes: ['n'], states: ['RN'], reasons: [{ node: 'n', plugin: 'A', reasons: ['no'] }] }
    const m = defined(filterMatrix(cycle))
    expect([m.asked, m.skipped]).toEqual([[true, false], [false, false]])
  })
  it('counts an extender that refused what every plugin had passed', () => {
    const cycle = mockupCycle()
    cycle.filter = { plugins: ['A'], nodes: ['n'], states: ['P'], reasons: [{ node: 'n', plugin: 'http://ext', reasons: ['full'] }] }
    const m = defined(filterMatrix(cycle))
    expect(m.rejecters).toEqual([{ plugin: 'http://ext', count: 1 }])
    expect(m.rows[0]?.feasible).toBe(false)
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
  it('takes the margin apart, and the parts add up', () => {
    const m = defined(margin(table))
    expect(m).toEqual({
      over: 'node-a3',
      value: 41,
      terms: [
        { plugin: 'NodeAffinity', value: 200 },
        { plugin: 'InterPodAffinity', value: -150 },
        { plugin: 'NodeResourcesFit', value: -9 },
      ],
    })
    expect(m.terms.reduce((sum, t) => sum + t.value, 0)).toBe(m.value)
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
  expect(verdicts(mockupCycle({ nodes: { total: 99, evaluated: 12, feasible: 6 } }))('node-z9')).toEqual({ kind: 'notEvaluated' })
  expect(verdicts(mockupCycle({ score: undefined } as Partial<Cycle>))('node-b2')).toEqual({ kind: 'feasible', chosen: true })
})

it('lays out the pipeline, and says what did not run', () => {
  expect(pipeline(mockupCycle()).map((s) => `${s.group} ${s.name}: ${s.ran ? `${s.plugins}+${s.skipped}` : 'not run'}`)).toEqual([
    'queue PreEnqueue: not run',
    'scheduling PreFilter: 6+1',
    'scheduling Filter: 7+0',
    'scheduling PostFilter: not run',
    'scheduling PreScore: not run',
    'scheduling Score: 7+1',
    'scheduling Reserve: not run',
    'scheduling Permit: not run',
    'binding PreBind: not run',
    'binding Bind: not run',
    'binding PostBind: not run',
  ])
})

describe('explain', () => {
  it('best of several', () => {
    expect(explain(mockupCycle())).toEqual({ kind: 'best', node: 'node-b2', total: 823, feasible: 6, margin: 41, next: 'node-a3', tied: 1, bound: true })
  })
  it('chosen among equals', () => {
    const cycle = mockupCycle()
    const score = defined(cycle.score)
    expect(explain({ ...cycle, score: { ...score, totals: score.totals.map(() => 700) } })).toMatchObject({ kind: 'best', margin: 0, tied: 6 })
  })
  it('the only feasible node', () => {
    expect(explain(mockupCycle({ score: undefined, nodes: { total: 12, evaluated: 12, feasible: 1 } } as Partial<Cycle>))).toEqual({ kind: 'only', node: 'node-b2', evaluated: 12, bound: true })
  })
  it('a node hint', () => {
    expect(explain(mockupCycle({ hint: { node: 'node-b2', used: true } }))).toEqual({ kind: 'hinted', node: 'node-b2' })
  })
  it('no node fits', () => {
    const cycle = mockupCycle({ outcome: 'unschedulable', selectedNode: '', score: undefined } as Partial<Cycle>)
    cycle.filter = { plugins: ['A'], nodes: ['n', 'm'], states: ['R', 'R'], reasons: [] }
    expect(explain({ ...cycle, nominatedNode: 'm' })).toEqual({ kind: 'noNode', evaluated: 2, total: 12, rejecters: [{ plugin: 'A', count: 2 }], nominated: 'm' })
  })
  it('refused in PreFilter', () => {
    const preFilter = [{ plugin: 'VolumeBinding', status: 'UnschedulableAndUnresolvable', reasons: ['no claim'], durationSeconds: 0 }]
    expect(explain(mockupCycle({ outcome: 'unschedulable', filter: undefined, score: undefined, preFilter } as Partial<Cycle>))).toEqual({
      kind: 'preFilter',
      plugin: 'VolumeBinding',
      reasons: ['no claim'],
      nominated: '',
    })
  })
  it('refused after a node was chosen, waiting, error', () => {
    const bad = [{ plugin: 'P', status: 'Unschedulable' as const, reasons: ['later'], durationSeconds: 0 }]
    expect(explain(mockupCycle({ outcome: 'unschedulable', permit: bad }))).toMatchObject({ kind: 'refusedLater', stage: 'Permit', plugin: 'P', node: 'node-b2' })
    expect(explain(mockupCycle({ outcome: 'waiting', permit: [{ plugin: 'P', status: 'Wait', durationSeconds: 0 }] }))).toEqual({ kind: 'waiting', node: 'node-b2', plugins: ['P'] })
    expect(explain(mockupCycle({ outcome: 'error', message: 'boom' }))).toEqual({ kind: 'error', message: 'boom' })
  })
  it('an empty cluster', () => {
    expect(explain(mockupCycle({ outcome: 'unschedulable', filter: undefined, score: undefined, preFilter: undefined, nodes: { total: 0, evaluated: 0, feasible: 0 } } as Partial<Cycle>))).toEqual({ kind: 'noNodes' })
  })
})

it('breaks plugin names between words', () => {
  expect(nameParts('NodeResourcesBalancedAllocation')).toEqual(['Node', 'Resources', 'Balanced', 'Allocation'])
})
