// The table of a kind's objects: its columns, and its live rows, filtered and sorted.

import { computed, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import type { KindInfo } from '@/api/types'
import { isResource, nodeKind, podKind } from '@/kubernetes/kinds'
import { isWorkload } from '@/kubernetes/workloads'
import { isPodOf } from '@/kubernetes/pods'
import { connection, now } from '@/live/status'
import { pods } from '@/live/watched'
import type { TableColumn } from '@/ui/DataTable.vue'
import {
  cellText,
  columnWidths,
  RowFilter,
  RowSorter,
  shownColumns,
  type ShownColumn,
  type TableRow,
} from './model/table'
import { useTable, type LiveTable } from './store/table'
import type { ResourceFilters } from './useResourceFilters'

export interface ResourceTable {
  table: ShallowRef<LiveTable>
  retry: () => void
  /** The server's error for the label selector; '' if it is valid. */
  selectorError: ComputedRef<string>
  rows: ComputedRef<TableRow[]>
  columns: ComputedRef<TableColumn[]>
  /** Some columns appear only in the wide table. */
  hasWide: ComputedRef<boolean>
  /** The total width of the columns in px: of all, and without the optional ones. */
  least: ComputedRef<{ all: number; narrow: number }>
  /** The text of a cell; '' if the kind does not have the column. */
  textOf(row: TableRow, column: string): string
}

/**
 * The column with the menu of a node, pod or workload. A leading space keeps it apart from
 * kubectl's columns.
 */
export const actionsColumn = ' actions'
const actionsWidth = 24
/** The columns that the table of pods hides first. */
const optionalOfPods = new Set(['restarts', 'ip', 'nominated-node', 'readiness-gates'])
/** Column widths are based on this many rows. */
const sampleSize = 120

export function useResourceTable(
  kind: Ref<KindInfo | undefined>,
  {
    text,
    labels,
    node,
    owner,
    namespace,
    sort,
    wide,
    wideChosen,
  }: Pick<ResourceFilters, 'text' | 'labels' | 'node' | 'owner' | 'namespace' | 'sort' | 'wide' | 'wideChosen'>
): ResourceTable {
  const { t } = useI18n()
  const { table, retry } = useTable(
    computed(
      () =>
        kind.value && {
          kind: kind.value,
          namespace: kind.value.namespaced ? namespace.value : '',
          labelSelector: labels.value.trim(),
        }
    )
  )
  watch(
    () => connection.value.kind === 'live',
    (live) => live && retry()
  )

  const shown = computed(() =>
    shownColumns(table.value.columns, {
      namespace: !!kind.value?.namespaced && !namespace.value,
      wide: wide.value,
      namespaceTitle: t('resources.colNamespace'),
    })
  )
  const columnOf = computed(() => new Map<string, ShownColumn>(shown.value.map((c) => [c.id, c])))
  const sorter = new RowSorter()
  const filter = new RowFilter()
  const rows = computed(() => {
    const found = sorter.sorted(filter.filter(table.value.rows.values(), text.value), shown.value, sort.value)
    if (!isResource(kind.value, podKind) || (!node.value && !owner.value)) return found
    const { items } = pods.value
    return found.filter((row) => {
      const pod = items.get(row.key)
      return !!pod && isPodOf(pod, { node: node.value, owner: owner.value })
    })
  })

  const widths = computed(() => columnWidths(shown.value, firstOf(table.value.rows.values(), sampleSize), Date.now()))
  const hasMenu = computed(
    () =>
      !!kind.value && (isResource(kind.value, nodeKind) || isResource(kind.value, podKind) || isWorkload(kind.value))
  )
  const isOptional = (c: ShownColumn) =>
    isResource(kind.value, podKind) && !wideChosen.value && optionalOfPods.has(c.id)
  const sumOf = (keep: (c: ShownColumn) => boolean) =>
    shown.value.reduce(
      (sum, c, i) => sum + (keep(c) ? (widths.value.pixels[i] ?? 0) : 0),
      hasMenu.value ? actionsWidth : 0
    )
  const columns = computed((): TableColumn[] => [
    ...shown.value.map((c, i) => ({
      id: c.id,
      label: c.title,
      title: c.description || undefined,
      width: widths.value.widths[i] ?? '1fr',
      numeric: c.numeric,
      sortable: true,
      optional: isOptional(c),
    })),
    ...(hasMenu.value && shown.value.length
      ? [{ id: actionsColumn, label: t('nodes.menu'), width: `${actionsWidth}px`, sortable: false, quiet: true }]
      : []),
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
