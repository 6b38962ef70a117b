import { computed, type ShallowRef } from 'vue'
import { nodeRef, placeOf } from '@/features/act/model/links'
import { useLinks } from '@/features/act/useLinks'
import { remembering } from '@/ui/rowPool'
import type RowPool from '@/ui/RowPool.vue'
import { useGridCursor } from '@/ui/useGridCursor'

/** The selected cell of a table of nodes × plugins: keys move it, and a click chooses another one. */
export function useCellCursor(
  id: string,
  pool: Readonly<ShallowRef<InstanceType<typeof RowPool> | null>>,
  table: {
    /** In the order of the rows; undefined for a row that stands for several nodes. */
    nodes: () => readonly (string | undefined)[]
    plugins: () => readonly string[]
    node: () => string
    plugin: () => string
    choose: (node: string, plugin: string) => void
    /** The rows that unfold. */
    folds?: {
      /** The one that the cursor is at; -1 at a cell. */
      at: () => number
      enter: (row: number) => void
      /** Without `open`, it becomes what it is not. */
      toggle: (row: number, open?: boolean) => void
    }
  }
) {
  const nodes = computed(table.nodes)
  const plugins = computed(table.plugins)
  /** Where the cursor returns to when it leaves a row that unfolds. */
  let kept = 0
  const { folds } = table
  const grid = useGridCursor({
    id,
    at: () => {
      const fold = folds?.at() ?? -1
      if (fold >= 0) return { row: fold, column: 0 }
      const column = plugins.value.indexOf(table.plugin())
      const row = column < 0 ? -1 : nodes.value.indexOf(table.node())
      return row < 0 ? undefined : { row, column }
    },
    rows: () => nodes.value.length,
    columns: () => plugins.value.length,
    move: (to) => {
      const node = nodes.value[to.row]
      const fromFold = (folds?.at() ?? -1) >= 0
      if (!fromFold) kept = to.column
      if (node === undefined) folds?.enter(to.row)
      else table.choose(node, plugins.value[kept] ?? '')
    },
    reveal: ({ row, column }) => {
      if (!pool.value?.reveal(row))
        document.getElementById(grid.idOf(row, column))?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    },
  })
  const { hrefOf, follow } = useLinks()
  const opens: Record<string, boolean | undefined> = {
    ArrowRight: true,
    ArrowLeft: false,
    Enter: undefined,
    ' ': undefined,
  }
  return {
    ...grid,
    onKey(event: KeyboardEvent): boolean {
      const fold = folds?.at() ?? -1
      const other = event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget
      if (fold < 0 || other || !(event.key in opens)) return grid.onKey(event)
      event.preventDefault()
      folds?.toggle(fold, opens[event.key])
      return true
    },
    hrefAt: remembering((name: string) => hrefOf(placeOf(nodeRef(name)))),
    onClick(event: MouseEvent) {
      if (follow(event)) return
      const fold = (event.target as HTMLElement).closest<HTMLElement>('[data-fold]')
      if (fold) {
        folds?.enter(Number(fold.dataset.fold))
        folds?.toggle(Number(fold.dataset.fold))
        return
      }
      const cell = (event.target as HTMLElement).closest<HTMLElement>('[data-plugin]')
      const node = cell?.closest<HTMLElement>('[data-node]')?.dataset.node
      if (node !== undefined && cell?.dataset.plugin) table.choose(node, cell.dataset.plugin)
    },
  }
}
