import { describe, expect, it } from 'vitest'
import type { Change, KubeObject } from '@/api/types'
import {
  includes,
  isEmpty,
  isRealizable,
  noHypothesis,
  objectThen,
  questionOf,
  readHypothesis,
  replaced,
  sizeOf,
  targetsOf,
  withDecider,
  withObject,
  type Hypothesis,
} from './hypothesis'

const node: KubeObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
}
const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' }
const untaint: Change = { patch: { ...target, patch: { spec: { taints: null } } } }
const cordon: Change = { patch: { ...target, patch: { spec: { unschedulable: true } } } }
const more: Change = { apply: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }, count: 3 }
const evict: Change = { delete: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'etl' } }
const of = (...changes: Change[]): Hypothesis => ({ changes })

it('is empty until it supposes something', () => {
  expect([isEmpty(noHypothesis), isEmpty(of(untaint)), isEmpty({ changes: [], profile: 'a' })]).toEqual([
    true,
    false,
    false,
  ])
  expect(sizeOf({ changes: [untaint, evict], configuration: 'kind: x' })).toBe(3)
})

it('asks another scheduler, which is none of the changes to the cluster', () => {
  const asked: Hypothesis = { changes: [], profile: 'packing', kubernetesVersion: '1.35' }
  expect(readHypothesis(asked)).toEqual(asked)
  expect(readHypothesis({ ...asked, kubernetesVersion: 1.35 })).toBeUndefined()
  expect(questionOf(asked, { namespace: 'shop', name: 'etl' })).toEqual({
    podRef: { namespace: 'shop', name: 'etl' },
    profile: 'packing',
    kubernetesVersion: '1.35',
  })
  expect([isRealizable(asked), isRealizable({ ...asked, configuration: 'kind: x' }), isRealizable(of(evict))]).toEqual([
    false,
    true,
    true,
  ])
  expect(withDecider(asked, { profile: '', kubernetesVersion: '1.36' })).toEqual({
    changes: [],
    kubernetesVersion: '1.36',
  })
})

describe('an object in a hypothesis', () => {
  it('has all changes in their order', () => {
    expect(objectThen(of(untaint, cordon), target, node)?.spec).toEqual({ unschedulable: true })
    expect(objectThen(of(untaint, evict), { ...target, name: 'n2' }, node)).toBe(node)
  })
  it('is created by apply, and is not there after its deletion', () => {
    const created = objectThen(
      of({ apply: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: { a: 1 } } }),
      target,
      undefined
    )
    expect(created).toMatchObject({ metadata: { name: 'n1' }, spec: { a: 1 } })
    expect(objectThen(of({ delete: target }), target, node)).toBeUndefined()
  })
  it('is not changed by copies of it', () => {
    expect(objectThen(of(more), target, node)).toBe(node)
    expect(targetsOf(of(more, untaint, cordon, evict)).map((t) => t.name)).toEqual(['n1', 'etl'])
  })
})

describe('editing an object', () => {
  it('replaces its earlier changes by one patch, and keeps those of others', () => {
    const then = { ...node, spec: { taints: [{ key: 'gpu', effect: 'NoExecute' }] } }
    expect(withObject(of(untaint, evict, more), target, node, then).changes).toEqual([
      evict,
      more,
      { patch: { ...target, patch: { spec: { taints: [{ key: 'gpu', effect: 'NoExecute' }] } } } },
    ])
  })
  it('drops the change when nothing differs any more', () => {
    expect(withObject(of(untaint), target, node, node).changes).toEqual([])
  })
  it('creates a pod anew whose spec differs', () => {
    const now: KubeObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'shop', name: 'etl', uid: 'u' },
      spec: { priority: 0 },
      status: { phase: 'Pending' },
    }
    const pod = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'etl' }
    expect(withObject(noHypothesis, pod, now, { ...now, spec: { priority: 1 } }).changes).toEqual([
      { delete: pod },
      { apply: { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'shop', name: 'etl' }, spec: { priority: 1 } } },
    ])
    expect(
      withObject(noHypothesis, pod, now, { ...now, metadata: { ...now.metadata, labels: { a: 'b' } } }).changes
    ).toEqual([{ patch: { ...pod, patch: { metadata: { labels: { a: 'b' } } } } }])
  })
  it('deletes and creates', () => {
    expect(withObject(noHypothesis, target, node, undefined).changes).toEqual([{ delete: target }])
    expect(withObject(noHypothesis, target, undefined, node).changes).toEqual([{ apply: node }])
  })
})

it('adds and removes the changes of a suggestion', () => {
  const tried = replaced(of(evict), [], [untaint, cordon])
  expect([includes(tried, [untaint, cordon]), includes(of(evict), [untaint])]).toEqual([true, false])
  expect(replaced(tried, [untaint, cordon], []).changes).toEqual([evict])
})

it('asks about a pod of the cluster, or about its own', () => {
  expect(questionOf(of(evict), { namespace: 'shop', name: 'web' })).toEqual({
    podRef: { namespace: 'shop', name: 'web' },
    changes: [evict],
  })
  expect(questionOf({ changes: [], pod: 'kind: Pod', profile: 'p', configuration: 'c' }, undefined)).toEqual({
    pod: 'kind: Pod',
    profile: 'p',
    configuration: 'c',
  })
})

describe('a hypothesis from elsewhere', () => {
  it.each<[what: string, value: unknown]>([
    ['no object', 'text'],
    ['no changes', {}],
    ['a change of nothing', { changes: [{}] }],
    ['two changes in one', { changes: [{ ...untaint, ...evict }] }],
    ['a target without a name', { changes: [{ delete: { apiVersion: 'v1', kind: 'Pod' } }] }],
    ['a patch that is text', { changes: [{ patch: { ...target, patch: 'spec' } }] }],
    ['no copies', { changes: [{ ...more, count: 0 }] }],
    ['a configuration that is no text', { changes: [], configuration: {} }],
    ['too many changes', { changes: Array.from({ length: 101 }, () => evict) }],
  ])('is refused with %s', (_what, value) => {
    expect(readHypothesis(value)).toBeUndefined()
  })
  it('keeps only what belongs to it', () => {
    expect(readHypothesis({ changes: [untaint, more, evict], profile: 'p', more: 1 })).toEqual({
      changes: [untaint, more, evict],
      profile: 'p',
    })
  })
})
