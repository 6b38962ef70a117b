import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { nextTick, reactive } from 'vue'
import { ApiError } from '@/api/http'
import * as kubernetes from '@/api/kubernetes'
import type { KindInfo, KubeObject } from '@/api/types'
import { loadDeferredMessages } from '@/i18n/deferred'
import { notices } from '@/ui/notices'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import { useObjectDifference, type ObjectDifference } from './useObjectDifference'
import { useObjectEditing, type ObjectEditing } from './useObjectEditing'
import type { ShownObject } from './useObjectVersions'

const {
  getObject: get,
  replaceObject: replace,
  replaceStatus,
  createObject: create,
} = mockFunctions(kubernetes, 'getObject', 'replaceObject', 'replaceStatus', 'createObject')

beforeAll(loadDeferredMessages)

const kind = (more: Partial<KindInfo> = {}): KindInfo => ({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespaced: true,
  verbs: [],
  ...more,
})
const object = (resourceVersion: string, data: Record<string, string>, uid = 'u'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', namespace: 'default', uid, resourceVersion },
  data,
})
const conflict = () => new ApiError('the object has been modified', 409, [], [], 'Conflict')

let of: ShownObject
let page: Running<{ editing: ObjectEditing; difference: { value: ObjectDifference } }>
let editing: ObjectEditing
const goTo = vi.fn()
async function show(more: Partial<ShownObject> = {}) {
  of = reactive({ kind: kind(), namespace: 'default', name: 'm', live: 0, ...more }) as ShownObject
  page = await withSetup(() => {
    const made = useObjectEditing(of, goTo)
    return { editing: made, difference: useObjectDifference(made) }
  })
  editing = page.value.editing
  await flushPromises()
}
/** Changes the text as a user does after choosing Edit. */
async function write(from: string, to: string) {
  if (!editing.editing.value) editing.edit()
  editing.text.value = editing.text.value.replace(from, to)
  await nextTick()
}
/** The list reports a change of the object. */
async function changes(answer: KubeObject | Error) {
  if (answer instanceof Error) get.mockRejectedValue(answer)
  else get.mockResolvedValue(answer)
  of.live = Number(of.live) + 1
  await nextTick()
  await vi.advanceTimersByTimeAsync(200)
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'requestAnimationFrame'] })
  get.mockResolvedValue(object('1', { a: '1', b: '1' }))
  replace.mockImplementation((_, body) => Promise.resolve(structuredClone(body)))
})
afterEach(() => {
  page.unmount()
  vi.useRealTimers()
  vi.resetAllMocks()
})

it('shows each version until the user edits', async () => {
  await show()
  await changes(object('2', { a: '2', b: '1' }))
  expect(editing.text.value).toContain('a: "2"')
  expect(editing.outdated.value).toBe(false)
})

it('requests the object once for a burst of changes, and regularly if the list does not contain it', async () => {
  await show()
  get.mockClear()
  for (let i = 1; i < 5; i++) {
    of.live = i
    await nextTick()
  }
  await vi.advanceTimersByTimeAsync(200)
  expect(get).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(get).toHaveBeenCalledTimes(1)
  of.live = undefined
  await vi.advanceTimersByTimeAsync(11_000)
  expect(get.mock.calls.length).toBeGreaterThanOrEqual(3)
})

it('keeps a newer version beside edited text, and shows it when the edit is discarded', async () => {
  await show()
  await write('a: "1"', 'a: mine')
  await changes(object('2', { a: '1', b: 'theirs' }))
  expect(editing.text.value).toContain('a: mine')
  expect(editing.outdated.value).toBe(true)
  expect(page.value.difference.value).toMatchObject({
    before: expect.stringContaining('b: theirs'),
    after: expect.stringContaining('a: mine'),
  })
  editing.discard()
  expect(editing.text.value).toContain('b: theirs')
  expect([editing.editing.value, editing.outdated.value]).toEqual([false, false])
})

it('returns to the same version on discard if there is no newer one', async () => {
  await show()
  await write('a: "1"', 'a: mine')
  expect(editing.dirty.value).toBe(true)
  editing.discard()
  expect(editing.text.value).toBe(editing.original.value)
  expect(editing.dirty.value).toBe(false)
})

it('saves the text, and then shows what the server stored', async () => {
  await show()
  await write('a: "1"', 'a: mine')
  replace.mockResolvedValue(object('2', { a: 'mine', b: '1', added: 'by-admission' }))
  await editing.save()
  expect(replace.mock.calls[0]?.[1]).toEqual(object('1', { a: 'mine', b: '1' }))
  expect(editing.editing.value).toBe(false)
  expect(editing.text.value).toContain('by-admission')
  expect(notices.value.at(-1)).toMatchObject({ kind: 'done', text: 'Saved: m', actions: [{ label: 'Undo' }] })
})

it('writes a changed status with its own request, using the version from the first one', async () => {
  get.mockResolvedValue({ ...object('1', {}), status: { n: 1 } })
  await show({ kind: kind({ subresources: ['status'] }) })
  await write('n: 1', 'n: 2')
  replace.mockImplementation((_, body) =>
    Promise.resolve({ ...body, metadata: { ...body.metadata, resourceVersion: '2' } })
  )
  replaceStatus.mockImplementation((_, body) => Promise.resolve(body))
  await editing.save()
  expect(replaceStatus.mock.calls[0]?.[1]).toMatchObject({ status: { n: 2 }, metadata: { resourceVersion: '2' } })
})

it('shows both sides of a conflict and merges them', async () => {
  await show()
  await write('a: "1"', 'a: mine')
  get.mockResolvedValue(object('2', { a: 'theirs', b: 'theirs' }))
  replace.mockRejectedValueOnce(conflict())
  await editing.save()
  await nextTick()
  expect([editing.conflict.value, editing.saving.value, editing.tab.value]).toEqual([true, false, 'changes'])
  expect(editing.merged.value?.conflicts).toEqual(['data.a'])
  editing.merge()
  expect([editing.conflict.value, editing.editing.value]).toEqual([false, true])
  await editing.save()
  expect(replace.mock.calls.at(-1)?.[1]).toEqual(object('2', { a: 'mine', b: 'theirs' }))
})

it('overwrites the version that the server has at that moment', async () => {
  await show()
  await write('a: "1"', 'a: mine')
  get.mockResolvedValue(object('7', { a: 'theirs', b: 'theirs' }))
  replace.mockRejectedValueOnce(conflict())
  await editing.save()
  await editing.save(true)
  expect(replace.mock.calls.at(-1)?.[1]).toEqual(object('7', { a: 'mine', b: '1' }))
  expect(editing.conflict.value).toBe(false)
})

it('reloads the version that caused the conflict', async () => {
  await show()
  await write('a: "1"', 'a: mine')
  get.mockResolvedValue(object('2', { a: 'theirs', b: '1' }))
  replace.mockRejectedValueOnce(conflict())
  await editing.save()
  editing.reload()
  expect(editing.text.value).toContain('a: theirs')
  expect([editing.conflict.value, editing.tab.value]).toEqual([false, 'yaml'])
})

it('shows a refused field at its line', async () => {
  await show()
  await write('a: "1"', 'a: mine')
  replace.mockRejectedValueOnce(
    new ApiError('invalid', 422, [], [{ field: 'data.a', message: 'Invalid value' }], 'Invalid')
  )
  await editing.save()
  await vi.advanceTimersByTimeAsync(50)
  const line = editing.text.value.split('\n').findIndex((l) => l.includes('a: mine')) + 1
  expect(editing.problems.value).toEqual([{ line, message: 'data.a: Invalid value' }])
  expect(goTo).toHaveBeenLastCalledWith(line, undefined)
  expect(editing.editing.value).toBe(true)
})

it('compares with the result of a dry run until the text changes', async () => {
  await show()
  await write('a: "1"', 'a: mine')
  replace.mockResolvedValue(object('1', { a: 'mine', b: '1', added: 'by-admission' }))
  await editing.dryRun()
  expect(replace.mock.calls[0]?.[2]).toBe(true)
  expect([editing.tab.value, editing.editing.value, editing.dirty.value]).toEqual(['changes', true, true])
  expect(page.value.difference.value.after).toContain('by-admission')
  await write('b: "1"', 'b: "2"')
  expect(editing.tried.value).toBeUndefined()
  expect(page.value.difference.value.after).not.toContain('by-admission')
})

it('sends nothing unless the text describes exactly this object', async () => {
  await show()
  await write('name: m', 'name: other')
  await editing.save()
  expect(editing.problems.value[0]?.line).toBe(1)
  await write('name: other', 'name: m')
  editing.text.value += '---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n'
  await nextTick()
  await editing.dryRun()
  expect(editing.problems.value).toHaveLength(1)
  await write('data:', 'data: [')
  await editing.save()
  expect(editing.problems.value.length).toBeGreaterThan(0)
  expect(replace).not.toHaveBeenCalled()
})

it('creates a deleted object from the text that was being edited', async () => {
  await show()
  await write('a: "1"', 'a: mine')
  await changes(new ApiError('not found', 404))
  expect([editing.gone.value, editing.error.value]).toEqual([true, undefined])
  await editing.save()
  expect(replace).not.toHaveBeenCalled()
  create.mockResolvedValue(object('9', { a: 'mine', b: '1' }, 'u2'))
  await editing.createAgain()
  expect(create.mock.calls[0]?.[2].metadata).toEqual({ name: 'm', namespace: 'default' })
  expect([editing.gone.value, editing.editing.value, editing.object.value?.metadata.uid]).toEqual([false, false, 'u2'])
})

it('treats the object as deleted if another one has its name', async () => {
  await show()
  await write('a: "1"', 'a: mine')
  await changes(object('5', { a: 'x' }, 'u2'))
  expect(editing.gone.value).toBe(true)
  expect(editing.merged.value).toBeUndefined()
})

it('starts over with another object, and ignores a late response about the previous one', async () => {
  await show()
  await write('a: "1"', 'a: mine')
  const answers: ((found: KubeObject) => void)[] = []
  get.mockImplementation(() => new Promise((answer) => answers.push(answer)))
  void editing.look()
  of.name = 'n'
  await nextTick()
  expect([editing.editing.value, editing.object.value]).toEqual([false, undefined])
  answers[1]?.({ ...object('3', { other: 'x' }), metadata: { name: 'n', namespace: 'default' } })
  answers[0]?.(object('2', { late: 'x' }))
  await flushPromises()
  expect(editing.text.value).toContain('other: x')
})
