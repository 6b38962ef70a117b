import { describe, expect, it } from 'vitest'
import type { Summary, Timeline } from '@/api/types'
import { chartBounds, perSecond, waitingAtPermit } from './rates'

const now = Date.parse('2026-01-02T03:10:00Z')
const all = { last: '', since: '', until: '' }

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
    const none = Object.fromEntries(Object.keys(timeline).map((outcome) => [outcome, [0, 0, 0]])) as unknown as Timeline
    expect(perSecond(none, 'bound', span, undefined), 'nothing has been decided yet').toEqual([0, 0, 0])
  })
})

it('pods that wait in Permit are counted by the plugin that holds them', () => {
  const held = (name: string, plugin?: string): Summary => ({
    pod: { namespace: 'shop', name, uid: name },
    attempt: 1,
    profile: 'default-scheduler',
    startTime: '2026-01-02T03:04:05Z',
    durationSeconds: 0.01,
    outcome: plugin ? 'waiting' : 'error',
    nodes: { total: 3, evaluated: 3, feasible: 1 },
    ...(plugin && { refusal: { extensionPoint: 'permit', plugin } }),
  })
  expect(waitingAtPermit([held('a', 'Gang'), held('stuck'), held('b', 'Quota'), held('c', 'Quota')])).toEqual({
    pods: 3,
    by: [
      { plugin: 'Quota', pods: 2 },
      { plugin: 'Gang', pods: 1 },
    ],
  })
})
