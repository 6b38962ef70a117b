import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { filterCellOf } from './cellDetail'
import { askedMatrix, rejectersAt } from './hypothetical'
import { filterMatrix, refusalAt, type FilterMatrix } from './matrix'
import { explained, sampleCycle } from './testing'

/**
 * A matrix with one letter per plugin and node; reasons in the order of the engine, which need not
 * be that of the plugins.
 */
function cycleOf(plugins: string[], rows: Record<string, string>): Cycle {
  const nodes = Object.keys(rows)
  const reasons = nodes
    .flatMap((node) =>
      [...(rows[node] ?? '')].flatMap((letter, p) =>
        letter === 'R' ? [{ node, plugin: plugins[p] ?? '', reasons: [`${plugins[p]} says no`] }] : []
      )
    )
    .reverse()
  return sampleCycle({
    filter: { plugins, nodes, states: Object.values(rows), reasons },
    score: undefined,
    explanation: explained(),
  })
}
const matrixOf = (cycle: Cycle): FilterMatrix => filterMatrix(cycle) as FilterMatrix
const plugins = ['Taint', 'Fit', 'Spread']
const without = cycleOf(plugins, { a1: 'PRR', a2: 'PPR', b1: 'RPP' })
const asked = cycleOf(plugins, { a1: 'PRP', a2: 'PPP', b1: 'RPP', extra: 'PPP' })
const recorded = cycleOf(plugins, { a1: 'PRN', a2: 'PPR', b1: 'RNN' })

it('tells the first rejection from the others, whatever the order of the reasons', () => {
  const matrix = matrixOf(without)
  expect([refusalAt(matrix, 0)?.plugin, rejectersAt(matrix, 0)]).toEqual(['Fit', ['Fit', 'Spread']])
  expect(filterCellOf(without, matrix, 'a1', 'Spread')).toMatchObject({
    state: 'R',
    rejectedBy: 'Fit',
    reasons: ['Spread says no'],
  })
})

it('counts first rejections, all of them, and nodes that one plugin alone keeps away', () => {
  expect(askedMatrix(matrixOf(without), {})).toMatchObject({
    first: [1, 1, 1],
    all: [1, 1, 2],
    byOneAlone: 2,
    inTheWay: new Uint8Array([2, 1, 1]),
    before: [undefined, undefined, undefined],
  })
})

it('marks what the hypothesis changes, and what did not run in the attempt', () => {
  const { changed, onlyAsked, before, all } = askedMatrix(matrixOf(asked), {
    without: matrixOf(without),
    recorded: matrixOf(recorded),
  })
  expect([...changed]).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])
  expect([...onlyAsked]).toEqual([0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0])
  expect([before, all]).toEqual([
    [1, 1, 2],
    [1, 1, 0],
  ])
})

it('does not know what a plugin said that another configuration does not have', () => {
  const other = cycleOf(['Taint', 'Quota'], { a1: 'PP' })
  const { before, changed } = askedMatrix(matrixOf(other), { without: matrixOf(without) })
  expect([before, [...changed]]).toEqual([
    [1, undefined],
    [0, 0],
  ])
})
