import { expect, it } from 'vitest'
import { glyphPaths } from './glyphs'

it('draws each state of a row once, each with its own shape', () => {
  const paths = glyphPaths('PPRN', 30, 20)
  expect(paths.map(([state]) => state)).toEqual(['P', 'R', 'N'])
  expect(paths[0]?.[1].match(/M/g)).toHaveLength(2)
  expect(paths[1]?.[1]).toMatch(/^M75 10m/)
  // Nodes with the same states share the paths.
  expect(glyphPaths('PPRN', 30, 20)).toBe(paths)
})
