import { describe, expect, it } from 'vitest'
import type { HypotheticalCycle } from '@/api/types'
import { parseText } from '@/features/yaml/model/documents'
import { copiesOf } from './clone'
import { mostCopies, placedOf, placesOf, questionOfText } from './prediction'

const pod = (name: string, spec = '{}') =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: "${name}", namespace: shop}\nspec: ${spec}\n`
const object = (kind: string, name: string, more = '') =>
  `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}}\n${more}`
const asked = (text: string, copies = 1) => questionOfText(copiesOf(parseText(text).entries, copies).entries)

describe('the question of a text', () => {
  it('is about its pod, with everything that matters to it, in the order of creation', () => {
    const found = asked(
      [
        pod('web'),
        object('PriorityClass', 'high', 'value: 1\n'),
        object('ConfigMap', 'c'),
        object('Node', 'n1'),
        object('Namespace', 'shop'),
        pod('there', '{nodeName: n1}'),
      ].join('---\n')
    )
    expect(found).toMatchObject({ pod: { metadata: { name: 'web' } }, names: ['web'], otherPods: 0 })
    expect(
      found?.question.changes?.map(({ apply }) => `${apply?.kind} ${(apply?.metadata as { name: string }).name}`)
    ).toEqual(['Namespace shop', 'PriorityClass high', 'Node n1', 'Pod there'])
    expect(found?.question.copies).toBeUndefined()
  })
  it('is about copies that differ in their names', () => {
    expect(asked(pod('web-1'), 3)).toMatchObject({
      names: ['web-1', 'web-2', 'web-3'],
      moreCopies: 0,
      question: { copies: 3 },
    })
    expect(asked(pod('web-1'), mostCopies + 20)).toMatchObject({ moreCopies: 20, question: { copies: mostCopies } })
  })
  it('is about the first of copies that differ in more', () => {
    expect(asked(pod('web-{n}', '{nodeSelector: {host: "n{n}"}}'), 3)).toMatchObject({
      names: ['web-1'],
      moreCopies: 2,
      pod: { spec: { nodeSelector: { host: 'n1' } } },
    })
  })
  it('is about the first of several pods', () => {
    expect(asked([pod('a'), pod('b'), pod('c')].join('---\n'))).toMatchObject({ names: ['a'], otherPods: 2 })
  })
  it('is about the pods of a workload', () => {
    const text =
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: ' +
      '2, template: {metadata: {labels: {app: web}}, spec: {containers: []}}}\n'
    expect(asked(text)).toMatchObject({
      names: ['web-1', 'web-2'],
      pod: {
        kind: 'Pod',
        metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
        spec: { containers: [] },
      },
      question: { copies: 2 },
    })
  })
  it.each([object('Node', 'n1'), object('ConfigMap', 'c'), pod('there', '{nodeName: n1}'), ''])(
    'is none without a pod: %#',
    (text) => {
      expect(asked(text)).toBeUndefined()
    }
  )
})

it('counts the places of copies, and which copies they are', () => {
  const cycles = ['b', 'a', 'b', undefined].map((selectedNode) => ({ selectedNode }) as HypotheticalCycle)
  expect(placesOf(cycles)).toEqual([
    { node: 'b', copies: [0, 2] },
    { node: 'a', copies: [1] },
  ])
  expect(placedOf(cycles)).toBe(3)
})
