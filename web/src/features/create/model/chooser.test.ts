import { expect, it } from 'vitest'
import { findTemplates, kindsOf } from './chooser'
import { templateIds } from './templateIds'

it('finds templates by every word of a search, and keeps their topics', () => {
  const known: Record<string, string> = {
    toleration: 'Toleration Node Pod',
    fullNode: 'Priority on a full node PriorityClass',
  }
  const found = (text: string) =>
    findTemplates(text, (id) => known[id] ?? '').map(({ topic, ids }) => `${topic}: ${ids.join(' ')}`)
  expect(found('node')).toEqual(['nodes: toleration', 'priority: fullNode'])
  expect(found('FULL priority')).toEqual(['priority: fullNode'])
  expect(found('nothing like it')).toEqual([])
  expect(findTemplates('', () => '').flatMap(({ ids }) => ids)).toEqual(templateIds)
})

it('names each kind of a manifest once', () => {
  expect(kindsOf('kind: Node\n---\nkind: Pod\nspec:\n  kind: X\n---\nkind: Pod\n')).toEqual(['Node', 'Pod'])
})
