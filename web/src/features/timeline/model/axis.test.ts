import { describe, expect, it } from 'vitest'
import { axisOf, durationParts, partOf, ticksOf, timeAt } from './axis'

const minute = 60_000
const start = Date.UTC(2026, 0, 1, 10, 0)
const end = start + 60 * minute

describe('the axis', () => {
  it.each([
    { name: 'shows all of the recording', zoom: 0, at: undefined, want: [0, 60] },
    { name: 'shows the newest part', zoom: 600, at: undefined, want: [50, 60] },
    { name: 'shows the newest part, if the playhead is in it', zoom: 600, at: 55, want: [50, 60] },
    { name: 'is centred on an older playhead', zoom: 600, at: 20, want: [15, 25] },
    { name: 'does not start before the recording', zoom: 600, at: 1, want: [0, 10] },
    { name: 'is no longer than the recording', zoom: 21_600, at: 1, want: [0, 60] },
  ])('$name', ({ zoom, at, want }) => {
    const axis = axisOf({ start, end, zoom, at: at === undefined ? undefined : start + at * minute })
    expect([(axis.from - start) / minute, (axis.to - start) / minute]).toEqual(want)
  })
  it('has a length even when nothing has been recorded yet', () => {
    const axis = axisOf({ start, end: start, zoom: 0, at: undefined })
    expect(axis.to - axis.from).toBe(10_000)
  })
  it('maps times to parts of its width and back', () => {
    const axis = { from: start, to: end }
    expect(partOf(axis, start + 15 * minute)).toBe(0.25)
    expect([partOf(axis, start - 1), partOf(axis, end + 1)]).toEqual([0, 1])
    expect(timeAt(axis, 0.25)).toBe(start + 15 * minute)
  })
  it('has ticks at round times of the local zone', () => {
    const ticks = (offset: number, from = start + minute) =>
      ticksOf({ from, to: end }, 6, offset).map((at) => (at - start) / minute)
    expect(ticks(0)).toEqual([10, 20, 30, 40, 50, 60])
    // Half an hour off: ticks of 15 minutes would still be round.
    expect(ticks(30 * minute)).toEqual([10, 20, 30, 40, 50, 60])
    expect(ticksOf({ from: start, to: start + 40 * 86_400_000 }, 8, 0)).toHaveLength(8)
  })
})

it('tells a duration by its two largest units', () => {
  const told = (ms: number) =>
    durationParts(ms)
      .map(({ n, unit }) => `${n} ${unit}`)
      .join(' ')
  expect([0, 52_000, 142_000, 3_600_000, 11_100_000, 90_000_000].map(told)).toEqual([
    '0 s',
    '52 s',
    '2 min 22 s',
    '1 h',
    '3 h 5 min',
    '1 d 1 h',
  ])
})
