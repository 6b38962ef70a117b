import { expect, it } from 'vitest'
import type { ShadowItem } from '@/api/types'
import { consequenceOf } from './consequence'

const item = (name: string, live: string, shadow: string, by = '', verdict = live === shadow ? 'same' : 'elsewhere') =>
  ({
    pod: { namespace: 'default', name, uid: name },
    owner: { kind: 'ReplicaSet', name: name.replace(/-.*/, '') },
    live: { node: live },
    shadow: { node: shadow },
    verdict,
    differs: verdict !== 'same' && verdict !== 'asGood',
    ...(by ? { partedBy: { plugin: by, extensionPoint: 'score', by: 'shadow', node: shadow } } : {}),
  }) as unknown as ShadowItem

it('says who decided, where to, and what the nodes get', () => {
  const found = consequenceOf([
    item('web-1', 'a', 'c', 'NodeResourcesFit'),
    item('web-2', 'b', 'c', 'NodeResourcesFit'),
    item('web-3', 'c', 'c'),
    item('api-1', 'a', 'b', 'PodTopologySpread'),
    item('api-2', 'a', 'b', '', 'asGood'),
    item('db-1', '', 'c', '', 'placed'),
  ])
  expect(found).toMatchObject({ plugin: 'NodeResourcesFit', extensionPoint: 'score', decided: 2, to: 'c', toCount: 3 })
  expect(Object.fromEntries(found.landings)).toEqual({
    a: { before: 3, after: 1 },
    b: { before: 1, after: 1 },
    c: { before: 1, after: 4 },
  })
  expect(found.moved).toEqual([
    { workload: 'web', moved: 2, of: 3, from: ['a', 'b'], to: ['c'], plugin: 'NodeResourcesFit' },
    { workload: 'api', moved: 1, of: 2, from: ['a'], to: ['b'], plugin: 'PodTopologySpread' },
    { workload: 'db', moved: 1, of: 1, from: [''], to: ['c'], plugin: undefined },
  ])
})

it('says nothing about decisions that stay the same', () =>
  expect(consequenceOf([item('web-1', 'a', 'a')])).toMatchObject({ plugin: undefined, to: '', toCount: 0, moved: [] }))
