import { describe, expect, it } from 'vitest'
import type { ImportItem } from '@/api/types'
import { filterItems, itemsAsText, shareDone, sortItems } from './importing'

const item = (name: string, change: Partial<ImportItem> = {}): ImportItem => ({
  apiVersion: 'v1',
  kind: 'Pod',
  namespace: 'shop',
  name,
  message: 'refused',
  ...change,
})

describe('its items', () => {
  const all = [
    item('b', { message: 'cpu is missing' }),
    item('a', { kind: 'Node', namespace: '' }),
    item('c', { source: 'x.yaml' }),
  ]
  it('are found by every word', () => {
    expect(filterItems(all, ' ').length).toBe(3)
    expect(filterItems(all, 'shop/b CPU').map((i) => i.name)).toEqual(['b'])
    expect(filterItems(all, 'x.yaml').map((i) => i.name)).toEqual(['c'])
    expect(filterItems(all, 'b x.yaml')).toEqual([])
  })
  it('are sorted both ways', () => {
    expect(sortItems(all, 'name').map((i) => i.name)).toEqual(['a', 'b', 'c'])
    expect(sortItems(all, '-kind').map((i) => i.name)).toEqual(['b', 'c', 'a'])
    expect(sortItems(all, '')).toBe(all)
  })
  it('become one line of text each', () => {
    expect(itemsAsText([item('a', { message: 'two\n\tlines', source: 'x.yaml' })])).toBe(
      'v1\tPod\tshop/a\ttwo lines\tx.yaml'
    )
  })
})

it('reports progress only if it is known', () => {
  expect([
    shareDone({ done: 1, total: 4 }),
    shareDone({ done: 9, total: 4 }),
    shareDone({ done: 9, total: 0 }),
  ]).toEqual([0.25, 1, undefined])
})
