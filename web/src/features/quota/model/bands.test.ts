import { expect, it } from 'vitest'
import { bandsOf } from './bands'
import type { Flow, Pool } from './quotas'

const flow = (namespace: string, amount: number): Flow => ({ key: namespace, namespace, amount })
const pool = (lenders: Flow[], borrowers: Flow[]): Pool => {
  const sum = (list: Flow[]) => list.reduce((total, { amount }) => total + amount, 0)
  return {
    resource: 'cpu',
    used: 0,
    min: 0,
    lenders,
    borrowers,
    unused: sum(lenders),
    borrowed: sum(borrowers),
    left: sum(lenders) - sum(borrowers),
  }
}

it('draws both sides on one scale, with what is free last', () => {
  const { lenders, takers, scale } = bandsOf(
    pool([flow('batch', 8), flow('edge', 8)], [flow('shop', 11), flow('ml', 4)]),
    150
  )
  expect(takers.map(({ name, amount, free }) => [name, amount, free])).toEqual([
    ['shop', 11, false],
    ['ml', 4, false],
    ['', 1, true],
  ])
  expect(lenders.map(({ size, pool: at }) => [size, at])).toEqual([
    [8 * scale, 0],
    [8 * scale, 8 * scale],
  ])
  expect(lenders[1]?.at).toBeGreaterThan(lenders[0]?.size ?? 0)
  expect(takers.every(({ at, size }) => at >= 0 && at + size <= 150)).toBe(true)
})

it('puts the smallest of many together', () => {
  const { lenders } = bandsOf(
    pool(
      ['a', 'b', 'c', 'd', 'e'].map((name, i) => flow(name, 9 - i)),
      []
    ),
    150
  )
  expect(lenders.map(({ name, more, amount }) => [name, more, amount])).toEqual([
    ['a', 0, 9],
    ['b', 0, 8],
    ['c', 0, 7],
    ['', 2, 11],
  ])
})

it('draws nothing when nothing is unused or borrowed', () => {
  expect(bandsOf(pool([], []), 150).scale).toBe(0)
})
