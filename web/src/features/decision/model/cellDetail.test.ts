import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { comparedAt, factsAt, filterCellOf, scoreCellOf } from './cellDetail'
import { filterMatrix } from './matrix'
import { scoreTable } from './scores'
import { sampleCycle } from './testing'

const cycle = sampleCycle()
const matrix = filterMatrix(cycle)

it('has a rejection’s reasons, and the number of plugins that did not run because of it', () => {
  expect(filterCellOf(cycle, matrix, 'node-a4', 'TaintToleration')).toMatchObject({ state: 'R', rejectedBy: 'TaintToleration', reasons: ['node(s) had untolerated taint(s)'], order: 3, of: 7, notRunAfter: 4 })
})

it('names the plugin whose rejection kept another one from running', () => {
  expect(filterCellOf(cycle, matrix, 'node-a4', 'NodePorts')).toMatchObject({ state: 'N', rejectedBy: 'TaintToleration', reasons: [], notRunAfter: 0, durationSeconds: undefined })
})

it('has the duration of a plugin only if it ran', () => {
  const timed = sampleCycle({ filter: cycle.filter && { ...cycle.filter, durationSeconds: [1, 2, 3, 4, 5, 6, 7] } })
  expect(filterCellOf(timed, filterMatrix(timed), 'node-b2', 'NodeName')?.durationSeconds).toBe(1)
  expect(filterCellOf(timed, filterMatrix(timed), 'node-b2', 'NodePorts')).toMatchObject({ state: 'S', durationSeconds: undefined })
})

it('has whether removing pods would help for nodes that preemption considered', () => {
  const removal = (preemption: unknown) => filterCellOf(sampleCycle({ preemption } as Partial<Cycle>), matrix, 'node-a1', 'NodeResourcesFit')?.removal
  expect(removal(undefined)).toBeUndefined()
  expect(removal({ candidates: [{ node: 'node-a1' }] })).toEqual({ status: 'Unschedulable', help: 'helps' })
  expect(removal({ candidates: [], unhelpful: [{ status: 'Unschedulable', nodes: ['node-a1'] }] })?.help).toBe('notEnough')
  expect(removal({ candidates: [], unhelpful: [{ status: 'UnschedulableAndUnresolvable', nodes: ['node-a1'] }] })).toEqual({ status: 'UnschedulableAndUnresolvable', help: 'noHelp' })
})

it('has the result of the pass with nominated pods', () => {
  const nominated = (rejected: boolean) => sampleCycle({ filter: { ...cycle.filter, nominated: [{ node: 'node-b2', rejected }] } } as Partial<Cycle>)
  expect(filterCellOf(nominated(true), matrix, 'node-b2', 'NodeName')?.nominatedPass).toBe('rejected')
  expect(filterCellOf(nominated(false), matrix, 'node-b2', 'NodeName')?.nominatedPass).toBe('passed')
  expect(filterCellOf(cycle, matrix, 'node-b2', 'NodeName')?.nominatedPass).toBeUndefined()
})

it('has the parts of a score', () => {
  expect(scoreCellOf(cycle, scoreTable(cycle), 'node-b2', 'NodeAffinity')).toMatchObject({ raw: 100, normalized: 100, weighted: 200, total: 823, best: 200 })
  expect(scoreCellOf(cycle, scoreTable(cycle), 'node-a1', 'NodeAffinity')).toBeUndefined()
})

it('has no cell for nodes and plugins that are not in the tables', () => {
  expect(filterCellOf(cycle, matrix, 'node-x', 'NodeName')).toBeUndefined()
  expect(filterCellOf(cycle, undefined, 'node-b2', 'NodeName')).toBeUndefined()
  expect(scoreCellOf(cycle, undefined, 'node-b2', 'NodeAffinity')).toBeUndefined()
})

it('finds the facts of the cycle and of the node', () => {
  const facts = [{ plugin: 'p', key: 'all', value: '1' }, { plugin: 'p', node: 'n', key: 'own', value: '2' }, { plugin: 'p', node: 'other', key: 'other', value: '3' }, { plugin: 'q', key: 'q', value: '4' }]
  expect(factsAt(sampleCycle({ facts } as Partial<Cycle>), 'n', 'p').map((f) => f.key)).toEqual(['all', 'own'])
})

it('has the values that the rejecting plugin compared if no plugin is given', () => {
  const compared = sampleCycle({ filter: cycle.filter && { ...cycle.filter, comparisons: [{ node: 'node-a1', plugin: 'NodeResourcesFit', resources: [{ name: 'cpu', requested: 2000, inUse: 1000, allocatable: 2000 }] }] } })
  expect(comparedAt(compared, matrix, 'node-a1', '')?.resources.map((r) => r.short)).toEqual([true])
  expect(comparedAt(compared, matrix, 'node-a1', 'NodeAffinity')).toBeUndefined()
  expect(comparedAt(cycle, matrix, 'node-a1', '')).toBeUndefined()
})

it('shows ports, domains, other pods and claims that were compared', () => {
  const port = { protocol: 'TCP', hostIP: '', port: 80 }
  const ports = sampleCycle({ filter: cycle.filter && { ...cycle.filter, comparisons: [{ node: 'node-a1', plugin: 'NodeResourcesFit', ports: [port] }] } })
  expect(comparedAt(ports, matrix, 'node-a1', '')).toMatchObject({ ports: [port], resources: [], podTerms: [], spread: [], claims: [] })
})
