import { expect, it } from 'vitest'
import { parseStarred, starredSlugs, toggleStar } from './favourites'

const none = parseStarred(null)

it('starts with the kinds that scheduler engineers open first', () => {
  expect(starredSlugs(none).slice(0, 2)).toEqual(['nodes', 'pods'])
})

it('appends added kinds, and removes defaults', () => {
  const starred = toggleStar(toggleStar(none, 'configmaps'), 'pods')
  expect(starredSlugs(starred).at(-1)).toBe('configmaps')
  expect(starredSlugs(starred)).not.toContain('pods')
  expect(starredSlugs(toggleStar(toggleStar(starred, 'pods'), 'configmaps'))).toEqual(starredSlugs(none))
})

it('survives storing, and ignores invalid stored values', () => {
  const starred = toggleStar(none, 'configmaps')
  expect(parseStarred(JSON.stringify(starred))).toEqual(starred)
  for (const text of ['', 'null', '[]', '{"added":7}', '{"added":[1]}']) expect(parseStarred(text)).toEqual(none)
})
