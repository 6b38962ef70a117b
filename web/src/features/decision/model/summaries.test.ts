import { expect, it } from 'vitest'
import type { Summary } from '@/api/types'
import { sortSummaries } from './summaries'
import { sampleCycle } from './testing'

const attempt = (n: number, change: Partial<Summary> = {}): Summary => sampleCycle({ attempt: n, ...change })

// The server lists decisions by when they ended: one that waited long for a permit comes late.
it('sorts by when decisions began', () => {
  const items = [
    attempt(3, { startTime: '2026-01-02T03:00:05.9Z' }),
    attempt(2, { startTime: '2026-01-02T03:00:06.1Z' }),
    attempt(1, { startTime: '2026-01-02T03:00:06.1Z' }),
  ]
  const sorted = (by: string) => sortSummaries(items, by).map((s) => s.attempt)
  expect([sorted('-time'), sorted('time'), sorted('attempt'), sorted('-attempt'), sorted('unknown')]).toEqual([
    [2, 1, 3],
    [3, 1, 2],
    [1, 2, 3],
    [3, 2, 1],
    [2, 1, 3],
  ])
})
