import { expect, it } from 'vitest'
import { isBranchName, suggestName } from './branchName'

it.each([
  ['bin-packing', true],
  ['a', true],
  ['0', true],
  ['', false],
  ['-a', false],
  ['a-', false],
  ['Bin', false],
  ['a b', false],
  ['a'.repeat(63), true],
  ['a'.repeat(64), false],
])('%j as a name: %s', (name, valid) => {
  expect(isBranchName(name)).toBe(valid)
})

it('suggests a name that is free and valid', () => {
  expect(suggestName('10:16:20', [])).toBe('from-10-16-20')
  const taken = [{ name: 'from-10-16-20' }, { name: 'from-10-16-20-2' }]
  expect(suggestName('10:16:20', taken)).toBe('from-10-16-20-3')
  expect(isBranchName(suggestName('10:16:20', taken))).toBe(true)
})
