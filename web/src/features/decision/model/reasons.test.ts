import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { filterMatrix, selectRows } from './matrix'
import { linesOf, reasonsOf, type Reason } from './reasons'
import { scoreTable } from './scores'
import { cycleOf, type Outcome } from './testing'

function reasons(cycle: Cycle, text = '') {
  const matrix = filterMatrix(cycle)
  if (!matrix) throw new Error('no matrix')
  const table = scoreTable(cycle)
  const totals = new Map(table?.nodes.map((n, row) => [n, table.totals[row] ?? 0]))
  const found = selectRows(matrix, { show: { kind: 'all' }, text, sort: 'reason', totals })
  return reasonsOf({ cycle, matrix, chosen: cycle.selectedNode, totals }, found)
}
const told = (all: Reason[]) => all.map(({ kind, rows }) => `${kind} ${rows.map((row) => `n${row + 1}`).join(' ')}`)

it('is one for each outcome: the chosen node, those with its total, the other feasible ones, the best first', () => {
  const all = reasons(cycleOf([70, 90, ['A', 'taint'], 80, 90, 90, ['A', 'taint'], 70]))
  expect(told(all)).toEqual(['chosen n2', 'tied n5 n6', 'feasible n4 n1 n8', 'rejected n3 n7'])
  expect(all[2]?.totals).toEqual({ most: 80, least: 70 })
})

it('tells plugins and messages apart, and puts last what the fewest plugins passed', () => {
  const taint: Outcome = ['A', 'taint']
  const cpu: Outcome = ['B', 'Insufficient cpu']
  const both: Outcome = ['B', 'Insufficient cpu', 'Insufficient memory']
  expect(told(reasons(cycleOf([taint, both, cpu, taint, taint, cpu, cpu, 90])))).toEqual([
    'chosen n8',
    'rejected n3 n6 n7',
    'rejected n2',
    'rejected n1 n4 n5',
  ])
})

it('has the reason of the nearest node first, and in each reason the nearest nodes', () => {
  const cycle = cycleOf(
    [
      ['B', 'cpu'],
      ['B', 'cpu'],
      ['B', 'cpu'],
      ['B', 'memory'],
      ['B', 'memory'],
      ['C', 'spread'],
    ],
    ['n5', 'n3']
  )
  cycle.explanation.remarks = [{ kind: 'nearest', node: 'n5', nodes: 5, lacks: [] }]
  expect(told(reasons(cycle))).toEqual(['rejected n5 n4', 'rejected n6', 'rejected n3 n1 n2'])
})

it('counts only the nodes that a search finds', () => {
  expect(told(reasons(cycleOf([90, ['A', 'taint'], ['B', 'cpu'], ['B', 'cpu']]), 'cpu'))).toEqual(['rejected n3 n4'])
})

it('unfolds to the rows of its nodes, and is the row of its node when it has one', () => {
  const all = reasons(cycleOf([90, ['A', 'taint'], ['A', 'taint'], ['B', 'cpu'], ['B', 'cpu']]))
  const lines = (isOpen: (reason: Reason) => boolean) =>
    linesOf(all, isOpen).map((line) => ('reason' in line ? line.reason.rows.length : `n${line.row + 1}`))
  expect(lines(() => false)).toEqual(['n1', 2, 2])
  expect(lines(({ rows }) => rows.includes(1))).toEqual(['n1', 2, 2, 'n2', 'n3'])
})
