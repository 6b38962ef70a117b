// The table of a kind's objects: its columns, and its live rows, filtered and sorted.

import { computed, watch, type Ref } from 'vue'
import type { KindInfo } from '@/api/types'
import { t } from '@/i18n'
import { isResource, nodeKind, podKind } from '@/kubernetes/kinds'
import { isWorkload } from '@/kubernetes/workloads'
import { isPodOf } from '@/kubernetes/pods'
import { cluster } from '@/live/cluster'
import { connection, now } from '@/live/status'
import { pods } from '@/live/watched'
import type { TableColumn } from '@/ui/DataTable.vue'
import { resourcesOf, schedulingColumns } from './model/schedulingColumns'
import {
  cellText,
  columnWidths,
  RowFilter,
  RowSorter,
  shownColumns,
  type ShownColumn,
  type TableRow,
} from './model/table'
import { useTable } from './store/table'
import type { ResourceFilters } from './useResourceFilters'

export type ResourceTable = ReturnType<typeof useResourceTable>

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
    scheduling,
  }: Pick<
    ResourceFilters,
    'text' | 'labels' | 'node' | 'owner' | 'namespace' | 'sort' | 'wide' | 'wideChosen' | 'scheduling'
  >
) {
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

  /** As text, which stays the same while the cluster changes. */
  const resources = computed(() => (scheduling.value ? JSON.stringify(resourcesOf(cluster.value.totals)) : ''))
  const added = computed(() =>
    resources.value
      ? schedulingColumns(JSON.parse(resources.value) as string[], table.value.columns.length, {
          resource: (name) =>
            t('resources.colRequested', { name: name === 'cpu' || name === 'memory' ? t(`cluster.${name}`) : name }),
          pods: t('cluster.pods'),
          taints: t('cluster.colTaints'),
        })
      : undefined
  )
  const shown = computed(() => {
    const columns = shownColumns(table.value.columns, {
      namespace: !!kind.value?.namespaced && !namespace.value,
      wide: wide.value,
      namespaceTitle: t('resources.colNamespace'),
    })
    // After the name and the status.
    if (added.value && columns.length) columns.splice(2, 0, ...added.value.columns)
    return columns
  })
  const columnOf = computed(() => new Map<string, ShownColumn>(shown.value.map((c) => [c.id, c])))
  const sorter = new RowSorter()
  const filter = new RowFilter()
  const all = computed(() => {
    const { rows } = table.value
    if (!added.value) return [...rows.values()]
    const { byName } = cluster.value
    return Array.from(rows.values(), (row) => added.value?.extend(row, byName.get(row.name)) ?? row)
  })
  const rows = computed(() => {
    const found = sorter.sorted(filter.filter(all.value, text.value), shown.value, sort.value)
    if (!isResource(kind.value, podKind) || (!node.value && !owner.value)) return found
    const { items } = pods.value
    return found.filter((row) => {
      const pod = items.get(row.key)
      return !!pod && isPodOf(pod, { node: node.value, owner: owner.value })
    })
  })

  const widths = computed(() => columnWidths(shown.value, all.value.slice(0, sampleSize), Date.now()))
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
    /** The server's error for the label selector; '' if it is valid. */
    selectorError: computed(() => (labels.value && table.value.error?.code === 400 ? table.value.error.message : '')),
    rows,
    columns,
    /** Some columns appear only in the wide table. */
    hasWide: computed(() => table.value.columns.some((c) => c.priority > 0)),
    /** The total width of the columns in px: of all, and without the optional ones. */
    least: computed(() => ({ all: sumOf(() => true), narrow: sumOf((c) => !isOptional(c)) })),
    /** The text of a cell; '' if the kind does not have the column. */
    textOf(row: TableRow, id: string) {
      const column = columnOf.value.get(id)
      return column ? cellText(row, column, now.value) : ''
    },
  }
}
