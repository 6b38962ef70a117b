import { describe, expect, it } from 'vitest'
import type { Change, KindInfo, KubeObject } from '@/api/types'
import { nodeKind, podKind } from '@/kubernetes/kinds'
import { workloadKinds } from '@/kubernetes/workloads'
import { realChanges, writesOf, type Present, type RealChange } from './realChanges'

const kinds: KindInfo[] = [nodeKind, podKind, ...workloadKinds]
const kindNamed = (name: string) => kinds.find((k) => k.kind === name) as KindInfo
const node: KubeObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels: { pool: 'a' } },
  spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
  status: { allocatable: { cpu: '8' } },
}
const container = { name: 'c', image: 'i', resources: { requests: { cpu: '2' } } }
const injected = { volumeMounts: [{ name: 'kube-api-access-x', mountPath: '/var/run' }] }
const pod = (name: string, owner?: string): KubeObject => ({
  metadata: {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    ...(owner ? { ownerReferences: [{ kind: owner, name: 'web', controller: true }] } : {}),
  },
  spec: {
    containers: [{ ...container, ...injected }],
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
    volumes: [{ name: 'kube-api-access-x' }],
  },
  status: { phase: 'Pending' },
})
const template: KubeObject = {
  metadata: { labels: { app: 'web' } } as unknown as KubeObject['metadata'],
  spec: { containers: [container], priorityClassName: 'high' },
}
const workload: KubeObject = { metadata: { namespace: 'shop', name: 'web' }, spec: { replicas: 3, template } }

const stored = new Map([
  ['Node/n1', node],
  ['Node/n1-2', node],
  ['Pod/own', pod('own')],
  ['Pod/made', pod('made', 'ReplicaSet')],
])
const present = (owner?: string): Present => ({
  kindOf: ({ kind }) => kinds.find((k) => k.kind === kind),
  objectOf: ({ kind, name }) => stored.get(`${kind}/${name}`),
  copiesOf: () => undefined,
  workloadOf: () => (owner ? { kind: kindNamed(owner), object: workload } : undefined),
})
const nodeTarget = { apiVersion: 'v1', kind: 'Node', name: 'n1' }
const podTarget = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name })
const patch = (target: object, value: object): Change => ({
  patch: { ...target, patch: value } as unknown as Change['patch'],
})
const cheaper = (name: string) =>
  patch(podTarget(name), { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] } })
const one = (change: Change, around = present()): RealChange => realChanges([change], around)[0] as RealChange

it('changes a node, and its status with a request of its own, unless somebody else did', () => {
  const found = realChanges(
    [patch(nodeTarget, { spec: { taints: null } }), patch(nodeTarget, { status: { allocatable: { cpu: '16' } } })],
    present()
  )
  expect(found).toMatchObject([{ kind: 'change', target: nodeTarget }])
  expect(writesOf(found)).toEqual([
    {
      op: 'merge',
      of: { kind: nodeKind, namespace: undefined, name: 'n1' },
      patch: { spec: { taints: null } },
      expect: { spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] } },
    },
    {
      op: 'merge',
      of: { kind: nodeKind, namespace: undefined, name: 'n1' },
      patch: { status: { allocatable: { cpu: '16' } } },
      expect: { status: { allocatable: { cpu: '8' } } },
      subresource: 'status',
    },
  ])
})

it('creates copies under the names of the engine, which skips those that exist', () => {
  const found = one({ apply: node as unknown as Change['apply'], count: 2 })
  expect(writesOf([found]).map((w) => w.of.name)).toEqual(['n1-1', 'n1-3'])
})

it('creates what comes with copies of a node, as the server says', () => {
  const names = ['csi', 'n1-1']
  const around = {
    ...present(),
    copiesOf: () => names.map((name) => ({ apply: { ...node, metadata: { name } } as unknown as Change['apply'] })),
  }
  expect(
    writesOf([one({ apply: node as unknown as Change['apply'], count: 1 }, around)]).map((w) => [w.op, w.of.name])
  ).toEqual([
    ['create', 'csi'],
    ['create', 'n1-1'],
  ])
})

it('deletes exactly the pod that was there', () => {
  expect(one({ delete: podTarget('own') })).toEqual({
    kind: 'delete',
    target: podTarget('own'),
    writes: [{ op: 'delete', of: { kind: podKind, namespace: 'shop', name: 'own' }, uid: 'uid-own' }],
  })
})

describe('a pod', () => {
  it('gets a toleration and loses a gate in place', () => {
    const spec = pod('own').spec as { tolerations: object[] }
    expect(
      one(patch(podTarget('own'), { spec: { tolerations: [...spec.tolerations, { key: 'gpu', operator: 'Exists' }] } }))
        .kind
    ).toBe('change')
    expect(one(patch(podTarget('own'), { spec: { tolerations: [] } })).kind).toBe('recreate')
  })
  it('of its own is created again without what admission added', () => {
    const [write] = writesOf([one(cheaper('own'))])
    expect(write).toMatchObject({
      op: 'recreate',
      object: {
        metadata: { name: 'own', namespace: 'shop' },
        spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
      },
    })
    expect(JSON.stringify(write)).not.toMatch(/kube-api-access|not-ready|uid-own/)
  })
  it('that is deleted and applied is created again', () => {
    const found = realChanges(
      [
        { delete: podTarget('own') },
        {
          apply: {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { namespace: 'shop', name: 'own' },
            spec: { containers: [] },
          },
        },
      ],
      present()
    )
    expect(found).toMatchObject([{ kind: 'recreate', writes: [{ op: 'recreate' }] }])
  })
  it.each([
    ['Deployment', false],
    ['StatefulSet', true],
    ['ReplicaSet', true],
  ])('of a %s changes in its template', (owner, replaces) => {
    const found = one(cheaper('made'), present(owner))
    expect(found).toMatchObject({
      kind: 'template',
      workload: { name: 'web', namespace: 'shop', kind: { kind: owner } },
      replaces,
    })
    const [merge, ...rest] = writesOf([found])
    expect(merge).toMatchObject({
      op: 'merge',
      patch: {
        spec: {
          template: { spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] } },
        },
      },
    })
    expect(JSON.stringify(merge)).not.toMatch(/kube-api-access|priorityClassName/)
    expect(rest.map((w) => w.op)).toEqual(replaces ? ['delete'] : [])
  })
  it('of a job cannot change', () => {
    expect(one(cheaper('made'), present('Job'))).toMatchObject({ kind: 'impossible', why: 'fixedTemplate' })
  })
})

it.each<[what: string, change: Change, why: string]>([
  ['a kind that is not served', { delete: { apiVersion: 'x/v1', kind: 'Gone', name: 'a' } }, 'unknownKind'],
  ['an object that is gone', { delete: podTarget('gone') }, 'gone'],
  ['a patch of an object that is gone', cheaper('gone'), 'gone'],
])('says that %s cannot change', (_what, change, why) => {
  expect(one(change)).toMatchObject({ kind: 'impossible', why })
})

it('leaves out what would change nothing', () => {
  expect(realChanges([patch(nodeTarget, { metadata: { labels: { pool: 'a' } } })], present())).toEqual([])
})
