import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { computed, nextTick, shallowRef } from 'vue'
import { ApiError } from '@/api/http'
import type { KindInfo, KubeObject, Pod } from '@/api/types'
import { nodeKind, podKind } from '@/kubernetes/kinds'
import { connection } from '@/live/status'
import { pods } from '@/live/watched'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import { readColumns, type TableRow } from './model/table'
import * as store from './store/table'
import { useResourceFilters, type ResourceFilters } from './useResourceFilters'
import { actionsColumn, useResourceTable, type ResourceTable } from './useResourceTable'
import { useRowLooks, type RowLooks } from './useRowLooks'

mockFunctions(store, 'useTable')
const live = shallowRef<store.LiveTable>({ columns: [], rows: new Map(), synced: false, error: undefined })
const retry = vi.fn()
let wish: { value: store.TableWish | undefined }

const columns =
  readColumns({
    columnDefinitions: [
      { name: 'Name', type: 'string', priority: 0 },
      { name: 'Status', type: 'string', priority: 0 },
      { name: 'Restarts', type: 'integer', priority: 0 },
      { name: 'Node', type: 'string', priority: 1 },
    ],
  }) ?? []
const row = (namespace: string, name: string, status = 'Running', node = '<none>'): TableRow => ({
  key: `${namespace}/${name}`,
  name,
  namespace,
  uid: name,
  created: undefined,
  labels: {},
  cells: [name, status, 0, node],
})
const show = (...rows: TableRow[]) => {
  live.value = { columns, rows: new Map(rows.map((r) => [r.key, r])), synced: true, error: undefined }
}

const kind = shallowRef<KindInfo>()
let page: Running<{ filters: ResourceFilters; table: ResourceTable; looks: RowLooks }>
async function open(at = '/resources/pods') {
  page = await withSetup(
    () => {
      const filters = useResourceFilters(kind)
      const table = useResourceTable(kind, filters)
      return { filters, table, looks: useRowLooks(kind, table.textOf) }
    },
    { at, routes: [{ path: '/resources/:resource?', name: 'resources' }] }
  )
}
const address = () => page.router.currentRoute.value.query
const ids = () => page.value.table.columns.value.map((c) => c.id)

beforeEach(() => {
  vi.mocked(store.useTable).mockImplementation((wanted) => {
    wish = wanted
    return { table: live, retry }
  })
  kind.value = podKind
  show(row('default', 'p10'), row('default', 'p2'), row('kube-system', 'p1', 'Pending'))
})
afterEach(() => {
  page.unmount()
  vi.clearAllMocks()
})

it('requests the table in the URL', async () => {
  await open('/resources/pods?ns=default&labels=%20a%3Db%20')
  expect(wish.value).toEqual({ kind: podKind, namespace: 'default', labelSelector: 'a=b' })
  kind.value = nodeKind
  expect(wish.value).toEqual({ kind: nodeKind, namespace: '', labelSelector: 'a=b' })
})

it('filters and sorts the rows, numbers in names as numbers', async () => {
  await open('/resources/pods?q=p&sort=name')
  expect(page.value.table.rows.value.map((r) => r.name)).toEqual(['p1', 'p2', 'p10'])
  page.value.filters.sort.value = '-name'
  await vi.waitFor(() => expect(page.value.table.rows.value.map((r) => r.name)).toEqual(['p10', 'p2', 'p1']))
  page.value.filters.text.value = 'kube-system'
  await vi.waitFor(() => expect(page.value.table.rows.value.map((r) => r.name)).toEqual(['p1']))
})

it('shows the namespace column for several namespaces', async () => {
  await open()
  expect(ids()).toContain('namespace')
  expect(page.value.table.textOf(row('kube-system', 'x'), 'namespace')).toBe('kube-system')
  page.value.filters.namespace.value = 'default'
  await vi.waitFor(() => expect(ids()).not.toContain('namespace'))
})

it('shows all columns of pods, some of them optional unless the user asks for all', async () => {
  await open()
  const { filters, table } = page.value
  expect(ids()).toContain('node')
  expect(table.columns.value.find((c) => c.id === 'restarts')?.optional).toBe(true)
  expect(table.least.value.narrow).toBeLessThan(table.least.value.all)
  filters.wide.value = false
  await vi.waitFor(() => expect(ids()).not.toContain('node'))
  expect(address().wide).toBe('off')
  expect(table.least.value.narrow).toBe(table.least.value.all)
})

it('shows the wide columns of other kinds only on request', async () => {
  kind.value = nodeKind
  await open('/resources/nodes')
  expect(ids()).not.toContain('node')
  expect(ids().at(-1)).toBe(actionsColumn)
  page.value.filters.wide.value = true
  await vi.waitFor(() => expect(ids()).toContain('node'))
})

it('distinguishes a refused selector from a list that fails', async () => {
  await open('/resources/pods?labels=%3D%3D')
  live.value = { ...live.value, error: new ApiError('unable to parse', 400) }
  expect(page.value.table.selectorError.value).toBe('unable to parse')
  live.value = { ...live.value, error: new ApiError('gone', 500) }
  expect(page.value.table.selectorError.value).toBe('')
})

it('retries as soon as the connection is back', async () => {
  connection.value = { kind: 'connecting' }
  await open()
  connection.value = { kind: 'live' }
  await nextTick()
  expect(retry).toHaveBeenCalledOnce()
})

it('clears the filters and keeps the rest of the URL', async () => {
  await open('/resources/pods?q=x&ns=default&labels=a&sort=-age&select=default%2Fp2')
  expect(page.value.filters.narrowed.value).toBe(true)
  page.value.filters.clear()
  await vi.waitFor(() => expect(page.value.filters.narrowed.value).toBe(false))
  expect(address()).toEqual({ sort: '-age', select: 'default/p2' })
})

it('offers the namespace in the URL even if the cluster does not have it', async () => {
  await open('/resources/pods?ns=absent')
  expect(page.value.filters.namespaceOptions.value.map((o) => o.value)).toEqual(['', 'absent'])
})

it('marks a pending pod that has a node, and pale empty cells', async () => {
  const placed = row('default', 'p', 'Pending')
  await open()
  const { looks } = page.value
  expect(looks.lookOf(placed)?.icon).toBe('clock')
  const pod: Pod = { metadata: { name: 'p', namespace: 'default' }, spec: { nodeName: 'n' } }
  const before = pods.value
  pods.value = { ...before, items: new Map<string, Pod & KubeObject>([['default/p', pod as Pod & KubeObject]]) }
  expect(looks.lookOf(placed)?.icon).toBe('pin')
  pods.value = before
  const cells = computed(() =>
    ['name', 'status', 'node', 'restarts', actionsColumn].map((id) => looks.classOf(placed, { id }))
  )
  expect(cells.value).toEqual([undefined, 'ph warn', 'dim', undefined, undefined])
})
