import { expect, it } from 'vitest'
import { positionAt, reach, readWeight } from './slider'

it('ends at 10, or at a larger weight', () => expect([reach(0), reach(10), reach(40)]).toEqual([10, 10, 40]))

it('has a whole weight at every place', () =>
  expect([-1, 0, 0.04, 0.06, 0.5, 1, 2].map((part) => positionAt(part, 10))).toEqual([0, 0, 0, 1, 5, 10, 10]))

it.each([
  ['7', 7],
  [' 12 ', 12],
  ['99999', 1000],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
])('reads %j', (text, weight) => expect(readWeight(text)).toBe(weight))
