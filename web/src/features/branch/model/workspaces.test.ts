import { expect, it } from 'vitest'
import type { Branch } from '@/api/branches'
import { colourOf, inOrder, matching, titleOf } from './workspaces'

const one = (name: string, createdAt: string, title?: string): Branch => ({
  name,
  createdAt,
  purpose: 'branch',
  state: 'running',
  path: `/branches/${name}/`,
  kubeconfig: '',
  bytes: 0,
  ...(title ? { title } : {}),
})
const all = [one('a', '2026-05-04T10:00:00Z', 'try: bin packing'), one('b', '2026-05-04T11:00:00Z')]

it('is called by its title, or by its name', () => {
  expect(all.map(titleOf)).toEqual(['try: bin packing', 'b'])
})

it('has the newest first', () => {
  expect(inOrder(all).map(({ name }) => name)).toEqual(['b', 'a'])
})

it('finds every word, in any order', () => {
  expect(matching(all, 'packing TRY').map(({ name }) => name)).toEqual(['a'])
  expect(matching(all, '')).toHaveLength(2)
  expect(matching(all, 'openb')).toEqual([])
})

it('gives each a colour, and the simulator its own', () => {
  expect(new Set(['', 'a', 'b'].map((name) => colourOf(name, all))).size).toBe(3)
})
