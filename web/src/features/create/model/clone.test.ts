import { describe, expect, it } from 'vitest'
import type { KubeObject } from '@/api/types'
import { withoutServerMetadata } from '@/kubernetes/object'
import { cloneOf, copiesOf, nextName } from './clone'
import { parseText } from '@/features/yaml/model/documents'

const object = (o: object) => o as KubeObject

describe('cloneOf', () => {
  it('leaves out a pod’s identity, node and status', () => {
    const pod = object({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web-7f9c-x2k4',
        namespace: 'shop',
        generateName: 'web-7f9c-',
        uid: 'u',
        resourceVersion: '9',
        creationTimestamp: 't',
        ownerReferences: [{ kind: 'ReplicaSet', name: 'web-7f9c' }],
        labels: { app: 'web' },
        annotations: { 'kube-scheduler-simulator.sigs.k8s.io/selected-node': 'n', mine: 'kept' },
      },
      spec: {
        nodeName: 'node-1',
        priority: 0,
        serviceAccountName: 'default',
        tolerations: [
          { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
          { key: 'mine', operator: 'Exists' },
        ],
        volumes: [{ name: 'kube-api-access-abcde' }],
        containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'kube-api-access-abcde', mountPath: '/x' }] }],
      },
      status: { phase: 'Running' },
    })
    expect(cloneOf(pod, 'web-1')).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web-1', namespace: 'shop', labels: { app: 'web' }, annotations: { mine: 'kept' } },
      spec: { tolerations: [{ key: 'mine', operator: 'Exists' }], containers: [{ name: 'c', image: 'i' }] },
    })
  })
  it('keeps the capacity of a node and renames its hostname label', () => {
    const node = object({
      kind: 'Node',
      metadata: { name: 'node-1', labels: { 'kubernetes.io/hostname': 'node-1', zone: 'a' } },
      spec: { podCIDR: '10.0.0.0/24', taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
      status: { capacity: { cpu: '8' }, allocatable: { cpu: '8' }, nodeInfo: {} },
    })
    expect(cloneOf(node, 'node-2')).toEqual({
      kind: 'Node',
      metadata: { name: 'node-2', labels: { 'kubernetes.io/hostname': 'node-2', zone: 'a' } },
      status: {
        capacity: { cpu: '8' },
        allocatable: { cpu: '8' },
        conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
      },
    })
  })
  it('does not change the original', () => {
    const pod = object({ kind: 'Pod', metadata: { name: 'a', uid: 'u' }, spec: { nodeName: 'n' } })
    cloneOf(pod, 'b')
    expect(pod).toEqual({ kind: 'Pod', metadata: { name: 'a', uid: 'u' }, spec: { nodeName: 'n' } })
    expect(withoutServerMetadata(pod).metadata).toEqual({ name: 'a' })
  })
})

it('finds the next free name', () => {
  const taken = new Set(['node-1', 'node-2', 'web', 'web-1'])
  expect(['node-1', 'web', 'x'].map((n) => nextName(n, (name) => taken.has(name)))).toEqual(['node-3', 'web-2', 'x-1'])
})

const pod = (name: string, more = '') => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n${more}spec: {}\n`
const copied = (text: string, count: number, taken: string[] = []) => {
  const made = copiesOf(parseText(text).entries, count, (_, name) => taken.includes(name))
  return { ...made, entries: made.entries.map((e) => e.object) }
}

describe('copiesOf', () => {
  it('replaces {n} by the number everywhere in the document', () => {
    const { entries, names } = copied(pod('web-{n}-x', '  labels: {host: "h{n}"}\n'), 3)
    expect(entries.map((o) => `${o.metadata.name} ${o.metadata.labels?.host}`)).toEqual([
      'web-1-x h1',
      'web-2-x h2',
      'web-3-x h3',
    ])
    expect(names).toEqual({ first: 'web-1-x', last: 'web-3-x' })
  })
  it('numbers a single document without {n}, continues its number, and skips names in use', () => {
    const { entries } = copied(pod('node-4', '  labels: {kubernetes.io/hostname: node-4}\n'), 3, ['node-5'])
    expect(entries.map((o) => `${o.metadata.name} ${o.metadata.labels?.['kubernetes.io/hostname']}`)).toEqual([
      'node-4 node-4',
      'node-6 node-6',
      'node-7 node-7',
    ])
    expect(copied(pod('web'), 2).entries.map((o) => o.metadata.name)).toEqual(['web-1', 'web-2'])
  })
  it('copies only the documents with {n} if there are several', () => {
    const { entries } = copied(`${pod('once')}---\n${pod('many-{n}')}`, 2)
    expect(entries.map((o) => o.metadata.name)).toEqual(['once', 'many-1', 'many-2'])
  })
  it('copies none of several documents without {n}', () => {
    expect(copied(`${pod('a')}---\n${pod('b')}`, 5)).toMatchObject({ unclear: true, entries: [{}, {}] })
  })
  it('does not change a single copy', () => {
    expect(copied(pod('a'), 1).entries.map((o) => o.metadata.name)).toEqual(['a'])
    expect(copied(pod('a-{n}'), 1).entries.map((o) => o.metadata.name)).toEqual(['a-1'])
  })
  it('leaves generated names to the server', () => {
    const { entries } = copied('apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec: {}\n', 2)
    expect(entries.map((o) => o.metadata)).toEqual([{ generateName: 'p-' }, { generateName: 'p-' }])
  })
  it('keeps the lines of the document', () => {
    const made = copiesOf(parseText(`${pod('once')}---\n${pod('many-{n}')}`).entries, 2)
    expect(made.entries.map((e) => e.lineOf('metadata.name'))).toEqual([4, 10, 10])
  })
})
