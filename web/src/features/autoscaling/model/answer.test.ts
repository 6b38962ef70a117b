import { describe, expect, it } from 'vitest'
import type { AutoscaleDeparture, AutoscaleNewNode, AutoscalePod, AutoscalePool, KubeObject } from '@/api/types'
import { alikeOf, elsewhere, lacksOf, limitsOf, movesOf, refusalsOf, savingOf, stateOf, verdictOf } from './answer'

const offer = { instanceType: 'c-8x', zone: 'zone-a', capacityType: 'on-demand', pricePerHour: 0.2 }

it('groups instance types by what they lack, most of them first', () => {
  const group = (lack: 'resources' | 'label', names: string[], count: number, reason: string) => ({
    lack,
    names,
    count,
    reason,
    examples: [`${reason}-1`],
  })
  expect(
    lacksOf([
      group('label', ['kubernetes.io/arch'], 18, 'are arm64'),
      group('resources', ['cpu', 'nvidia.com/gpu'], 17, 'lack nvidia.com/gpu and have too little cpu'),
      group('resources', ['cpu', 'nvidia.com/gpu'], 2, 'have too little cpu and nvidia.com/gpu'),
    ]).map(({ lack, count, said }) => [lack, count, said.length])
  ).toEqual([
    ['resources', 19, 2],
    ['label', 18, 1],
  ])
  expect(lacksOf()).toEqual([])
})

describe('the reasons of a pod', () => {
  const refused = ['general', 'fixed'].map((nodePool) => ({ nodePool, kind: 'taints' as const, reason: '' }))
  const pool = (name: string, untried: boolean) =>
    ({ name, ...(untried ? { untried: { nodePool: name, kind: 'static', reason: '' } } : {}) }) as AutoscalePool
  it('leave out NodePools that no pod could use', () => {
    const pools = [pool('general', false), pool('fixed', true)]
    expect(refusalsOf({ refused } as AutoscalePod, pools).map(({ nodePool }) => nodePool)).toEqual(['general'])
  })
  it('are those of such NodePools if there are no others', () => {
    const pools = [pool('general', true), pool('fixed', true)]
    expect(refusalsOf({ refused } as AutoscalePod, pools)).toHaveLength(2)
  })
})

it('puts pods together that get no node for the same reasons', () => {
  const pod = (name: string, kind: 'taints' | 'types') =>
    ({ namespace: 'a', name, refused: [{ nodePool: 'general', kind, reason: '' }] }) as AutoscalePod
  const pods = [pod('web-1', 'taints'), pod('gpu', 'types'), pod('web-2', 'taints'), pod('web-3', 'taints')]
  const names = (first: string) => alikeOf(pods, [], first).map((group) => group.pods.map(({ name }) => name))
  expect(names('')).toEqual([['web-1', 'web-2', 'web-3'], ['gpu']])
  expect(names('a/web-3')).toEqual([['web-3', 'web-1', 'web-2'], ['gpu']])
})

it('counts limits by the capacity of new nodes', () => {
  const node = (nodePool: string, cpu: string) =>
    ({ nodePool, object: { status: { capacity: { cpu } } } }) as unknown as AutoscaleNewNode
  const pool = {
    name: 'a',
    limits: { cpu: '64', nodes: '5' },
    uses: { cpu: '32', nodes: '2' },
  } as unknown as AutoscalePool
  expect(limitsOf(pool, [node('a', '16'), node('a', '500m'), node('b', '8')])).toEqual([
    { resource: 'cpu', uses: 32, adds: 16.5, limit: 64 },
    { resource: 'nodes', uses: 2, adds: 2, limit: 5 },
  ])
})

it('tells what a cheaper offer differs in', () => {
  expect(elsewhere({ ...offer, zone: 'zone-b' }, offer)).toBe('zone')
  expect(elsewhere({ ...offer, capacityType: 'spot' }, offer)).toBe('capacityType')
  expect(elsewhere({ ...offer, capacityType: 'spot', zone: 'zone-b' }, offer)).toBe('both')
})

describe('a node', () => {
  const outcome = { savesPerHour: 0.2, moves: [] }
  const blockers = [{ kind: 'policy' as const, object: 'a', reason: '', curable: true }]
  it.each([
    [{ outcome }, 'goes', 0.2],
    [{ outcome: { ...outcome, replacement: offer } }, 'replaced', 0.2],
    [{ blockers, otherwise: outcome }, 'blocked', 0.2],
    [{ blockers }, 'blocked', undefined],
    [{ needed: { kind: 'notCheaper' as const, reason: '' } }, 'stays', undefined],
  ] as const)('%j', (of, verdict, saving) => {
    const departure = { node: 'n', ...of } as unknown as AutoscaleDeparture
    expect(verdictOf(departure)).toBe(verdict)
    expect(savingOf(departure)).toBe(saving)
  })
})

it('moves no pod of an empty node', () => {
  expect(movesOf({ savesPerHour: 1, moves: null } as unknown as Parameters<typeof movesOf>[0])).toEqual([])
})

it('has another state when an object changes, comes or goes', () => {
  const object = (uid: string, resourceVersion: string): KubeObject => ({
    metadata: { name: uid, uid, resourceVersion },
  })
  const state = stateOf([[object('a', '1')], [object('b', '2')]])
  expect(stateOf([[object('a', '1')], [object('b', '2')]])).toBe(state)
  expect(stateOf([[object('a', '1')], [object('b', '3')]])).not.toBe(state)
  expect(stateOf([[object('a', '1')], []])).not.toBe(state)
  expect(stateOf([[], [object('a', '1'), object('b', '2')]])).not.toBe(state)
})
