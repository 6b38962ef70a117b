import { expect, it } from 'vitest'
import { secondsLeft, waitOf } from './wait'

const startTime = '2026-01-02T10:00:00Z'

it('reads the end of the wait, which counts down to 0', () => {
  const wait = waitOf({
    startTime,
    facts: [{ plugin: 'Coscheduling', key: 'waitUntil', value: '2026-01-02T10:01:00.5Z' }],
  })
  expect(wait && wait.until - wait.from).toBe(60_500)
  expect(['2026-01-02T10:00:42Z', '2026-01-02T10:02:00Z'].map((at) => wait && secondsLeft(wait, new Date(at)))).toEqual(
    [19, 0]
  )
})

it('knows no end of the wait for other plugins', () => {
  expect([
    waitOf({ startTime }),
    waitOf({ startTime, facts: [{ plugin: 'Coscheduling', key: 'group', value: 'ml/a' }] }),
  ]).toEqual([undefined, undefined])
})
