import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import * as kubernetes from '@/api/kubernetes'
import { nodeKind, podKind } from '@/kubernetes/kinds'
import { withSetup } from '@/ui/testing'
import { useDeletion } from './useDeletion'

vi.mock('@/api/kubernetes', async (original) => ({ ...(await original<typeof kubernetes>()), deleteObject: vi.fn() }))
const remove = vi.mocked(kubernetes.deleteObject)
const gone = vi.fn()
const finished = vi.fn()
const of = async (kind: typeof podKind, keys: string[]) => (await withSetup(() => useDeletion({ kind, keys }, gone, finished))).value

beforeEach(() => {
  remove.mockResolvedValue()
})
afterEach(() => vi.resetAllMocks())

it('deletes several objects and finishes', async () => {
  const deletion = await of(podKind, ['default/a', 'kube-system/b'])
  expect(deletion.phase.value).toBe('asking')
  await deletion.remove()
  expect(remove.mock.calls.map(([, namespace, name]) => [namespace, name])).toEqual([['default', 'a'], ['kube-system', 'b']])
  expect(gone).toHaveBeenCalledWith(['default/a', 'kube-system/b'])
  expect(finished).toHaveBeenCalledOnce()
})

it('uses the key of a cluster-scoped object as its name', async () => {
  const deletion = await of(nodeKind, ['n/1'])
  await deletion.remove()
  expect(remove).toHaveBeenCalledWith(nodeKind, undefined, 'n/1')
})

it('lists objects that could not be deleted, and retries only those', async () => {
  const deletion = await of(podKind, ['default/a', 'default/b'])
  remove.mockImplementation((_kind, _namespace, name) => (name === 'b' ? Promise.reject(new Error('forbidden')) : Promise.resolve()))
  await deletion.remove()
  expect([deletion.phase.value, deletion.left.value, deletion.failed.value]).toEqual(['done', ['default/b'], [{ key: 'default/b', message: 'forbidden' }]])
  expect(gone).toHaveBeenLastCalledWith(['default/a'])
  expect(finished).not.toHaveBeenCalled()
  remove.mockReset().mockResolvedValue()
  await deletion.remove()
  expect(remove).toHaveBeenCalledTimes(1)
  expect(deletion.left.value).toEqual([])
  expect(finished).toHaveBeenCalledOnce()
})

it('starts no further requests once stopped, and keeps the remaining objects', async () => {
  const keys = Array.from({ length: 20 }, (_, i) => `default/${i}`)
  const deletion = await of(podKind, keys)
  const answers: (() => void)[] = []
  remove.mockImplementation(() => new Promise((resolve) => answers.push(() => resolve())))
  const run = deletion.remove()
  deletion.stop()
  for (const answer of answers) answer()
  await flushPromises()
  await run
  expect(deletion.done.value).toBe(answers.length)
  expect(deletion.left.value).toHaveLength(20 - answers.length)
  expect(deletion.left.value.length).toBeGreaterThan(0)
})
