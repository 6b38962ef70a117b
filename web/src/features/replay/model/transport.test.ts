import { describe, expect, it } from 'vitest'
import { arrowStep, formatOffset, formatRecorded, lengthOf, movedBy, sliderAt, steps, timeAt } from './transport'

const span = { start: '2026-11-20T08:00:00.250Z', end: '2026-11-20T09:00:00.250Z' }

describe('the slider', () => {
  it('maps its ends exactly to those of the recording', () => {
    expect(timeAt(span, 0)).toBe(span.start)
    expect(timeAt(span, steps)).toBe(span.end)
    expect(timeAt(span, steps / 2)).toBe('2026-11-20T08:30:00.250Z')
  })
  it('returns to the same position', () => {
    for (const at of [0, 1, 777, steps - 1, steps]) expect(sliderAt(span, timeAt(span, at))).toBe(at)
  })
  it('stays within its ends', () => {
    expect(sliderAt(span, '2026-11-20T07:00:00Z')).toBe(0)
    expect(sliderAt(span, '2026-11-21T07:00:00Z')).toBe(steps)
    expect(sliderAt(span, 'nonsense')).toBe(0)
  })
  it('is at the end of a recording of one instant', () => {
    const instant = { start: span.start, end: span.start }
    expect([lengthOf(instant), sliderAt(instant, span.start), timeAt(instant, 700)]).toEqual([0, steps, span.start])
  })
})

describe('an arrow key', () => {
  it('moves by a hundredth, in round numbers', () => {
    expect(arrowStep(span)).toBe(60)
    expect(arrowStep({ start: span.start, end: '2026-11-20T08:00:05Z' })).toBe(1)
    expect(arrowStep({ start: span.start, end: '2026-12-20T08:00:05Z' })).toBe(3600)
  })
  it('stops at the ends', () => {
    expect(movedBy(span, span.start, 60)).toBe('2026-11-20T08:01:00.250Z')
    expect(movedBy(span, span.start, -60)).toBe(span.start)
    expect(movedBy(span, span.end, 1)).toBe(span.end)
  })
})

describe('times', () => {
  it('are relative to the start', () => {
    expect(
      ['2026-11-20T08:00:04.9Z', '2026-11-20T08:12:07.25Z', '2026-11-20T11:05:00.25Z', '2026-11-20T07:00:00Z'].map(
        (at) => formatOffset(span, at)
      )
    ).toEqual(['0:04', '12:07', '3:05:00', '0:00'])
  })
  it('include the day if the recording spans several', () => {
    expect(formatRecorded(span, span.start)).toMatch(/^\d\d:\d\d:\d\d$/)
    expect(formatRecorded({ start: span.start, end: '2026-11-25T08:00:00Z' }, span.start)).toMatch(
      /^11-2\d \d\d:\d\d:\d\d$/
    )
  })
})
