import { describe, expect, it } from 'vitest'
import type { KubeObject } from '@/api/types'
import { mergeChanges, same } from './merge'

const of = (version: string, more: object) =>
  ({ metadata: { name: 'x', resourceVersion: version }, ...more }) as unknown as KubeObject

describe('mergeChanges', () => {
  it('merges changes of different fields', () => {
    const base = of('1', { spec: { replicas: 1, paused: false } })
    const { object, conflicts } = mergeChanges(
      base,
      of('1', { spec: { replicas: 3, paused: false } }),
      of('2', { spec: { replicas: 1, paused: true } })
    )
    expect(object).toEqual(of('2', { spec: { replicas: 3, paused: true } }))
    expect(conflicts).toEqual([])
  })
  it('takes my value and reports the field if both changed it', () => {
    const { object, conflicts } = mergeChanges(
      of('1', { spec: { replicas: 1 } }),
      of('1', { spec: { replicas: 3 } }),
      of('2', { spec: { replicas: 5 } })
    )
    expect(object.spec).toEqual({ replicas: 3 })
    expect(conflicts).toEqual(['spec.replicas'])
  })
  it('merges named items one by one', () => {
    const containers = (a: string, b: string) => ({
      containers: [
        { name: 'a', image: a },
        { name: 'b', image: b },
      ],
    })
    const { object, conflicts } = mergeChanges(
      of('1', containers('1', '1')),
      of('1', containers('2', '1')),
      of('2', containers('1', '2'))
    )
    expect(object.containers).toEqual(containers('2', '2').containers)
    expect(conflicts).toEqual([])
  })
  it('keeps a removal by either side', () => {
    const base = of('1', { a: 1, b: 2, c: 3 })
    expect(mergeChanges(base, of('1', { b: 2, c: 3 }), of('2', { a: 1, b: 2 })).object).toEqual(of('2', { b: 2 }))
  })
  it('reports a removal of a changed field as a conflict', () => {
    expect(mergeChanges(of('1', { a: 1 }), of('1', {}), of('2', { a: 2 })).conflicts).toEqual(['a'])
  })
  it('writes keys with dots in brackets', () => {
    const labels = (v: string) => ({ labels: { 'example.com/x': v } })
    expect(mergeChanges(of('1', labels('1')), of('1', labels('2')), of('2', labels('3'))).conflicts).toEqual([
      'labels[example.com/x]',
    ])
  })
})

it('ignores the order of keys when it compares', () => {
  expect([
    same({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }),
    same({ a: 1 }, { a: 1, b: undefined }),
    same([1], [1, 2]),
  ]).toEqual([true, false, false])
})
