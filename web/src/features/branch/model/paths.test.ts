import { expect, it } from 'vitest'
import { comparePath, leavePath } from './paths'

it('leads from a branch to pages of the trunk', () => {
  expect(comparePath('', 'a')).toBe('/timeline?a=&b=a&view=branches')
  expect(leavePath({ purpose: 'branch' })).toBe('/')
  expect(leavePath({ purpose: 'lesson' })).toBe('/learn')
  expect(leavePath(undefined)).toBe('/')
})
