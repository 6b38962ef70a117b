import { expect, it } from 'vitest'
import { scaleOf } from './scale'

const range = (n: number) => Array.from({ length: n }, (_, i) => i + 1)
const shades = (values: number[]) => {
  const { levelOf } = scaleOf([...values].sort((a, b) => a - b))
  const counts = [0, 0, 0, 0, 0, 0]
  for (const value of values) counts[levelOf(value)] = (counts[levelOf(value)] ?? 0) + 1
  return counts.slice(1)
}

it('gives each shade about equally many values', () => {
  expect(shades(range(100))).toEqual([20, 20, 20, 20, 20])
  // Values of which most are close together: a linear scale would shade 96 of them alike.
  expect(shades([...range(96), 1000, 2000, 4000, 9000])).toEqual([20, 20, 20, 20, 20])
})

it('keeps equal values together, and divides the others', () => {
  expect(shades([...new Array<number>(90).fill(7), ...range(6)])).toEqual([0, 0, 6, 0, 90])
  expect(shades([...new Array<number>(90).fill(0), 1, 2, 3, 4, 5, 6, 7, 8])).toEqual([90, 2, 2, 2, 2])
})

it('uses the strongest shade for the best when there are few values', () => {
  expect(scaleOf([5]).classes).toEqual([{ from: 5, to: 5, level: 5 }])
  expect(scaleOf([5, 9]).classes.map((c) => c.level)).toEqual([3, 5])
  expect(scaleOf([]).levelOf(3)).toBe(5)
})
