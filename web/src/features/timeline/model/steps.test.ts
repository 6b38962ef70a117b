import { describe, expect, it } from 'vitest'
import { around, configurationSpans, failureSpans, markNear, nextMark } from './steps'
import { clock, step } from './testing'

const at = (seconds: number) => Date.parse(clock(seconds))
const steps = [1, 5, 9, 20].map((moment) => step(moment))

describe('steps', () => {
  it('around a moment are those until it, and the next ones', () => {
    const { past, later } = around(steps, { moment: 9, time: clock(9) }, { before: 2, after: 1 })
    expect([past.map((s) => s.moment), later.map((s) => s.moment)]).toEqual([[5, 9], [20]])
  })
  it('around a time do not include a configuration that was applied later, while no object changed', () => {
    const applied = step(9, { kind: 'configuration', revision: 3, time: clock(15) })
    const all = [...steps.slice(0, 3), applied, ...steps.slice(3)]
    const split = (seconds: number) => {
      const { past, later } = around(all, { moment: 9, time: clock(seconds) }, { before: 9, after: 9 })
      return [past.length, later[0]?.revision ?? later[0]?.moment]
    }
    expect([split(9), split(14), split(15)]).toEqual([
      [3, 3],
      [3, 3],
      [4, 20],
    ])
  })
  it('are found before and after a time', () => {
    expect([
      nextMark(steps, at(5), -1)?.moment,
      nextMark(steps, at(5), 1)?.moment,
      nextMark(steps, at(1), -1),
      nextMark(steps, at(20), 1),
    ]).toEqual([1, 9, undefined, undefined])
  })
  it('near a time are within reach of the pointer', () => {
    expect([markNear(steps, at(7), 2500)?.moment, markNear(steps, at(14), 2500)]).toEqual([9, undefined])
  })
})

describe('the configuration', () => {
  it('has a revision at every time, and those that failed', () => {
    const spans = configurationSpans(
      [
        step(5, { kind: 'configuration', revision: 2 }),
        step(9, { kind: 'configuration', revision: 3, failed: true, endTime: clock(11) }),
        step(20, { kind: 'configuration', revision: 4 }),
      ],
      at(0),
      at(30)
    )
    expect(
      spans.map(({ step, from, to, failed }) => [step?.revision, (from - at(0)) / 1000, (to - at(0)) / 1000, failed])
    ).toEqual([
      [undefined, 0, 5, false],
      [2, 5, 20, false],
      [3, 9, 11, true],
      [4, 20, 30, false],
    ])
  })
  it('starts with the revision that was in force before the axis', () => {
    const [first] = configurationSpans([step(5, { kind: 'configuration', revision: 2 })], at(10), at(30))
    expect([first?.step?.revision, first?.from]).toEqual([2, at(10)])
  })
})

it('a failure that lasts has no end yet', () => {
  expect(
    failureSpans([step(1), step(5, { kind: 'failure', endTime: clock(9) }), step(20, { kind: 'failure' })], at(30)).map(
      ({ from, to, lasts }) => [from, to, lasts]
    )
  ).toEqual([
    [at(5), at(9), false],
    [at(20), at(30), true],
  ])
})
