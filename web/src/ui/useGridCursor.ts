import { computed, nextTick, type ComputedRef } from 'vue'

export interface GridPlace {
  row: number
  column: number
}

const page = 15
const moves: Record<string, [rows: number, columns: number]> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  PageDown: [page, 0],
  PageUp: [-page, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
}

/**
 * The cursor of a grid with one tab stop, which keys move from cell to cell; without columns, from
 * row to row. Home and End go to the end of a row, or of a list of rows.
 */
export function useGridCursor(grid: {
  /** Begins the id of each row or cell. */
  id: string
  at: () => GridPlace | undefined
  rows: () => number
  columns?: () => number
  move: (to: GridPlace) => void
  reveal: (to: GridPlace) => void
}): {
  idOf: (row: number, column?: number) => string
  activeId: ComputedRef<string | undefined>
  /** Whether the key moved the cursor; it says so of none that comes with Ctrl, Alt or Meta, or from within a row. */
  onKey: (event: KeyboardEvent) => boolean
} {
  const { at, rows, columns, move, reveal } = grid
  const idOf = (row: number, column = 0) => (columns ? `${grid.id}-${row}-${column}` : `${grid.id}-${row}`)
  const within = (value: number, count: number) => Math.max(0, Math.min(count - 1, value))
  return {
    idOf,
    activeId: computed(() => {
      const place = at()
      return place && idOf(place.row, place.column)
    }),
    onKey(event) {
      let [down, right] = moves[event.key] ?? [0, 0]
      if (!columns) [down, right] = [event.key === 'Home' || event.key === 'End' ? right : down, 0]
      const other = event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget
      if (other || !(down || right) || !rows() || columns?.() === 0) return false
      event.preventDefault()
      const from = at() ?? { row: down ? -1 : 0, column: 0 }
      const to = { row: within(from.row + down, rows()), column: within(from.column + right, columns?.() ?? 1) }
      move(to)
      void nextTick(() => reveal(to))
      return true
    },
  }
}
