import { describe, expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { cellAt, scoreTable, selectScores, toBest, type ScoreTable } from './scores'
import { sampleCycle } from './testing'

function tableOf(change: Partial<Cycle> = {}): ScoreTable {
  const table = scoreTable(sampleCycle(change))
  if (!table) throw new Error('no table')
  return table
}
const names = (table: ScoreTable, rows: Iterable<number>) => [...rows].map((row) => table.nodes[row])

describe('scoreTable', () => {
  const table = tableOf()
  it('ranks best first; equal totals share a rank', () => {
    expect(
      [...table.ranked].map(
        (row) =>
          `${table.ranks[row]}${table.tied[row] ? '=' : ''} ${table.nodes[row]} ` +
          `${table.totals[row]} ${toBest(table, row)}${row === table.chosen ? ' chosen' : ''}`
      )
    ).toEqual([
      '1 node-b2 823 0 chosen',
      '2 node-a3 782 -41',
      '3 node-a2 763 -60',
      '4= node-b3 738 -85',
      '4= node-c3 738 -85',
      '6 node-b1 676 -147',
    ])
  })

  it('puts the chosen node first among equals', () => {
    const score = sampleCycle().score
    const t = tableOf({
      selectedNode: 'node-c3',
      ...(score ? { score: { ...score, totals: score.totals.map(() => 700) } } : {}),
    })
    expect(t.nodes[t.ranked[0] ?? -1]).toBe('node-c3')
    expect(new Set(t.ranks)).toEqual(new Set([1]))
  })

  it('detects columns with the same score on every node', () => {
    expect(table.columns.filter((_, p) => table.spans[p]?.uniform).map((c) => c.name)).toEqual([
      'TaintToleration',
      'NodeResourcesBalancedAllocation',
    ])
  })

  it('keeps the record’s numbers', () => {
    expect(cellAt(table, table.chosen, 1)).toEqual({ raw: 100, normalized: 100, weighted: 200 })
  })

  it('has the extenders after the plugins, so that totals add up, and distinguishes no score from 0', () => {
    const t = tableOf({
      selectedNode: 'a',
      score: {
        plugins: [{ name: 'P', weight: 2 }],
        extenders: [{ name: 'http://ext', weight: 10 }],
        nodes: ['a', 'b'],
        raw: [[5], [7]],
        normalized: [[50], [70]],
        weighted: [[100], [140]],
        answered: [[8], [null]],
        counted: [[80], [0]],
        totals: [180, 140],
      },
    })
    expect(t.columns.map((c) => `${c.name} ${c.weight}${c.extender ? ' extender' : ''}`)).toEqual([
      'P 2',
      'http://ext 10 extender',
    ])
    expect([cellAt(t, 0, 1), cellAt(t, 1, 1)]).toEqual([
      { raw: 8, normalized: 8, weighted: 80 },
      { raw: undefined, normalized: undefined, weighted: 0 },
    ])
    for (const row of [0, 1])
      expect(t.columns.reduce((sum, _, p) => sum + cellAt(t, row, p).weighted, 0)).toBe(t.totals[row])
    expect(names(t, selectScores(t, { text: '', sort: 'http://ext', values: 'raw' }))).toEqual(['a', 'b'])
  })

  it('is absent without scores', () => {
    expect(scoreTable(sampleCycle({ score: undefined } as Partial<Cycle>))).toBeUndefined()
  })
})

describe('selectScores', () => {
  const table = tableOf()
  const select = (sort: string, text = '', values: 'all' | 'raw' = 'all') =>
    names(table, selectScores(table, { sort, text, values }))
  it('sorts by rank unless a column is given', () => {
    expect(select('total')).toEqual(['node-b2', 'node-a3', 'node-a2', 'node-b3', 'node-c3', 'node-b1'])
    expect(select('nonsense')).toEqual(select('total'))
    expect(select('-total')).toEqual(select('total').reverse())
  })
  it('sorts by one plugin’s score, highest first, equal scores by rank', () => {
    expect(select('InterPodAffinity')).toEqual(['node-a3', 'node-a2', 'node-b3', 'node-b2', 'node-b1', 'node-c3'])
    // By raw values node-b1 leads; normalization reverses the order.
    expect(select('PodTopologySpread', '', 'raw')[0]).toBe('node-b1')
  })
  it('sorts by name and filters by words', () => {
    expect(select('node', 'b')).toEqual(['node-b1', 'node-b2', 'node-b3'])
  })
})
