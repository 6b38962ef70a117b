import { expect, it } from 'vitest'
import { firstPlace, problemsOf, withoutLine } from './mistakes'

const mistakes = [
  { message: 'no profile is named', field: 'profiles' },
  { message: 'must not be negative', field: 'profiles[0].weight', line: 7, column: 3 },
  { message: 'profiles[0].weight is unknown', field: 'profiles[0].weight', line: 9 },
]

it('marks mistakes at their lines and names a field once', () => {
  expect(problemsOf(mistakes)).toEqual([
    { line: 7, column: 3, message: 'profiles[0].weight: must not be negative' },
    { line: 9, message: 'profiles[0].weight is unknown' },
  ])
  expect(withoutLine(mistakes)).toEqual([mistakes[0]])
})

it('finds the first mistake with a line', () => {
  expect(firstPlace(mistakes)).toEqual({ line: 7, column: 3 })
  expect(firstPlace(mistakes.slice(0, 1))).toBeUndefined()
})
