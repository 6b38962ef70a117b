import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { boardsOf } from './boards'

const cycle = (more: Partial<Cycle>): Parameters<typeof boardsOf>[0] => ({
  pod: { namespace: 'ml', name: 'p', uid: 'p' },
  attempt: 3,
  ...more,
})

it('links a decision to the boards of its group, quota and NUMA nodes', () => {
  const facts = [
    { plugin: 'Coscheduling', key: 'group', value: 'ml/pretrain' },
    { plugin: 'CapacityScheduling', key: 'quota', value: 'team' },
  ]
  const filter = { comparisons: [{ node: 'n', plugin: 'NodeResourceTopologyMatch' }] } as unknown as NonNullable<
    Cycle['filter']
  >
  expect(boardsOf(cycle({ facts, filter })).map(({ place }) => place)).toEqual([
    { name: 'gangs', query: { group: 'ml/pretrain' } },
    { name: 'quotas', query: { pod: 'ml/p', attempt: '3' } },
    { name: 'numa', query: { pod: 'ml/p', attempt: '3' } },
  ])
})

it('knows the groups of Kubernetes, and links nothing else', () => {
  expect(
    boardsOf(cycle({ podGroup: { namespace: 'ml', name: 'moe' } as NonNullable<Cycle['podGroup']> })).map(
      ({ place }) => place.query
    )
  ).toEqual([{ group: 'native/ml/moe' }])
  expect(boardsOf(cycle({}))).toEqual([])
})
