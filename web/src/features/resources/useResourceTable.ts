// The objects of a kind as a table: live rows, filtered and sorted, and its columns.

import { computed, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import type { KindInfo } from '@/api/types'
import { isResource, nodeKind, podKind } from '@/kubernetes/kinds'
import { connection, now } from '@/live/status'
import type { TableColumn } from '@/ui/DataTable.vue'
import { cellText, columnWidths, RowFilter, RowSorter, shownColumns, type ShownColumn, type TableRow } from './model/table'
import { useTable, type LiveTable } from './store/table'
import type { ResourceFilters } from './useResourceFilters'

export interface ResourceTable {
  table: ShallowRef<LiveTable>
  retry: () => void
  /** Why the server refused the label selector; '' when it did not. */
  selectorError: ComputedRef<string>
  rows: ComputedRef<TableRow[]>
  columns: ComputedRef<TableColumn[]>
  /** There are columns that only the wide table shows. */
  hasWide: ComputedRef<boolean>
  /** What the columns take together, in px: all of them, and without the optional ones. */
  least: ComputedRef<{ all: number; narrow: number }>
  /** The text of a cell; '' in a column that the kind does not have. */
  textOf(row: TableRow, column: string): string
}

/** The column of a node's menu. No column of kubectl's can have this name. */
export const actionsColumn = ' actions'
const actionsWidth = 24
/** What a pod's table leaves out first where there is little room. */
const optionalOfPods = new Set(['restarts', 'ip', 'nominated-node', 'readiness-gates'])
/** Widths follow this many rows. */
const sampleSize = 120

export function useResourceTable(kind: Ref<KindInfo | undefined>, { text, labels, namespace, sort, wide, wideChosen }: Pick<ResourceFilters, 'text' | 'labels' | 'namespace' | 'sort' | 'wide' | 'wideChosen'>): ResourceTable {
  const { t } = useI18n()
  const { table, retry } = useTable(computed(() => kind.value && { kind: kind.value, namespace: kind.value.namespaced ? namespace.value : '', labelSelector: labels.value.trim() }))
  watch(
    () => connection.value.kind === 'live',
    (live) => live && retry(),
  )

  const shown = computed(() => shownColumns(table.value.columns, { namespace: !!kind.value?.namespaced && !namespace.value, wide: wide.value, namespaceTitle: t('resources.colNamespace') }))
  const columnOf = computed(() => new Map<string, ShownColumn>(shown.value.map((c) => [c.id, c])))
  const sorter = new RowSorter()
  const filter = new RowFilter()
  const rows = computed(() => sorter.sorted(filter.filter(table.value.rows.values(), text.value), shown.value, sort.value))

  const widths = computed(() => columnWidths(shown.value, firstOf(table.value.rows.values(), sampleSize), Date.now()))
  const hasMenu = computed(() => isResource(kind.value, nodeKind))
  const isOptional = (c: ShownColumn) => isResource(kind.value, podKind) && !wideChosen.value && optionalOfPods.has(c.id)
  const sumOf = (keep: (c: ShownColumn) => boolean) => shown.value.reduce((sum, c, i) => sum + (keep(c) ? (widths.value.pixels[i] ?? 0) : 0), hasMenu.value ? actionsWidth : 0)
  const columns = computed((): TableColumn[] => [
    ...shown.value.map((c, i) => ({ id: c.id, label: c.title, title: c.description || undefined, width: widths.value.widths[i] ?? '1fr', numeric: c.numeric, sortable: true, optional: isOptional(c) })),
    ...(hasMenu.value && shown.value.length ? [{ id: actionsColumn, label: t('nodes.menu'), width: `${actionsWidth}px`, sortable: false, quiet: true }] : []),
  ])

  return {
    table,
    retry,
    selectorError: computed(() => (labels.value && table.value.error?.code === 400 ? table.value.error.message : '')),
    rows,
    columns,
    hasWide: computed(() => table.value.columns.some((c) => c.priority > 0)),
    least: computed(() => ({ all: sumOf(() => true), narrow: sumOf((c) => !isOptional(c)) })),
    textOf(row, id) {
      const column = columnOf.value.get(id)
      return column ? cellText(row, column, now.value) : ''
    },
  }
}

function firstOf<T>(all: Iterable<T>, count: number): T[] {
  const first: T[] = []
  for (const one of all) {
    if (first.length >= count) break
    first.push(one)
  }
  return first
}
