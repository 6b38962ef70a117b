import { expect, it } from 'vitest'
import { branchIn, prefixOf } from './base'

it.each([
  ['/', '', ''],
  ['/decisions/default/web-1', '', ''],
  ['/branches', '', ''],
  ['/branches/', '', ''],
  ['/branches/a', 'a', '/branches/a'],
  ['/branches/a/', 'a', '/branches/a'],
  ['/branches/lesson-01-filter/decisions/default/web-1', 'lesson-01-filter', '/branches/lesson-01-filter'],
  ['/branches/A/', '', ''],
  ['/branches/-a/', '', ''],
  ['/branches/..%2f/', '', ''],
])('reads the branch of %s', (path, branch, prefix) => {
  expect(branchIn(path)).toBe(branch)
  expect(prefixOf(branchIn(path))).toBe(prefix)
})
