import { describe, expect, it } from 'vitest'
import type { SubmitAnswer } from '@/api/types'
import { caseOf, stretchOf, toneOf, whenOf } from './submit'

const answer = (verdict: string, fit: number, quota: boolean, never = false) =>
  ({
    verdict,
    nodes: { fit, needs: 2, pods: 2, never },
    quota: quota ? {} : undefined,
    start: { now: verdict === 'admitted' },
  }) as unknown as SubmitAnswer

describe('the two halves', () => {
  it.each([
    ['admitted', 2, true, 'starts', 'good'],
    ['admitted', 1, true, 'noNode', 'await'],
    ['waits', 2, true, 'waits', 'await'],
    ['waits', 0, true, 'waitsNoNode', 'await'],
    ['never', 2, true, 'never', 'bad'],
    ['admitted', 2, false, 'noQueue', 'good'],
    ['waits', 1, false, 'noRoom', 'await'],
    ['never', 0, false, 'noRoomEver', 'bad'],
  ] as const)('%s with %i of 2 pods on nodes, queue: %s', (verdict, fit, quota, kind, tone) => {
    expect(caseOf(answer(verdict, fit, quota))).toBe(kind)
    expect(toneOf(answer(verdict, fit, quota))).toBe(tone)
  })
})

describe('the start', () => {
  const start = {
    now: false,
    earliest: '2026-01-01T00:10:00Z',
    latest: '2026-01-01T00:30:00Z',
  } as SubmitAnswer['start']
  const now = Date.parse('2026-01-01T00:00:00Z')
  it('is a stretch of the axis', () => {
    expect(stretchOf(start, now, Date.parse('2026-01-01T00:40:00Z'))).toEqual({ from: 25, width: 50 })
    expect(stretchOf({ ...start, earliest: null, latest: null }, now, now + 1)).toBeUndefined()
  })
  it('may not be known', () => {
    expect(whenOf({ verdict: 'waits', start })).toBe('between')
    expect(whenOf({ verdict: 'waits', start: { ...start, latest: null } })).toBe('after')
    expect(whenOf({ verdict: 'waits', start: { ...start, earliest: null, latest: null } })).toBe('unknown')
    expect(whenOf({ verdict: 'never', start })).toBe('never')
    expect(whenOf({ verdict: 'admitted', start: { ...start, now: true } })).toBe('now')
  })
})
