import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { factsAt, filterCellOf, scoreCellOf } from './cellDetail'
import { filterMatrix } from './matrix'
import { scoreTable } from './scores'
import { sampleCycle } from './testing'

const cycle = sampleCycle()
const matrix = filterMatrix(cycle)

it('has a rejection’s reasons, and the number of plugins that did not run because of it', () => {
  expect(filterCellOf(cycle, matrix, 'node-a4', 'TaintToleration')).toMatchObject({
    state: 'R',
    rejectedBy: 'TaintToleration',
    reasons: ['node(s) had untolerated taint(s)'],
    order: 3,
    of: 7,
    notRunAfter: 4,
  })
})

it('names the plugin whose rejection kept another one from running', () => {
  expect(filterCellOf(cycle, matrix, 'node-a4', 'NodePorts')).toMatchObject({
    state: 'N',
    rejectedBy: 'TaintToleration',
    reasons: [],
    notRunAfter: 0,
    durationSeconds: undefined,
  })
})

it('has the duration of a plugin only if it ran', () => {
  const timed = sampleCycle({ filter: cycle.filter && { ...cycle.filter, durationSeconds: [1, 2, 3, 4, 5, 6, 7] } })
  expect(filterCellOf(timed, filterMatrix(timed), 'node-b2', 'NodeName')?.durationSeconds).toBe(1)
  expect(filterCellOf(timed, filterMatrix(timed), 'node-b2', 'NodePorts')).toMatchObject({
    state: 'S',
    durationSeconds: undefined,
  })
})

it('has the status that the plugin itself returned, not that of a dry run', () => {
  const said = sampleCycle({
    filter: cycle.filter && {
      ...cycle.filter,
      reasons: cycle.filter.reasons.map((r) => ({ ...r, status: 'Unschedulable' })),
    },
  })
  said.preemption = {
    candidates: [],
    unhelpful: [{ why: 'nobodyLower', status: 'UnschedulableAndUnresolvable', reasons: [], nodes: ['node-a1'] }],
  }
  expect(filterCellOf(said, filterMatrix(said), 'node-a1', 'NodeResourcesFit')?.status).toBe('Unschedulable')
  expect(filterCellOf(said, filterMatrix(said), 'node-b2', 'NodeResourcesFit')?.status).toBeUndefined()
})

it('has the result of the pass with nominated pods', () => {
  const nominated = (rejected: boolean) =>
    sampleCycle({ filter: { ...cycle.filter, nominated: [{ node: 'node-b2', rejected }] } } as Partial<Cycle>)
  expect(filterCellOf(nominated(true), matrix, 'node-b2', 'NodeName')?.nominatedPass).toBe('rejected')
  expect(filterCellOf(nominated(false), matrix, 'node-b2', 'NodeName')?.nominatedPass).toBe('passed')
  expect(filterCellOf(cycle, matrix, 'node-b2', 'NodeName')?.nominatedPass).toBeUndefined()
})

it('has the parts of a score', () => {
  expect(scoreCellOf(cycle, scoreTable(cycle), 'node-b2', 'NodeAffinity')).toMatchObject({
    raw: 100,
    normalized: 100,
    weighted: 200,
    total: 823,
    best: 200,
  })
  expect(scoreCellOf(cycle, scoreTable(cycle), 'node-a1', 'NodeAffinity')).toBeUndefined()
})

it('has no cell for nodes and plugins that are not in the tables', () => {
  expect(filterCellOf(cycle, matrix, 'node-x', 'NodeName')).toBeUndefined()
  expect(filterCellOf(cycle, undefined, 'node-b2', 'NodeName')).toBeUndefined()
  expect(scoreCellOf(cycle, undefined, 'node-b2', 'NodeAffinity')).toBeUndefined()
})

it('finds the facts of the cycle and of the node', () => {
  const facts = [
    { plugin: 'p', key: 'all', value: '1' },
    { plugin: 'p', node: 'n', key: 'own', value: '2' },
    { plugin: 'p', node: 'other', key: 'other', value: '3' },
    { plugin: 'q', key: 'q', value: '4' },
  ]
  expect(factsAt(sampleCycle({ facts } as Partial<Cycle>), 'n', 'p').map((f) => f.key)).toEqual(['all', 'own'])
})
