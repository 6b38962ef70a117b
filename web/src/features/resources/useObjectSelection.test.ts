import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { nextTick, ref, shallowRef } from 'vue'
import * as kubernetes from '@/api/kubernetes'
import type { KindInfo, KubeObject } from '@/api/types'
import * as create from '@/features/create/store/create'
import { parseText } from '@/features/yaml/model/documents'
import { nodeKind, podKind } from '@/kubernetes/kinds'
import { notices } from '@/ui/notices'
import { mockFunctions, withSetup } from '@/ui/testing'
import type { TableRow } from './model/table'
import { useBulkActions } from './useBulkActions'
import { useObjectSelection } from './useObjectSelection'
import { useOpenObject } from './useOpenObject'

const { getObject: get } = mockFunctions(kubernetes, 'getObject')
const { openCreateText: opened } = mockFunctions(create, 'openCreateText')

const row = (key: string): TableRow => ({
  key,
  name: key,
  namespace: undefined,
  uid: key,
  created: undefined,
  labels: {},
  cells: [],
})
const rows = shallowRef<TableRow[]>([])
const namespace = ref('')
const kind = shallowRef<KindInfo>(podKind)
const said = (state: 'done' | 'failed') => notices.value.filter((n) => n.kind === state).map((n) => n.text)

beforeEach(() => {
  rows.value = ['a', 'b', 'c'].map(row)
  namespace.value = ''
  notices.value = []
})
afterEach(() => vi.resetAllMocks())

const select = async () => (await withSetup(() => useObjectSelection(rows, [namespace]))).value

it('contains only visible rows, and hidden ones again when they reappear', async () => {
  const { selected, check } = await select()
  check(new Set(['a', 'c']))
  rows.value = ['b', 'c'].map(row)
  expect([...selected.value]).toEqual(['c'])
  rows.value = ['a', 'b', 'c'].map(row)
  expect([...selected.value]).toEqual(['a', 'c'])
})

it('drops everything when the list changes', async () => {
  const { selected, check } = await select()
  check(new Set(['a', 'b', 'c']))
  namespace.value = 'default'
  await nextTick()
  expect(selected.value.size).toBe(0)
})

const bulk = async (keys: string[], taken: string[] = []) =>
  (await withSetup(() => useBulkActions(kind, shallowRef(new Set(keys)), (key) => taken.includes(key)))).value

it('clones each object under a name that neither the cluster nor the text has', async () => {
  kind.value = podKind
  get.mockImplementation((_kind, space, name): Promise<KubeObject> =>
    Promise.resolve({ metadata: { name, ...(space ? { namespace: space } : {}), uid: 'u' } })
  )
  const { clone } = await bulk(
    ['default/web-1', 'default/web-2', 'other/web-1'],
    ['default/web-1', 'default/web-2', 'default/web-3', 'other/web-1']
  )
  await clone()
  const { entries } = parseText(opened.mock.calls[0]?.[0] ?? '')
  expect(entries.map((e) => `${e.kind} ${e.namespace}/${e.name}`)).toEqual([
    'Pod default/web-4',
    'Pod default/web-5',
    'Pod other/web-2',
  ])
})

it('clones nothing when one object cannot be read', async () => {
  kind.value = podKind
  get.mockRejectedValue(new Error('not found'))
  const { clone } = await bulk(['default/a'])
  await clone()
  expect(opened).not.toHaveBeenCalled()
  expect(said('failed')).toEqual(['not found'])
})

it('offers cloning up to a limit, for kinds that can be created', async () => {
  kind.value = podKind
  expect((await bulk(['default/a'])).cloneable.value).toBe(true)
  expect((await bulk(Array.from({ length: 51 }, (_, i) => `default/${i}`))).cloneable.value).toBe(false)
  kind.value = { ...podKind, kind: 'ReadOnly', resource: 'readonlies', verbs: ['list'] }
  expect((await bulk(['default/a'])).cloneable.value).toBe(false)
})

async function openAt(at: string, locked = () => false) {
  const page = await withSetup(() => useOpenObject(kind, locked), { at })
  return {
    ...page,
    press: (target: EventTarget) =>
      target.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })),
  }
}

it('opens the object in the URL, and closes it when it is opened again', async () => {
  kind.value = podKind
  const { value, router, unmount } = await openAt('/?select=default%2Fa&q=x')
  expect(value.object.value).toEqual({ namespace: 'default', name: 'a' })
  value.toggle('default/b')
  await flushPromises()
  expect(value.object.value?.name).toBe('b')
  value.toggle('default/b')
  await flushPromises()
  expect(value.object.value).toBeUndefined()
  expect(router.currentRoute.value.query).toEqual({ q: 'x' })
  unmount()
})

it('closes on Escape, but not from an editor or a field, nor if an edit would be lost', async () => {
  kind.value = nodeKind
  let locked = true
  const { value, press, unmount } = await openAt('/?select=n1', () => locked)
  const field = document.body.appendChild(document.createElement('input'))
  expect(value.object.value).toEqual({ namespace: undefined, name: 'n1' })
  press(document.body)
  await flushPromises()
  expect(value.key.value).toBe('n1')
  locked = false
  press(field)
  await flushPromises()
  expect(value.key.value).toBe('n1')
  press(document.body)
  await flushPromises()
  expect(value.key.value).toBe('')
  field.remove()
  unmount()
})
