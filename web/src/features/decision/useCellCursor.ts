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
    /** In the order of the rows. */
    nodes: () => readonly string[]
    plugins: () => readonly string[]
    node: () => string
    plugin: () => string
    choose: (node: string, plugin: string) => void
  }
) {
  const nodes = computed(table.nodes)
  const plugins = computed(table.plugins)
  const grid = useGridCursor({
    id,
    at: () => {
      const column = plugins.value.indexOf(table.plugin())
      const row = column < 0 ? -1 : nodes.value.indexOf(table.node())
      return row < 0 ? undefined : { row, column }
    },
    rows: () => nodes.value.length,
    columns: () => plugins.value.length,
    move: ({ row, column }) => table.choose(nodes.value[row] ?? '', plugins.value[column] ?? ''),
    reveal: ({ row, column }) => {
      if (!pool.value?.reveal(row))
        document.getElementById(grid.idOf(row, column))?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    },
  })
  const { hrefOf, follow } = useLinks()
  return {
    ...grid,
    /** The address of a node's page. */
    hrefAt: remembering((name: string) => hrefOf(placeOf(nodeRef(name)))),
    onClick(event: MouseEvent) {
      if (follow(event)) return
      const cell = (event.target as HTMLElement).closest<HTMLElement>('[data-plugin]')
      const node = cell?.closest<HTMLElement>('[data-node]')?.dataset.node
      if (node !== undefined && cell?.dataset.plugin) table.choose(node, cell.dataset.plugin)
    },
  }
}
