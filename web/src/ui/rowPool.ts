// Thousands of rows of one height in a box that scrolls, drawn by as many row elements
// as the box has room for: a row that leaves at one end comes back at the other with
// new words. Making elements for each row anew costs several frames per turn of a wheel.

import { computed, toValue, type ComputedRef, type MaybeRefOrGetter, type Ref } from 'vue'
import { useVirtualizer } from '@tanstack/vue-virtual'

export interface PlacedRow {
  index: number
  /** Distance from the top of the first row, in px. */
  top: number
  /** The row element: the index modulo the number of elements. */
  key: number
}

export interface RowPoolOptions {
  scroller: Ref<HTMLElement | undefined>
  count: MaybeRefOrGetter<number>
  /** In px. */
  rowHeight: MaybeRefOrGetter<number>
  /** What the box is taken to be high before it has been measured, in px. */
  initialHeight?: number
}

const overscan = 6

export function useRowPool({ scroller, count, rowHeight, initialHeight = 0 }: RowPoolOptions): {
  rows: ComputedRef<PlacedRow[]>
  totalHeight: ComputedRef<number>
  reveal: (index: number) => void
} {
  const virtual = useVirtualizer(
    computed(() => ({
      count: toValue(count),
      getScrollElement: () => scroller.value ?? null,
      estimateSize: () => toValue(rowHeight),
      overscan,
      initialRect: { width: 800, height: initialHeight },
    })),
  )
  const rows = computed(() => {
    const items = virtual.value.getVirtualItems()
    const height = virtual.value.scrollRect?.height ?? initialHeight
    return recycled(items, Math.ceil(height / toValue(rowHeight)) + 1 + 2 * overscan, virtual.value.isScrolling)
  })
  return {
    rows,
    totalHeight: computed(() => virtual.value.getTotalSize()),
    reveal: (index) => virtual.value.scrollToIndex(index, { align: 'auto' }),
  }
}

/**
 * While it scrolls, rows are listed by element, so that none moves in the document; at
 * rest in reading order, which is how a screen reader goes through them.
 */
export function recycled(items: readonly { index: number; start: number }[], elements: number, scrolling: boolean): PlacedRow[] {
  const size = Math.max(elements, items.length, 1)
  const placed = items.map(({ index, start }) => ({ index, top: start, key: index % size }))
  return scrolling ? placed.sort((a, b) => a.key - b.key) : placed
}
