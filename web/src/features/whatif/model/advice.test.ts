import { expect, it } from 'vitest'
import type { Suggestion } from '@/api/types'
import { groupSuggestions } from './advice'

it('groups neighbours of one kind, so that ranks follow each other down the page', () => {
  const suggestions = ['addNode', 'evict', 'evict', 'pod'].map((kind) => ({ kind }) as Suggestion)
  const groups = groupSuggestions(suggestions)
  expect(groups.map(({ kind }) => kind)).toEqual(['addNode', 'evict', 'pod'])
  expect(groups.flatMap(({ items }) => items.map(({ rank }) => rank))).toEqual([1, 2, 3, 4])
  expect(groups[1]?.items.map(({ suggestion }) => suggestion)).toEqual(suggestions.slice(1, 3))
})
