import { expect, it } from 'vitest'
import type { Summary } from '@/api/types'
import { filterSummaries, withOlder } from './summaries'
import { sampleCycle } from './testing'

const attempt = (n: number, change: Partial<Summary> = {}): Summary => sampleCycle({ attempt: n, ...change })

it('filters by outcome, profile and words', () => {
  const items = [attempt(1, { profile: 'batch' }), attempt(2, { outcome: 'unschedulable', message: 'Insufficient cpu' }), attempt(3)]
  const found = (by: { outcome?: 'unschedulable'; profile?: string; text?: string }) => filterSummaries(items, { outcome: 'all', text: '', ...by }).map((s) => s.attempt)
  expect([found({}), found({ profile: 'batch' }), found({ outcome: 'unschedulable' }), found({ text: 'shop/ insufficient' })]).toEqual([[1, 2, 3], [1], [2], [2]])
})

it('puts older attempts below the live ones, each once', () => {
  expect(withOlder([attempt(5), attempt(4)], [attempt(4), attempt(3)]).map((s) => s.attempt)).toEqual([5, 4, 3])
})
