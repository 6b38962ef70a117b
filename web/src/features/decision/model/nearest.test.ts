import { expect, it } from 'vitest'
import { sampleCycle } from './testing'
import { nearestNode } from './nearest'

const nowhere = (states: string[], remarks: object[] = [], compared: [node: string, plugin: string][] = []) => {
  const nodes = states.map((_, i) => `n${i + 1}`)
  return sampleCycle({
    outcome: 'unschedulable',
    nodes: { total: nodes.length, evaluated: nodes.length, feasible: 0 },
    filter: {
      plugins: ['A', 'B', 'C'],
      nodes,
      states,
      reasons: [],
      comparisons: compared.map(([node, plugin]) => ({ node, plugin })),
    },
    explanation: { headline: { kind: 'noNode' }, remarks } as never,
  })
}

it('is the node that lacks the least, as the server says', () => {
  const lacks = [{ resource: 'cpu', amount: 500 }]
  expect(nearestNode(nowhere(['RNN', 'PRN'], [{ kind: 'nearest', node: 'n1', nodes: 2, lacks }]))).toEqual({
    node: 'n1',
    why: { kind: 'lacks', lacks },
  })
})

it('is no node that has none of a resource, if another one only has a plugin against it', () => {
  const lacks = [{ resource: 'nvidia.com/gpu', amount: 4 }]
  const cycle = (allocatable: number) => {
    const found = nowhere(['RNN', 'PRN', 'PRN'], [{ kind: 'nearest', node: 'n2', nodes: 2, lacks }])
    const resources = [{ name: 'nvidia.com/gpu', requested: 4, inUse: 0, allocatable }]
    found.filter?.comparisons?.push({ node: 'n2', plugin: 'B', resources })
    return found
  }
  expect(nearestNode(cycle(0))).toEqual({ node: 'n1', why: { kind: 'offers', by: 'A' } })
  expect(nearestNode(cycle(2))?.node).toBe('n2')
  const alone = cycle(0)
  alone.filter?.states.splice(0, 1, 'PRN')
  expect(nearestNode(alone)?.node).toBe('n2')
})

it('is otherwise the node that most plugins passed', () => {
  expect(nearestNode(nowhere(['RNN', 'PSR', 'PRN']))).toEqual({
    node: 'n2',
    why: { kind: 'passed', plugins: 2, of: 3, by: 'C' },
  })
})

it('is the first that the server compared, of those that as many plugins passed', () => {
  const compared: [string, string][] = [
    ['n1', 'B'],
    ['n4', 'C'],
    ['n2', 'C'],
  ]
  expect(nearestNode(nowhere(['PRN', 'PPR', 'RNN', 'PPR'], [], compared))?.node).toBe('n4')
})

it('is none when all nodes are alike, or one is feasible', () => {
  expect(nearestNode(nowhere(['PRN', 'PRN']))).toBeUndefined()
  expect(nearestNode(nowhere(['RNN', 'RNN']))).toBeUndefined()
  expect(nearestNode({ ...nowhere(['PRN', 'RNN']), nodes: { total: 3, evaluated: 3, feasible: 1 } })).toBeUndefined()
})
