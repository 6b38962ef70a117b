import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { shortagesOf } from './shortages'

it('puts the nodes with the same shortage together, the nearest of the server first', () => {
  const gpu = (node: string, inUse: number) => ({
    node,
    plugin: 'NodeResourcesFit',
    resources: [
      { name: 'nvidia.com/gpu', requested: 4, inUse, allocatable: 8 },
      { name: 'cpu', requested: 1000, inUse: 0, allocatable: 8000 },
    ],
  })
  const reason = (node: string, plugin = 'NodeResourcesFit', text = 'Insufficient nvidia.com/gpu') => ({
    node,
    plugin,
    reasons: [text],
  })
  const filter = {
    reasons: [
      reason('n1'),
      reason('n10'),
      reason('n2'),
      reason('n3'),
      reason('n4', 'TaintToleration', 'node(s) had untolerated taint(s)'),
    ],
    comparisons: [gpu('n10', 5), gpu('n2', 5), gpu('n1', 7)],
  } as unknown as NonNullable<Cycle['filter']>
  expect(
    shortagesOf({ filter }).map(({ plugin, lacks, nodes }) => [
      plugin,
      lacks.map(({ resource, amount }) => `${amount} ${resource}`).join(),
      nodes,
    ])
  ).toEqual([
    ['NodeResourcesFit', '1 nvidia.com/gpu', ['n2', 'n10']],
    ['NodeResourcesFit', '3 nvidia.com/gpu', ['n1']],
    ['NodeResourcesFit', '', ['n3']],
    ['TaintToleration', '', ['n4']],
  ])
})

it('has no rows for a pod that was rejected before any node was checked', () => {
  expect(shortagesOf({})).toEqual([])
})
