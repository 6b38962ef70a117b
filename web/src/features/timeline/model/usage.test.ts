import { expect, test } from 'vitest'
import type { Usage } from '@/api/timeline'
import { usagePath, usageRows, valueAt } from './usage'

const sample = (second: number, requested: number, more: Partial<Usage> = {}): Usage => ({
  moment: second + 1,
  time: `2026-01-01T00:00:0${second}Z`,
  pending: 0,
  resources: { memory: { requested: 0, allocatable: 8 }, cpu: { requested, allocatable: 4 } },
  ...more,
})
const start = Date.parse('2026-01-01T00:00:00Z')

test('has a row for CPU, memory, the most used of the others, fragmentation and pending pods', () => {
  const gpus = (requested: number) => ({ requested, allocatable: 4 })
  const rows = usageRows([
    sample(0, 1),
    sample(1, 2, { pending: 3, resources: { ...sample(1, 2).resources, b: gpus(1), c: gpus(4), a: gpus(0) } }),
  ])
  expect(rows.map(({ id }) => id)).toEqual(['cpu', 'memory', 'c', 'b', 'fragmentation', 'pending'])
  expect(rows[0]?.values.map(({ value }) => value)).toEqual([25, 50])
  expect(rows[2]?.values.map(({ value }) => value)).toEqual([undefined, 100])
  expect(rows.at(-1)?.most).toBe(3)
})

test('tells the value of the sample before a time', () => {
  const [cpu] = usageRows([sample(0, 1), sample(2, 4)])
  expect(cpu && [-1, 0, 1999, 2000, 9000].map((ms) => valueAt(cpu, start + ms))).toEqual([undefined, 25, 25, 100, 100])
})

test('draws a value until the next sample, and nothing where it is unknown', () => {
  const axis = { from: start, to: start + 4000 }
  const [cpu] = usageRows([sample(0, 0), sample(1, 4), sample(2, 0, { resources: {} }), sample(3, 4)])
  expect(cpu && usagePath(cpu, axis, 18)).toBe('M0.0 17.5H250.0V1.0H500.0M750.0 1.0H1000.0')
})
