import { describe, expect, it } from 'vitest'
import type { KubeObject, Pod } from '@/api/types'
import { barOf, poolOf, quotasOf, resourcesOf, scaleOf } from './quotas'

const quota = (namespace: string, spec: object, status?: object): KubeObject => ({
  metadata: { namespace, name: 'team' },
  spec,
  ...(status ? { status } : {}),
})
const pod = (namespace: string, name: string, cpu: string, more: Partial<Pod> = {}): Pod => ({
  metadata: { namespace, name },
  spec: { nodeName: 'n', containers: [{ name: 'c', resources: { requests: { cpu } } }] },
  ...more,
})

const objects = [
  quota('shop', { min: { cpu: '4' }, max: { cpu: '8' } }, { used: { cpu: '4' } }),
  quota('batch', { min: { cpu: '4', memory: '8Gi' }, max: { cpu: '6', memory: '16Gi' } }),
]
const pods = [
  pod('shop', 'a', '3'),
  pod('shop', 'b', '3'),
  pod('batch', 'c', '1'),
  pod('plain', 'd', '9'),
  pod('batch', 'pending', '2', { spec: {} }),
  pod('batch', 'done', '2', { status: { phase: 'Succeeded' } }),
]
const quotas = quotasOf(objects, pods)

describe('quotasOf', () => {
  it('counts what bound pods of the namespace request', () => {
    expect(
      quotas.map(({ key, pods: n, lines }) => [
        key,
        n,
        lines.map(({ resource, used, min, max, reported }) => [resource, used, min, max, reported]),
      ])
    ).toEqual([
      [
        'batch/team',
        1,
        [
          ['cpu', 1, 4, 6, undefined],
          ['memory', 0, 8 * 2 ** 30, 16 * 2 ** 30, undefined],
        ],
      ],
      ['shop/team', 2, [['cpu', 6, 4, 8, 4]]],
    ])
  })
  it('limits cpu and memory to 0 when a max leaves them out, and other resources not at all', () => {
    const gpu = { name: 'c', resources: { requests: { cpu: '1', memory: '1Gi', 'nvidia.com/gpu': '1' } } }
    const [only] = quotasOf(
      [quota('ml', { min: { cpu: '1' }, max: { cpu: '2' } })],
      [pod('ml', 'a', '1', { spec: { nodeName: 'n', containers: [gpu] } })]
    )
    expect(only?.lines.map(({ resource, max }) => [resource, max])).toEqual([
      ['cpu', 2],
      ['memory', 0],
      ['nvidia.com/gpu', undefined],
    ])
    const [open] = quotasOf([quota('ml', { min: { cpu: '1' } })], [])
    expect(open?.lines.map(({ max }) => max)).toEqual([undefined])
  })
  it('marks a namespace with several quotas', () => {
    expect(
      quotasOf([objects[0] as KubeObject, { metadata: { namespace: 'shop', name: 'other' } }], []).map(
        ({ ambiguous }) => ambiguous
      )
    ).toEqual([true, true])
  })
})

describe('poolOf', () => {
  it('is what some leave unused, of which others borrow', () => {
    expect(poolOf(quotas, 'cpu')).toEqual({
      resource: 'cpu',
      used: 7,
      min: 8,
      lenders: [{ key: 'batch/team', namespace: 'batch', amount: 3 }],
      borrowers: [{ key: 'shop/team', namespace: 'shop', amount: 2 }],
      unused: 3,
      borrowed: 2,
      left: 1,
    })
  })
  it('is overdrawn when more is used than all mins together', () => {
    expect(poolOf(quotasOf([quota('shop', { min: { cpu: '2' } })], [pod('shop', 'a', '3')]), 'cpu')).toMatchObject({
      unused: 0,
      borrowed: 1,
      left: -1,
    })
  })
})

it('draws used, borrowed and unused on one scale', () => {
  expect([resourcesOf(quotas), scaleOf(quotas, 'cpu')]).toEqual([['cpu', 'memory'], 8])
  const bars = quotas.map(({ lines }) => lines[0] && barOf(lines[0], 8, 1))
  expect(bars).toEqual([
    {
      stretches: [
        { kind: 'share', from: 0, width: 50 },
        { kind: 'room', from: 50, width: 25 },
        { kind: 'lent', from: 12.5, width: 37.5 },
        { kind: 'used', from: 0, width: 12.5 },
        { kind: 'asks', from: 12.5, width: 12.5 },
      ],
      marks: [
        { kind: 'share', at: 50 },
        { kind: 'most', at: 75 },
      ],
    },
    {
      stretches: [
        { kind: 'share', from: 0, width: 50 },
        { kind: 'room', from: 50, width: 50 },
        { kind: 'used', from: 0, width: 50 },
        { kind: 'over', from: 50, width: 25 },
        { kind: 'asks', from: 75, width: 12.5 },
      ],
      marks: [
        { kind: 'share', at: 50 },
        { kind: 'most', at: 100 },
      ],
    },
  ])
})
