import { expect, it } from 'vitest'
import type { Problem } from './documents'
import { fixesOf } from './fixes'
import type { SchemaSource } from './schema'
import type { Lines } from './yamlSpot'

const source: SchemaSource = {
  root: async ({ kind }) =>
    kind === 'Pod'
      ? {
          schema: {
            type: 'object',
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              spec: { type: 'object', properties: { nodeName: { type: 'string' }, hostNetwork: { type: 'boolean' } } },
            },
          },
          resolve: () => undefined,
        }
      : undefined,
  heads: async () => [],
}
const linesOf = (text: string): Lines => {
  const lines = text.split('\n')
  return { count: lines.length, line: (n) => lines[n - 1] ?? '' }
}
const at = (line: number): Problem => ({ line, message: `unknown field on line ${line}` })
const fixes = async (text: string, ...problems: Problem[]) =>
  [...(await fixesOf(source, linesOf(text), problems))].map(([problem, fix]) => ({ line: problem.line, ...fix }))

it('replaces a mistyped key of the schema, and only the key', async () => {
  expect(await fixes('apiVersion: v1\nkind: Pod\nspec:\n  nodeNmae: n', at(4))).toEqual([
    { line: 4, from: 2, to: 10, text: 'nodeName' },
  ])
})

it('has no fix for a key that resembles none, for a correct key, or for a kind without a schema', async () => {
  expect(await fixes('apiVersion: v1\nkind: Pod\nspec:\n  volumes: []\n  nodeName: n', at(4), at(5))).toEqual([])
  expect(await fixes('apiVersion: v1\nkind: Node\nspec:\n  nodeNmae: n', at(4))).toEqual([])
})

it('has no fix for a problem outside the text', async () => {
  expect(await fixes('apiVersion: v1\nkind: Pod\nspecc: {}', at(0), at(3), at(4))).toEqual([
    { line: 3, from: 0, to: 5, text: 'spec' },
  ])
})
