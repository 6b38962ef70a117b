import { describe, expect, it } from 'vitest'
import { marked, parseQuery, search, type PaletteGroup, type PaletteSource } from './palette'

function source(
  group: PaletteGroup,
  names: string[],
  more: Partial<PaletteSource<string>> = {}
): PaletteSource<string> {
  return {
    group,
    items: names,
    text: (name) => name,
    entry: (name) => ({ id: name, group, icon: '', title: name, run: () => {} }),
    most: 3,
    ...more,
  }
}
const sources = [
  source('actions', ['Add a taint to nodes', 'Light theme'], { always: true }),
  source('plugins', ['NodeResourcesFit', 'TaintToleration']),
  source('pods', ['shop/web-1', 'shop/web-2', 'shop/web-3', 'shop/web-4', 'ml/taint-check']),
] as PaletteSource<never>[]
const found = (text: string) => search(sources, text).map((e) => e.title)

describe('search', () => {
  it('shows the default entries for an empty query', () => {
    expect(found('')).toEqual(['Add a taint to nodes', 'Light theme'])
  })
  it('finds entries of every group, in the order of the groups', () => {
    expect(found('taint')).toEqual(['Add a taint to nodes', 'TaintToleration', 'ml/taint-check'])
  })
  it('requires every word, and shows only the best of many matches', () => {
    expect(found('shop web')).toEqual(['shop/web-1', 'shop/web-2', 'shop/web-3'])
    expect(found('shop 4')).toEqual(['shop/web-4'])
  })
  it('searches only one group after its sign', () => {
    expect(parseQuery('@ Web')).toEqual({ words: ['web'], groups: ['pods'] })
    expect(found('@taint')).toEqual(['ml/taint-check'])
    expect(found('>theme')).toEqual(['Light theme'])
    expect(parseQuery('> x').groups).toEqual(['actions'])
  })
})

it('marks the matched words', () => {
  expect(marked('TaintToleration', 'taint ra')).toEqual([
    { text: 'Taint', hit: true },
    { text: 'Tole', hit: false },
    { text: 'ra', hit: true },
    { text: 'tion', hit: false },
  ])
})
