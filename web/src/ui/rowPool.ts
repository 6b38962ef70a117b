// Thousands of rows of equal height in a scrolling box, rendered with only as many elements
// as the box shows: a row that leaves at one end is reused at the other. Creating an element
// for each row costs several frames per turn of the wheel.

import { computed, toValue, type ComputedRef, type MaybeRefOrGetter, type Ref } from 'vue'
import { useVirtualizer } from '@tanstack/vue-virtual'

export interface PlacedRow {
  index: number
  /** The distance from the top of the first row, in px. */
  top: number
  /** The row's element: the index modulo the number of elements. */
  key: number
}

export interface RowPoolOptions {
  scroller: Ref<HTMLElement | undefined>
  count: MaybeRefOrGetter<number>
  /** In px. */
  rowHeight: MaybeRefOrGetter<number>
  /** The assumed height of the box before it is measured, in px. */
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
    }))
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
 * While scrolling, rows are listed by element, so that none moves in the document; at rest
 * they are in reading order, for screen readers.
 */
export function recycled(
  items: readonly { index: number; start: number }[],
  elements: number,
  scrolling: boolean
): PlacedRow[] {
  const size = Math.max(elements, items.length, 1)
  const placed = items.map(({ index, start }) => ({ index, top: start, key: index % size }))
  return scrolling ? placed.sort((a, b) => a.key - b.key) : placed
}

/** A function that computes each of its values once. */
export function remembering<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>()
  return (key) => {
    let value = made.get(key)
    if (value === undefined) made.set(key, (value = make(key)))
    return value
  }
}
