import { describe, expect, it } from 'vitest'
import type { Cycle, ExtenderCall } from '@/api/types'
import {
  filterMatrix,
  formatRowFilter,
  parseRowFilter,
  refusalAt,
  selectRows,
  stateAt,
  type FilterMatrix,
  type RowQuery,
} from './matrix'
import { explained, sampleCycle } from './testing'

function matrixOf(change: Partial<Cycle> = {}): FilterMatrix {
  const matrix = filterMatrix(sampleCycle(change))
  if (!matrix) throw new Error('no matrix')
  return matrix
}
const names = (matrix: FilterMatrix, query: Partial<RowQuery>) =>
  [...selectRows(matrix, { show: { kind: 'all' }, text: '', sort: 'node', ...query })].map((row) => matrix.nodes[row])

describe('filterMatrix', () => {
  it('has the explanation’s counts per plugin', () => {
    const matrix = matrixOf()
    expect(
      Object.fromEntries(
        matrix.plugins.map((p, i) => [
          p,
          matrix.asked[i] ? matrix.rejections[i] : matrix.skipped[i] ? 'skipped' : 'not run',
        ])
      )
    ).toEqual({
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

  it('treats a plugin that was never reached as neither asked nor skipped', () => {
    const m = matrixOf({
      filter: {
        plugins: ['A', 'B'],
        nodes: ['n'],
        states: ['RN'],
        reasons: [{ node: 'n', plugin: 'A', reasons: ['no'] }],
      },
    })
    expect([m.asked, m.skipped]).toEqual([
      [true, false],
      [false, false],
    ])
  })

  it('does not count a node as feasible that the framework rejected before any plugin ran', () => {
    expect(matrixOf({ filter: { plugins: ['A', 'B'], nodes: ['n'], states: ['NN'], reasons: [] } }).feasible).toBe(0)
  })

  it('reports that a plugin failed', () => {
    const m = matrixOf({
      filter: { plugins: ['A'], nodes: ['n'], states: ['E'], reasons: [{ node: 'n', plugin: 'A', reasons: ['boom'] }] },
    })
    expect([m.hasErrors, stateAt(m, 0, 0), m.feasible]).toEqual([true, 'E', 0])
  })

  it('has columns for extenders after the plugins, in the order of the calls', () => {
    const call = (plugin: string, change: Partial<ExtenderCall>): ExtenderCall => ({
      plugin,
      verb: 'filter',
      status: 'Success',
      durationSeconds: 0,
      ...change,
    })
    const m = matrixOf({
      filter: {
        plugins: ['A'],
        nodes: ['n1', 'n2', 'n3'],
        states: ['P', 'P', 'R'],
        reasons: [{ node: 'n3', plugin: 'A', reasons: ['no'] }],
      },
      extenders: [
        call('http://one', { rejected: [{ node: 'n2', reason: 'full' }] }),
        call('http://two', { status: 'Error', ignored: true }),
        call('http://two', { verb: 'prioritize' }),
      ],
      explanation: explained({ rejections: ['A', 'http://one'].map((plugin) => ({ plugin, nodes: 1, reasons: [] })) }),
    })
    expect(m.plugins).toEqual(['A', 'http://one', 'http://two'])
    expect([m.states, m.extenders, m.feasible]).toEqual([['PPE', 'PRN', 'RNN'], 2, 1])
    expect(refusalAt(m, 1)).toEqual({ node: 'n2', plugin: 'http://one', reasons: ['full'] })
    expect(m.rejections).toEqual([1, 1, 0])
  })

  it('finds an extender that rejected a node after every plugin passed it, even if its request is not recorded', () => {
    const m = matrixOf({
      filter: {
        plugins: ['A'],
        nodes: ['n'],
        states: ['P'],
        reasons: [{ node: 'n', plugin: 'http://ext', reasons: ['full'] }],
      },
    })
    expect([m.feasible, refusalAt(m, 0)?.plugin]).toEqual([0, 'http://ext'])
  })

  it('is absent when Filter did not run', () => {
    expect(filterMatrix(sampleCycle({ filter: undefined } as Partial<Cycle>))).toBeUndefined()
  })
})

describe('selectRows', () => {
  const matrix = matrixOf()
  it('filters by the rejecting plugin, and converts the filter to the URL and back', () => {
    expect(names(matrix, { show: parseRowFilter('by:NodeResourcesFit') })).toEqual(['node-a1', 'node-c1'])
    expect(names(matrix, { show: parseRowFilter('feasible') })).toHaveLength(6)
    expect(names(matrix, { show: parseRowFilter('rejected') })).toHaveLength(6)
    expect(
      ['feasible', 'rejected', 'by:X', undefined, 'nonsense'].map((t) => formatRowFilter(parseRowFilter(t)))
    ).toEqual(['feasible', 'rejected', 'by:X', undefined, undefined])
  })

  it('finds nodes by all words in name, plugin and reason', () => {
    expect(names(matrix, { text: 'insufficient' })).toEqual(['node-a1', 'node-c1'])
    expect(names(matrix, { text: 'node-a insufficient' })).toEqual(['node-a1'])
  })

  it('sorts names with numbers as numbers, and results by how far each node got', () => {
    const m = matrixOf({
      filter: {
        plugins: ['A', 'B'],
        nodes: ['n1', 'n10', 'n2', 'n3'],
        states: ['PP', 'RN', 'PR', 'PP'],
        reasons: [
          { node: 'n10', plugin: 'A', reasons: ['x'] },
          { node: 'n2', plugin: 'B', reasons: ['y'] },
        ],
      },
    })
    const totals = new Map([
      ['n1', 10],
      ['n3', 20],
    ])
    expect(names(m, { sort: 'node' })).toEqual(['n1', 'n2', 'n3', 'n10'])
    expect(names(m, { sort: '-node' })).toEqual(['n10', 'n3', 'n2', 'n1'])
    expect(names(m, { sort: 'result', totals })).toEqual(['n3', 'n1', 'n2', 'n10'])
    expect(names(m, { sort: '-result', totals })).toEqual(['n10', 'n2', 'n1', 'n3'])
  })

  it('selects and sorts 5,000 nodes × 20 plugins without touching their cells', () => {
    const nodes = Array.from({ length: 5000 }, (_, i) => `node-${i}`)
    const large = matrixOf({
      filter: {
        plugins: Array.from({ length: 20 }, (_, p) => `P${p}`),
        nodes,
        states: nodes.map((_, i) => 'P'.repeat(i % 20) + 'R' + 'N'.repeat(19 - (i % 20))),
        reasons: nodes.map((node, i) => ({ node, plugin: `P${i % 20}`, reasons: ['no'] })),
      },
    })
    const rows = selectRows(large, { show: { kind: 'rejectedBy', plugin: 'P7' }, text: '', sort: 'result' })
    expect(rows).toBeInstanceOf(Int32Array)
    expect([rows.length, large.nodes[rows[0] ?? -1]]).toEqual([250, 'node-7'])
    // The strings are those of the record.
    expect(large.states).toHaveLength(5000)
  })
})
