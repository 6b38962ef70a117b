import { expect, it } from 'vitest'
import { parseStarred, starredSlugs, toggleStar } from './favourites'

const none = parseStarred(null)

it('begins with the kinds that a scheduler engineer opens first', () => {
  expect(starredSlugs(none).slice(0, 2)).toEqual(['nodes', 'pods'])
})

it('adds at the end, and takes away what was given', () => {
  const starred = toggleStar(toggleStar(none, 'configmaps'), 'pods')
  expect(starredSlugs(starred).at(-1)).toBe('configmaps')
  expect(starredSlugs(starred)).not.toContain('pods')
  expect(starredSlugs(toggleStar(toggleStar(starred, 'pods'), 'configmaps'))).toEqual(starredSlugs(none))
})

it('survives being kept, and what is not its own', () => {
  const starred = toggleStar(none, 'configmaps')
  expect(parseStarred(JSON.stringify(starred))).toEqual(starred)
  for (const text of ['', 'null', '[]', '{"added":7}', '{"added":[1]}']) expect(parseStarred(text)).toEqual(none)
})
