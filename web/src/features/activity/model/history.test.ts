import { describe, expect, it } from 'vitest'
import type { Summary } from '@/api/types'
import { chartBounds, mostHeld, perSecond, withHistory } from './history'

const now = Date.parse('2026-01-02T03:10:00Z')
const all = { last: '', since: '', until: '' }
const at = (minute: number, uid = String(minute)): Summary => ({
  pod: { namespace: 'shop', name: uid, uid },
  attempt: 1,
  profile: 'default-scheduler',
  startTime: `2026-01-02T03:${String(minute).padStart(2, '0')}:00Z`,
  durationSeconds: 0.01,
  outcome: 'scheduled',
  nodes: { total: 3, evaluated: 3, feasible: 1 },
})
const minutes = (items: readonly Summary[]) => items.map((s) => Number(s.startTime.slice(14, 16)))

describe('the feed', () => {
  it('has what was decided before the page was opened, each once', () => {
    expect(minutes(withHistory([at(9), at(8)], [at(8), at(3), at(1)], all, now))).toEqual([9, 8, 3, 1])
  })
  it('is in the order in which cycles began, also where live ones meet those from before', () => {
    // 4 waited for a permit: it ended after 7, and before the page was opened.
    expect(minutes(withHistory([at(9), at(5)], [at(4), at(7), at(6)], all, now))).toEqual([9, 7, 6, 5, 4])
  })
  it('keeps to the range', () => {
    const items = [at(9), at(6), at(3)]
    expect(minutes(withHistory(items, [], { ...all, last: '5m' }, now))).toEqual([9, 6])
    expect(
      minutes(withHistory(items, [], { ...all, since: '2026-01-02T03:03:00Z', until: '2026-01-02T03:09:00Z' }, now))
    ).toEqual([6, 3])
  })
  it('is bounded', () => {
    const many = Array.from({ length: mostHeld + 5 }, (_, i) => at(1, String(i)))
    expect(withHistory(many, [], all, now)).toHaveLength(mostHeld)
  })
})

describe('the charts', () => {
  const bounds = (range: Partial<typeof all>, oldest?: string) => {
    const { since, until } = chartBounds({ ...all, ...range }, oldest, now)
    return [(now - since) / 1000, (now - until) / 1000]
  }
  it('show the last five minutes unless a range is chosen', () => {
    expect([bounds({}), bounds({ last: '1h' }), bounds({ since: '2026-01-02T03:00:00Z' })]).toEqual([
      [300, 0],
      [3600, 0],
      [600, 0],
    ])
    expect(bounds({ until: '2026-01-02T03:05:00Z' }, '2026-01-02T03:00:00Z')).toEqual([600, 300])
    // The end is before the begin.
    expect(bounds({ since: '2026-01-02T03:05:00Z', until: '2026-01-02T03:00:00Z' })).toEqual([601, 600])
  })
  it('count per second, and have no value before the oldest decision', () => {
    const timeline = { scheduled: [0, 4, 2], unschedulable: [0, 2, 0], waiting: [0, 0, 1], error: [0, 0, 0] }
    const span = { since: now - 6000, until: now }
    const oldest = new Date(now - 3500).toISOString()
    expect(perSecond(timeline, 'cycles', span, oldest)).toEqual([undefined, 3, 1.5])
    expect(perSecond(timeline, 'bound', span, oldest)).toEqual([undefined, 2, 1])
    expect(perSecond(timeline, 'bound', span, undefined)).toEqual([undefined, undefined, undefined])
  })
})
