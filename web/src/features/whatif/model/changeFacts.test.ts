import { expect, it } from 'vitest'
import type { Change, KubeObject } from '@/api/types'
import { changedItems, changedObjects, type Gist } from './changeFacts'

const taints = [{ key: 'gpu', value: 'present', effect: 'NoSchedule' }]
const node: KubeObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels: { 'example.com/pool': 'a' }, resourceVersion: '1' },
  spec: { taints, podCIDR: '10.0.0.0/24' },
  status: { allocatable: { cpu: '8', 'example.com/gpu': '2' }, conditions: [{ type: 'Ready' }] },
}
const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' }
const patched = (patch: Record<string, unknown>): Change => ({ patch: { ...target, patch } })

it.each<[what: string, change: Change, gist: Gist]>([
  ['a taint that goes', patched({ spec: { taints: null } }), { kind: 'untainted', taint: 'gpu=present:NoSchedule' }],
  [
    'a taint that comes',
    patched({ spec: { taints: [...taints, { key: 'x', effect: 'NoExecute' }] } }),
    { kind: 'tainted', taint: 'x:NoExecute' },
  ],
  ['a cordon', patched({ spec: { unschedulable: true } }), { kind: 'cordoned' }],
  [
    'a label',
    patched({ metadata: { labels: { 'example.com/pool': 'b' } } }),
    { kind: 'label', key: 'example.com/pool', from: 'a', to: 'b' },
  ],
  [
    'a new label',
    patched({ metadata: { labels: { disk: 'ssd' } } }),
    { kind: 'label', key: 'disk', from: '', to: 'ssd' },
  ],
  [
    'an amount',
    patched({ status: { allocatable: { cpu: '16' } } }),
    { kind: 'value', name: 'cpu', from: '8', to: '16' },
  ],
  [
    'an amount of a resource with a domain',
    patched({ status: { allocatable: { 'example.com/gpu': '4' } } }),
    { kind: 'value', name: 'example.com/gpu', from: '2', to: '4' },
  ],
  ['a list', patched({ spec: { podCIDRs: ['10.0.0.0/24'] } }), { kind: 'field', path: 'spec.podCIDRs' }],
  ['several fields', patched({ spec: { unschedulable: true, podCIDR: null } }), { kind: 'fields', count: 2 }],
  ['a field of the server', patched({ metadata: { resourceVersion: '2' } }), { kind: 'nothing' }],
  ['a deletion', { delete: target }, { kind: 'deleted' }],
  [
    'copies',
    { apply: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }, count: 3 },
    { kind: 'copies', count: 3 },
  ],
])('says the gist of %s', (_what, change, gist) => {
  expect(changedObjects({ changes: [change] }, () => node).map((c) => c.gist)).toEqual([gist])
})

it('adds an object that does not exist', () => {
  expect(
    changedObjects(
      { changes: [{ apply: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n9' } } }] },
      () => undefined
    )[0]
  ).toMatchObject({ gist: { kind: 'added' }, before: undefined, after: { metadata: { name: 'n9' } } })
})

it('takes the changes of one object together, but not its copies', () => {
  const found = changedObjects(
    {
      changes: [
        patched({ spec: { taints: null } }),
        { apply: { ...target, metadata: { name: 'n1' } }, count: 2 },
        patched({ spec: { unschedulable: true } }),
      ],
    },
    () => node
  )
  expect(found.map(({ changes, gist }) => [changes.length, gist.kind])).toEqual([
    [2, 'fields'],
    [1, 'copies'],
  ])
  expect(found[0]?.fields).toEqual([
    { path: 'spec.taints', from: taints, to: undefined },
    { path: 'spec.unschedulable', from: undefined, to: true },
  ])
})

it('of a list, only the items of one side have changed, whatever the order of their fields is', () => {
  const [stays, again, added] = [{ key: 'a', effect: 'NoExecute' }, { effect: 'NoExecute', key: 'a' }, { key: 'b' }]
  expect(changedItems({ path: 'spec.tolerations', from: [stays], to: [again, added] })).toEqual({
    gone: [],
    come: [added],
  })
  expect(changedItems({ path: 'spec.tolerations', from: [stays, added], to: [again] })).toEqual({
    gone: [added],
    come: [],
  })
  expect(changedItems({ path: 'spec.tolerations', from: [stays, stays], to: [again] })).toEqual({
    gone: [stays],
    come: [],
  })
  expect(changedItems({ path: 'spec.tolerations', from: [stays, added], to: [added, stays] })).toBeUndefined()
  expect(changedItems({ path: 'spec.tolerations', from: undefined, to: [added] })).toBeUndefined()
})
