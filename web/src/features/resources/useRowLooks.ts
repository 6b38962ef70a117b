// The look of table rows: glyphs for their status, colours of pods, pale empty cells.

import type { Ref } from 'vue'
import type { KindInfo, Pod } from '@/api/types'
import { isResource, podKind } from '@/kubernetes/kinds'
import { cluster } from '@/live/cluster'
import { pods } from '@/live/watched'
import { isEmptyCell, lookOfStatus, type StatusLook } from './model/statusTone'
import type { TableRow } from './model/table'
import { actionsColumn, type ResourceTable } from './useResourceTable'

export type RowLooks = ReturnType<typeof useRowLooks>

export function useRowLooks(kind: Ref<KindInfo | undefined>, textOf: ResourceTable['textOf']) {
  /** A cache, because a table repeats few words. */
  const looks = new Map<string, StatusLook | undefined>()
  const podOf = (row: TableRow) => pods.value.items.get(row.key) as Pod | undefined

  function lookOf(row: TableRow) {
    const status = textOf(row, 'status')
    const placed = status === 'Pending' && isResource(kind.value, podKind) && !!podOf(row)?.spec?.nodeName
    const key = placed ? 'placed' : status
    if (!looks.has(key)) looks.set(key, lookOfStatus(status, placed))
    return looks.get(key)
  }
  return {
    lookOf,
    classOf(row: TableRow, { id }: { id: string }) {
      if (id === 'name' || id === actionsColumn) return undefined
      if (id === 'status') return `ph ${lookOf(row)?.tone ?? ''}`
      return isEmptyCell(textOf(row, id)) ? 'dim' : undefined
    },
    colourOf(row: TableRow) {
      const pod = podOf(row)
      return `var(--c${pod ? cluster.value.colourOf(pod) : 0})`
    },
  }
}
