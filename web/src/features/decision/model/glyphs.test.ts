import { expect, it } from 'vitest'
import { glyphPaths } from './glyphs'

it('draws each state of a row with its own shape, on a background that some states have', () => {
  const paths = new Map(glyphPaths('PPRN', 30, 20).map(({ name, d }) => [name, d]))
  expect([...paths].filter(([, d]) => d).map(([name]) => name)).toEqual(['bN', 'bR', 'P', 'R', 'N'])
  expect(paths.get('P')?.match(/M/g)).toHaveLength(2)
  expect(paths.get('R')).toMatch(/^M75 10m/)
  expect(paths.get('bR')).toBe('M61 0h29v20h-29z')
})

it('gives rows with the same states the same paths, and all rows the same elements', () => {
  expect(glyphPaths('PPRN', 30, 20)).toBe(glyphPaths('PPRN', 30, 20))
  expect(glyphPaths('PPPP', 30, 20).map(({ name }) => name)).toEqual(glyphPaths('SNRE', 30, 20).map(({ name }) => name))
})
