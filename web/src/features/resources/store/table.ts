// A live table of a kind for a page: published at most once per frame, and for large
// tables a few times per second.

import { onScopeDispose, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import type { ApiError } from '@/api/http'
import { namesOf, pathOf } from '@/api/kubernetes'
import { TableFeed } from '@/api/table'
import type { KindInfo } from '@/api/types'
import { namespaceKind } from '@/kubernetes/kinds'
import { readColumns, readRow, type RawTable, type TableColumn, type TableRow } from '../model/table'
import { pods } from '@/live/watched'

/** The requested table: a kind, a namespace ('' for all), a label selector. */
export interface TableWish {
  kind: KindInfo
  namespace: string
  labelSelector: string
}

export interface LiveTable {
  columns: readonly TableColumn[]
  /** The live Map: read it, do not keep it. */
  rows: ReadonlyMap<string, TableRow>
  /** A complete list has arrived. */
  synced: boolean
  error: ApiError | undefined
}

const nothing: LiveTable = { columns: [], rows: new Map(), synced: false, error: undefined }

/** With more namespaces than this, one request lists all of them, with metadata. */
const manyNamespaces = 40
const largeTable = 2000

async function namespaces(): Promise<readonly string[] | undefined> {
  const found = await namesOf(namespaceKind)
  return found.length > manyNamespaces ? undefined : found
}

/** Rows without metadata get it from the live pods. */
function completed(row: TableRow): TableRow {
  const metadata = pods.value.items.get(row.key)?.metadata
  return metadata
    ? { ...row, uid: metadata.uid, created: metadata.creationTimestamp, labels: metadata.labels ?? {} }
    : row
}

/** Follows `wish` while the calling scope lives and the page is visible. */
export function useTable(wish: Ref<TableWish | undefined>): { table: ShallowRef<LiveTable>; retry: () => void } {
  const table = shallowRef<LiveTable>(nothing)
  let feed: TableFeed<RawTable> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const visible = () => (document.hidden ? feed?.pause() : feed?.resume())

  function follow(wanted: TableWish | undefined) {
    feed?.pause()
    feed = undefined
    clearTimeout(timer)
    timer = undefined
    table.value = nothing
    if (!wanted) return
    let columns: readonly TableColumn[] = []
    let rows = new Map<string, TableRow>()
    let staging = rows
    let synced = false
    let error: ApiError | undefined
    const flush = () => {
      timer = undefined
      table.value = { columns, rows, synced, error }
    }
    const publish = () => {
      timer ??= setTimeout(flush, rows.size > largeTable ? 250 : 16)
    }
    const isPods = wanted.kind.resource === 'pods' && !wanted.kind.group
    feed = new TableFeed<RawTable>(
      {
        path: (namespace) => pathOf(wanted.kind, namespace),
        namespace: wanted.namespace || undefined,
        labelSelector: wanted.labelSelector,
        ...(isPods ? { light: namespaces } : {}),
      },
      {
        page(part, namespace, first, last) {
          if (first) staging = new Map()
          columns = readColumns(part) ?? columns
          for (const raw of part.rows ?? []) {
            const row = readRow(raw, namespace)
            if (row) staging.set(row.key, row.uid ? row : completed(row))
          }
          // A list of several pages replaces the previous list once it is complete.
          if (last || !synced) rows = staging
          synced ||= last
          publish()
        },
        change(type, part) {
          columns = readColumns(part) ?? columns
          for (const raw of part.rows ?? []) {
            const row = readRow(raw, undefined)
            if (!row) continue
            if (type === 'DELETED') rows.delete(row.key)
            else rows.set(row.key, row)
          }
          publish()
        },
        error(next) {
          if (next === error) return
          error = next
          publish()
        },
      }
    )
    visible()
  }

  watch(
    () =>
      wish.value &&
      JSON.stringify([
        wish.value.kind.group,
        wish.value.kind.version,
        wish.value.kind.resource,
        wish.value.namespace,
        wish.value.labelSelector,
      ]),
    () => follow(wish.value),
    { immediate: true }
  )
  document.addEventListener('visibilitychange', visible)
  onScopeDispose(() => {
    document.removeEventListener('visibilitychange', visible)
    clearTimeout(timer)
    feed?.pause()
  })
  return { table, retry: () => feed?.retryNow() }
}
