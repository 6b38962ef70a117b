import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { distance, offersNone } from './shortage'

const of = (...all: [requested: number, inUse: number, allocatable: number][]) =>
  distance(all.map(([requested, inUse, allocatable]) => ({ requested, inUse, allocatable })))

it('is larger for a missing part, for more than half of a request, and for a resource that is not there', () => {
  const ascending = [
    of([4, 0, 8]),
    of([4, 5, 8]),
    of([4, 5, 8], [100, 50, 100]),
    of([4, 7, 8]),
    of([4, 9, 8], [4, 9, 8]),
    of([4, 0, 0]),
    of([4, 0, 0], [4, 0, 0]),
  ]
  expect(ascending[0]).toBe(0)
  expect(ascending).toEqual([...ascending].sort((a, b) => a - b))
  expect(new Set(ascending).size).toBe(ascending.length)
  expect(ascending.map(offersNone)).toEqual([false, false, false, false, false, true, true])
})

it('orders nodes as the server does, which compares the nearest first', () => {
  const file = join(import.meta.dirname, '../../../../../scheduler/explain/testdata/cells.json')
  const shared = JSON.parse(readFileSync(file, 'utf8')) as { cycle: Partial<Cycle> }[]
  let compared = 0
  for (const { cycle } of shared) {
    const all = (cycle.filter?.comparisons ?? []).flatMap(({ resources }) => (resources?.length ? [resources] : []))
    const distances = all.map(distance)
    expect(distances).toEqual([...distances].sort((a, b) => a - b))
    expect(distances.every((one) => one > 0)).toBe(true)
    compared += all.length
  }
  expect(compared).toBeGreaterThan(0)
})
