import { expect, it } from 'vitest'
import { recycled } from './rowPool'

const items = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ index: from + i, start: (from + i) * 20 }))

it('reuses the element of a row that scrolls out for the row that scrolls in', () => {
  const before = recycled(items(0, 5), 5, true)
  const after = recycled(items(2, 5), 5, true)
  expect(before.map((r) => [r.key, r.index])).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
  ])
  expect(after.map((r) => [r.key, r.index])).toEqual([
    [0, 5],
    [1, 6],
    [2, 2],
    [3, 3],
    [4, 4],
  ])
})

it('lists the rows in reading order once scrolling stops', () => {
  expect(recycled(items(2, 5), 5, false).map((r) => r.index)).toEqual([2, 3, 4, 5, 6])
})

it('never gives one element to two rows', () => {
  expect(new Set(recycled(items(3, 9), 5, true).map((r) => r.key)).size).toBe(9)
})
