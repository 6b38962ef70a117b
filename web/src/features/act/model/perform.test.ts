import { describe, expect, it } from 'vitest'
import { ApiError } from '@/api/http'
import type { KubeObject } from '@/api/types'
import { objectKey, type ObjectRef } from '@/kubernetes/object'
import { node, pod } from '@/kubernetes/testing'
import { nodeRef, podRef } from './links'
import { ChangedSince, NotRecreated, perform, type Server } from './perform'
import type { Write } from './write'

const keyOf = ({ namespace, name }: ObjectRef) => objectKey({ metadata: { name, ...(namespace ? { namespace } : {}) } })

/** A server with these objects. It notes its requests; `?` marks a dry run. */
function fake(...objects: KubeObject[]) {
  const stored = new Map(objects.map((o) => [objectKey(o), o]))
  const said: string[] = []
  let conflicts = 0
  let takenFor = 0
  const server: Server = {
    get(of) {
      const found = stored.get(keyOf(of))
      return found ? Promise.resolve(found) : Promise.reject(new ApiError('not found', 404))
    },
    patch(of, patch, dryRun) {
      said.push(`patch${dryRun ? '?' : ''} ${JSON.stringify(patch)}`)
      if (conflicts-- > 0) return Promise.reject(new ApiError('conflict', 409, [], [], 'Conflict'))
      return Promise.resolve({ ...(stored.get(keyOf(of)) ?? node('?')), patched: patch })
    },
    create(_kind, _namespace, object, dryRun) {
      const { name, generateName = '' } = object.metadata
      said.push(`create${dryRun ? '?' : ''} ${name ?? `${generateName}*`}`)
      if (!dryRun && takenFor-- > 0) return Promise.reject(new ApiError('exists', 409, [], [], 'AlreadyExists'))
      return Promise.resolve({
        ...object,
        metadata: { ...object.metadata, name: name ?? `${generateName}x`, uid: 'new' },
      })
    },
    remove(of, { dryRun, uid, grace }) {
      said.push(`delete${dryRun ? '?' : ''} ${of.name} ${uid ?? ''}${grace ? ' with its grace period' : ''}`)
      return Promise.resolve()
    },
    pause: (ms) => Promise.resolve(void said.push(`pause ${ms}`)),
  }
  return { server, said, conflict: (n: number) => (conflicts = n), taken: (n: number) => (takenFor = n) }
}

const version = (object: KubeObject, resourceVersion: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion, uid: 'old' },
})
const of = nodeRef('n')
const ref = podRef({ namespace: 'default', name: 'p' })

describe('a write', () => {
  it('tells the object before and after it', async () => {
    const { server, said } = fake(version(node('n'), '1'))
    const { before, after } = await perform({ op: 'merge', of, patch: { spec: { unschedulable: true } } }, server, true)
    expect([before?.patched, after?.patched]).toEqual([undefined, { spec: { unschedulable: true } }])
    expect(said).toEqual(['patch? {"spec":{"unschedulable":true}}'])
  })
  it('sends nothing when the object is already so', async () => {
    const { server, said } = fake(version(node('n', { a: '1' }), '1'))
    await perform({ op: 'merge', of, patch: { metadata: { labels: { a: '1' } } } }, server, false)
    await perform({ op: 'taints', of, add: [], remove: [{ key: 'k', effect: 'NoSchedule' }] }, server, false)
    expect(said).toEqual([])
  })
  it('of taints replaces exactly the version that it read, and reads again after a conflict', async () => {
    const { server, said, conflict } = fake(
      version({ ...node('n'), spec: { taints: [{ key: 'other', effect: 'NoSchedule' }] } }, '7')
    )
    conflict(1)
    await perform({ op: 'taints', of, add: [{ key: 'k', effect: 'NoExecute' }], remove: [] }, server, false)
    const patch =
      'patch {"metadata":{"resourceVersion":"7"},"spec":{"taints":[{"key":"other","effect":"NoSchedule"},{"key":' +
      '"k","effect":"NoExecute"}]}}'
    expect(said).toEqual([patch, patch])
  })
  it('gives up after five conflicts', async () => {
    const { server, said, conflict } = fake(version(node('n'), '7'))
    conflict(100)
    await expect(
      perform({ op: 'taints', of, add: [{ key: 'k', effect: 'NoExecute' }], remove: [] }, server, false)
    ).rejects.toThrow('conflict')
    expect(said).toHaveLength(5)
  })
  it('that undoes another one refuses to overwrite what came later', async () => {
    const undo: Write = { op: 'merge', of, patch: { spec: { replicas: 1 } }, expect: { spec: { replicas: 3 } } }
    const { server } = fake(version({ ...node('n'), spec: { replicas: 5 } }, '1'))
    await expect(perform(undo, server, false)).rejects.toThrow(ChangedSince)
    const { server: same, said } = fake(version({ ...node('n'), spec: { replicas: 3 } }, '4'))
    await perform(undo, same, false)
    expect(said).toEqual(['patch {"spec":{"replicas":1},"metadata":{"resourceVersion":"4"}}'])
  })
})

describe('recreating', () => {
  const write: Write = { op: 'recreate', of: ref, object: pod('p') }
  it('is tried under another name, because its own is still taken', async () => {
    const { server, said } = fake(version(pod('p'), '1'))
    const { after } = await perform(write, server, true)
    expect(said).toEqual(['delete? p old', 'create? p-*'])
    expect(after?.metadata.name).toBe('p')
    expect(after?.metadata.generateName).toBeUndefined()
  })
  it('waits until the name is free', async () => {
    const { server, said, taken } = fake(version(pod('p'), '1'))
    taken(2)
    await perform(write, server, false)
    expect(said).toEqual(['delete p old', 'create p', 'pause 250', 'create p', 'pause 250', 'create p'])
  })
  it('reports the lost object when it cannot be created again', async () => {
    const { server, taken } = fake(version(pod('p'), '1'))
    taken(1000)
    const failure = await perform(write, server, false).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(NotRecreated)
    expect((failure as NotRecreated).before.metadata.name).toBe('p')
  })
})

it('deletes exactly the object that it read', async () => {
  const { server, said } = fake(version(pod('p'), '1'))
  const { before, after } = await perform({ op: 'delete', of: ref }, server, false)
  expect([before?.metadata.name, after, said]).toEqual(['p', undefined, ['delete p old']])
})

describe('an eviction made early', () => {
  const ready = { type: 'Ready', status: 'True' }
  const evict: Write = { op: 'evict', of: ref, at: '2026-01-02T03:04:05Z' }
  const running = version(
    pod('p', { nodeName: 'n' }, { conditions: [ready, { type: 'DisruptionTarget', status: 'False' }] }),
    '7'
  )
  const marked = JSON.stringify({
    metadata: { resourceVersion: '7' },
    status: {
      conditions: [
        ready,
        {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'DeletionByTaintManager',
          message: 'Taint manager: deleting due to NoExecute taint',
          lastTransitionTime: '2026-01-02T03:04:05Z',
        },
      ],
    },
  })
  it('does what the taint eviction controller does, with the grace period of the pod', async () => {
    const { server, said } = fake(running)
    expect(await perform(evict, server, false)).toEqual({ before: running, after: undefined })
    expect(said).toEqual([`patch ${marked}`, 'delete p old with its grace period'])
  })
  it('is tried first, and reads the pod again when its kubelet was faster', async () => {
    const { server, said, conflict } = fake(running)
    conflict(1)
    await perform(evict, server, true)
    expect(said).toEqual([`patch? ${marked}`, `patch? ${marked}`, 'delete? p old with its grace period'])
  })
})
