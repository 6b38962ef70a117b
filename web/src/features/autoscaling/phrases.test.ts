import { dollars } from '@/i18n/money'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AutoscaleAnswer, AutoscaleCheaper, AutoscaleDeparture, AutoscaleNewNode } from '@/api/types'
import { loadDeferredMessages } from '@/i18n/deferred'
import { cheaper, nodeSentence, nodesSentence, refusal, sentence } from './phrases'

beforeAll(loadDeferredMessages)

const answer = (summary: Partial<AutoscaleAnswer['summary']>, newNodes = 0, price = 0) =>
  ({
    summary: { pods: 0, newNode: 0, existingNode: 0, none: 0, notJudged: 0, disagreements: 0, ...summary },
    cost: { nodes: 1, pricePerHour: 1, unpriced: 0, newNodes, newPricePerHour: price },
  }) as AutoscaleAnswer

it('writes sums with the digits that small ones need', () => {
  expect([0, 0.0304, 0.5, 1234.5, -0.25].map(dollars)).toEqual(['$0.00', '$0.0304', '$0.50', '$1,234.50', '−$0.25'])
})

describe('the answer about all pods', () => {
  it.each([
    [answer({}), 'No pod waits for a node, so Karpenter would add none.'],
    [
      answer({ pods: 1, newNode: 1 }, 1, 0.5),
      'The pod that waits would get a new node: 1 node for $0.50 more an hour.',
    ],
    [
      answer({ pods: 9, newNode: 3, none: 5, notJudged: 1, disagreements: 2 }, 2, 1.48),
      '3 of the 9 pods that wait would get a new node: 2 nodes for $1.48 more an hour. No NodePool helps 5 pods. ' +
        'Karpenter does not look at 1 pod. The scheduler disagrees about 2 pods.',
    ],
    [answer({ pods: 2, none: 2 }), 'No new node would come for the 2 pods that wait.'],
  ])('is %#', (of, said) => {
    expect(sentence(of)).toBe(said)
  })
})

describe('a node', () => {
  const blockers = [
    { kind: 'budget' as const, object: 'shop/search', pods: ['shop/search-1'], reason: '', curable: true },
  ]
  const outcome = { savesPerHour: 0.47, moves: [] }
  it('stays while something blocks it, and would go without', () => {
    expect(nodeSentence({ node: 'b3', blockers, otherwise: outcome } as AutoscaleDeparture)).toBe(
      'b3 stays: PodDisruptionBudget shop/search allows no eviction of shop/search-1. ' +
        'Without what blocks it, it would go and save $0.47 an hour.'
    )
  })
  it('may be needed all the same', () => {
    expect(
      nodeSentence({ node: 'b3', blockers, needed: { kind: 'notCheaper', reason: '' } } as AutoscaleDeparture)
    ).toContain('Without that it would stay all the same: no node for less holds its pods.')
  })
  it('is one of several', () => {
    const nodes = [{ node: 'a', outcome }, { node: 'b' }, { node: 'c', outcome: { ...outcome, savesPerHour: 1 } }]
    expect(nodesSentence({ nodes } as AutoscaleAnswer)).toBe(
      'Of 3 nodes, 2 could go, each as if alone. The most that one saves is $1.00 an hour.'
    )
  })
})

describe('why a NodePool does not help', () => {
  const of = { nodePool: 'a', reason: 'as the server says' }
  it('comes from the data of the reason', () => {
    const taints = [
      { key: 'gpu', value: 'yes', effect: 'NoSchedule' },
      { key: 'x', effect: 'NoExecute' },
    ] as never[]
    expect(refusal({ ...of, kind: 'taints', taints }).text).toBe(
      'the pod does not tolerate gpu=yes:NoSchedule, x:NoExecute'
    )
    const zone = { key: 'zone', wanted: 'In [c]' }
    expect(refusal({ ...of, kind: 'requirements', conflicts: [{ ...zone, offered: 'In [a b]' }] }).text).toBe(
      'the pod wants zone In [c], and the NodePool has In [a b]'
    )
    expect(refusal({ ...of, kind: 'volumes', conflicts: [zone] }).text).toBe(
      'its volumes want zone In [c], and the NodePool gives its nodes no such label'
    )
  })
  it('is the server’s own where only that has the message', () => {
    expect(refusal({ ...of, kind: 'notReady' })).toEqual({ text: 'as the server says', english: true })
  })
})

it('says what a cheaper offer is short of', () => {
  const node = { zone: 'a', capacityType: 'on-demand' } as AutoscaleNewNode
  const offer = { instanceType: 't', zone: 'a', capacityType: 'spot', pricePerHour: 1, reason: 'is arm64' }
  const short = [
    { resource: 'cpu', wanted: '30', has: '7900m' },
    { resource: 'memory', wanted: '3Gi', has: '1Gi' },
  ]
  expect(cheaper({ ...offer, lack: 'resources', short } as AutoscaleCheaper, node).text).toBe(
    '22.1 CPU short, 2 Gi memory short'
  )
  expect(cheaper({ ...offer, lack: 'offering' }, node).text).toBe('spot is not wanted')
  expect(cheaper({ ...offer, lack: 'label' }, node)).toEqual({ text: 'is arm64', english: true })
})
