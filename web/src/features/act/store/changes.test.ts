import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/http'
import * as kubernetes from '@/api/kubernetes'
import type { KubeObject } from '@/api/types'
import { node } from '@/kubernetes/testing'
import { mockFunctions } from '@/ui/testing'
import { nodeRef } from '../model/links'
import type { Write } from '../model/write'
import { entries } from './asked'
import { makeWrites, remember, triedAtMost, tryWrites, undo, undoneAtMost } from './changes'

const { getObject: get, patchObject: patch } = mockFunctions(
  kubernetes,
  'getObject',
  'patchObject',
  'deleteObject',
  'createObject'
)

const cordon = (name: string): Write => ({ op: 'merge', of: nodeRef(name), patch: { spec: { unschedulable: true } } })
const stored = new Map<string, KubeObject>()
const run = (writes: Write[], signal = new AbortController().signal) =>
  makeWrites(writes, { signal, progress: () => {}, action: 'label/1' })

beforeEach(() => {
  entries.value = []
  stored.clear()
  get.mockImplementation((_kind, _namespace, name) => Promise.resolve(stored.get(name) ?? { ...node(name), spec: {} }))
  patch.mockImplementation((_kind, _namespace, name, change, dryRun) => {
    const after: KubeObject = { ...node(name), spec: (change as { spec: object }).spec }
    if (!dryRun) stored.set(name, after)
    return Promise.resolve(after)
  })
})
afterEach(() => vi.resetAllMocks())

it('tries writes as dry runs, in their order, and not more than one reads', async () => {
  const results = await tryWrites(Array.from({ length: 30 }, (_, i) => cordon(`n${i}`)))
  expect(results.map((r) => r.write.of.name)).toEqual(Array.from({ length: triedAtMost }, (_, i) => `n${i}`))
  expect(patch.mock.calls.every(([, , , , dryRun]) => dryRun === true)).toBe(true)
  expect(stored.size).toBe(0)
})

it('remembers what was changed, and undoes exactly that', async () => {
  patch.mockRejectedValueOnce(new ApiError('no quorum', 500))
  const results = await run([cordon('n1'), cordon('n2'), cordon('n3')])
  expect(results.filter((r) => r.error !== undefined)).toHaveLength(1)
  const entry = remember('cordon', results)
  expect(entry?.refs).toHaveLength(2)
  expect(entries.value[0]).toBe(entry)
  if (entry) await undo(entry)
  expect(entry?.state).toBe('undone')
  const undone = patch.mock.calls.slice(3)
  expect(undone.map(([, , name, change]) => [name, (change as { spec: object }).spec])).toEqual(
    entry?.refs.map(({ name }) => [name, { unschedulable: null }])
  )
  if (entry) await undo(entry)
  expect(patch.mock.calls).toHaveLength(5)
})

it('keeps what could not be undone, to try it again', async () => {
  const entry = remember('cordon', await run([cordon('n1'), cordon('n2')]))
  stored.set('n2', { ...node('n2'), spec: { unschedulable: false } })
  if (entry) await undo(entry)
  expect(entry).toMatchObject({ state: 'failed', problem: { changed: true } })
  expect(entry?.undo.map((w) => w.of.name)).toEqual(['n2'])
})

it('offers no undo for a restart, nor for more objects than it keeps', async () => {
  expect(remember('restart', await run([cordon('n1')]))?.undo).toEqual([])
  const many = await run(Array.from({ length: undoneAtMost + 1 }, (_, i) => cordon(`n${i}`)))
  expect(remember('cordon', many)?.undo).toEqual([])
})

it('remembers nothing when nothing was changed', async () => {
  patch.mockRejectedValue(new ApiError('no', 403))
  expect(remember('cordon', await run([cordon('n1')]))).toBeUndefined()
  expect(entries.value).toEqual([])
})

it('starts no further writes once it is stopped', async () => {
  const stop = new AbortController()
  stop.abort()
  expect(await run([cordon('n1')], stop.signal)).toEqual([])
})
