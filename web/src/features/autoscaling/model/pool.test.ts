import { describe, expect, it } from 'vitest'
import type { KubeObject } from '@/api/types'
import { toYaml } from '@/features/yaml/model/documents'
import { changeOf, examplePool, textOf } from './pool'

const pool: KubeObject = {
  ...examplePool,
  metadata: { name: 'general', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
  status: { conditions: [] },
}
const pools = new Map([['general', pool]])

it('edits what a user writes, and nothing of the server', () => {
  expect(textOf(pool)).toBe(toYaml(examplePool))
  expect(changeOf(textOf(pool), pools)?.patch?.patch).toEqual({})
})

describe('the change of a text', () => {
  it('is a patch of the NodePool of its name', () => {
    expect(changeOf(textOf(pool).replace('cpu: "100"', 'cpu: "50"'), pools)).toEqual({
      patch: {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodePool',
        name: 'general',
        patch: { spec: { limits: { cpu: '50' } } },
      },
    })
  })
  it('is a new NodePool under another name', () => {
    expect(changeOf(textOf(pool).replace('name: general', 'name: spot'), pools)?.apply).toMatchObject({
      kind: 'NodePool',
      metadata: { name: 'spot' },
    })
  })
  it.each([
    ['another kind', 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n'],
    ['several documents', `${textOf(pool)}---\n${textOf(pool)}`],
    ['no YAML', '{'],
    ['nothing', ''],
  ])('is none for %s', (_, text) => {
    expect(changeOf(text, pools)).toBeUndefined()
  })
})
