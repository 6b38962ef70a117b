import { describe, expect, it } from 'vitest'
import { deploymentKind, workloadKinds } from '@/kubernetes/workloads'
import { node, pod } from '@/kubernetes/testing'
import { nodeRef, podRef } from './links'
import { menuOf } from './menu'
import { applies, noInput, parseLabel, parseTaint, writesOf, type Verb } from './verbs'

const around = { objectOf: () => undefined, now: '2026-01-01T00:00:00Z' }
const deployment = { kind: deploymentKind, namespace: 'shop', name: 'web' }
const patchOf = (verb: Verb, input = {}) =>
  writesOf(verb, [deployment], { ...noInput, ...input }, around).map((w) => 'patch' in w && w.patch)

describe('the writes of a verb', () => {
  it('are those of kubectl', () => {
    expect(patchOf('scale', { replicas: 3 })).toEqual([{ spec: { replicas: 3 } }])
    expect(patchOf('restart')).toEqual([
      {
        spec: {
          template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' } } },
        },
      },
    ])
    expect(patchOf('uncordon')).toEqual([{ spec: { unschedulable: null } }])
    expect(patchOf('unreachable')).toEqual([
      { metadata: { annotations: { 'kube-scheduler-simulator.sigs.k8s.io/failure': 'unreachable' } } },
    ])
  })
  it('remove the named gates and keep the others', () => {
    const gated = (of: { name: string }) => pod(of.name, { schedulingGates: [{ name: 'a' }, { name: 'b' }] })
    const patches = (gates: string[]) =>
      writesOf(
        'ungate',
        [podRef({ namespace: 'default', name: 'p' })],
        { ...noInput, gates },
        { ...around, objectOf: gated }
      ).map((w) => 'patch' in w && w.patch)
    expect(patches(['a'])).toEqual([{ spec: { schedulingGates: [{ name: 'b' }] } }])
    expect(patches(['a', 'b'])).toEqual([{ spec: { schedulingGates: null } }])
  })
  it('are none before anything is entered', () => {
    for (const verb of ['scale', 'taint', 'label'] as const) expect(patchOf(verb)).toEqual([])
  })
  it('recreate a bare pod without its node, and leave a pod with a controller to it', () => {
    const bare = podRef({ namespace: 'default', name: 'bare' })
    const owned = podRef({ namespace: 'default', name: 'owned' })
    const objectOf = (of: { name: string }) =>
      pod(
        of.name,
        { nodeName: 'n1', schedulerName: 'mine' },
        {},
        of.name === 'owned' ? { ownerReferences: [{ kind: 'ReplicaSet', name: 'r', controller: true }] } : {}
      )
    const [first, second] = writesOf('recreate', [bare, owned], noInput, { ...around, objectOf })
    expect(first).toMatchObject({
      op: 'recreate',
      object: { metadata: { name: 'bare' }, spec: { schedulerName: 'mine' } },
    })
    expect(first && 'object' in first && (first.object.spec as object)).not.toHaveProperty('nodeName')
    expect(second).toEqual({ op: 'delete', of: owned })
  })
})

it('applies a verb where it makes sense', () => {
  const at = (nodeName?: string) =>
    applies('evict', podRef({ namespace: 'default', name: 'p' }), pod('p', nodeName ? { nodeName } : {}))
  expect([at('n'), at(), applies('evict', nodeRef('n'), node('n'))]).toEqual([true, false, false])
  const cordoned = { ...node('n'), spec: { unschedulable: true } }
  expect(applies('cordon', nodeRef('n'), cordoned)).toBe(false)
  expect(applies('uncordon', nodeRef('n'), cordoned)).toBe(true)
  expect(applies('uncordon', nodeRef('n'), node('n'))).toBe(false)
  const scalable = workloadKinds
    .filter((kind) => applies('scale', { ...deployment, kind }, undefined))
    .map((k) => k.kind)
  expect(scalable).toEqual(['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController'])
})

it('offers in a menu the pages about one object and what applies to it', () => {
  const ids = (...args: Parameters<typeof menuOf>) =>
    menuOf(...args).map((entry) => (entry.kind === 'clone' ? 'clone' : entry.id))
  expect(ids([nodeRef('n')], () => node('n'))).toEqual([
    'open',
    'pods',
    'decisions',
    'taint',
    'label',
    'cordon',
    'drain',
    'notReady',
    'unreachable',
    'delete',
  ])
  expect(
    ids([nodeRef('a'), nodeRef('b')], ({ name }) =>
      name === 'a' ? node('a') : { ...node('b'), spec: { unschedulable: true } }
    )
  ).toEqual(['taint', 'label', 'cordon', 'uncordon', 'drain', 'notReady', 'unreachable', 'delete'])
  expect(ids([deployment], () => undefined)).toEqual([
    'open',
    'pods',
    'decisions',
    'scale',
    'restart',
    'label',
    'clone',
    'delete',
  ])
  const owned = pod('web-1', {}, {}, { ownerReferences: [{ kind: 'StatefulSet', name: 'web', controller: true }] })
  expect(ids([podRef({ namespace: 'default', name: 'web-1' })], () => owned)).toEqual([
    'decision',
    'yaml',
    'owner',
    'label',
    'clone',
    'recreate',
    'delete',
  ])
})

it.each([
  ['team=blue:NoSchedule', { add: { key: 'team', value: 'blue', effect: 'NoSchedule' } }],
  ['example.com/gpu:NoExecute', { add: { key: 'example.com/gpu', effect: 'NoExecute' } }],
  ['team:NoSchedule-', { remove: { key: 'team', effect: 'NoSchedule' } }],
  ['team=blue', undefined],
  ['team=blue:Never', undefined],
])('parses the taint %s as kubectl does', (text, taint) => expect(parseTaint(text)).toEqual(taint))

it.each([
  ['tier=web', { key: 'tier', value: 'web' }],
  ['tier=', { key: 'tier', value: '' }],
  ['tier-', { key: 'tier', value: null }],
  ['tier', undefined],
])('parses the label %s as kubectl does', (text, label) => expect(parseLabel(text)).toEqual(label))
