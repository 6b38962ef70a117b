// The active tile of the map, chosen by pointer, touch or keys, and the position of its card.

import { computed, ref, shallowRef, type Ref } from 'vue'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import { nodeRef } from '@/features/act/model/links'
import { openObjectMenu } from '@/features/act/store/asked'
import type { NodeView } from '@/kubernetes/cluster'
import { bestFirst, placeCard, scrollTo, tileForKey } from './model/tileCursor'
import { tileAt, type TileLayout } from './model/tiles'

export interface TileStage {
  frame: Ref<HTMLElement | undefined>
  scroller: Ref<HTMLElement | undefined>
  list: Ref<HTMLElement | undefined>
  /** The distance from the frame's edge to the first tile, in px. */
  margin: number
  layout: Ref<TileLayout>
  /** In the order of the tiles. */
  nodes: Ref<readonly NodeView[]>
  /** The tile of the chosen node; -1 if there is none. */
  chosen: Ref<number>
  verdictOf: () => ((node: string) => NodeVerdict) | undefined
  /** In px; a card with scores is higher. */
  cardHeight: () => number
}

export interface TileWishes {
  /** The user opens this node. */
  open(name: string): void
  /** A digit key selects the rejecting plugin with this index; false if there is none. */
  isolate(at: number): boolean
}

export type TileCursor = ReturnType<typeof useTileCursor>

const cardWidth = 284

export function useTileCursor(
  { frame, scroller, list, margin, layout, nodes, chosen, verdictOf, cardHeight }: TileStage,
  { open, isolate }: TileWishes
) {
  /** By name, so that it stays the same while nodes are added and removed. */
  const activeName = ref<string>()
  const focused = ref(false)
  const cardAt = shallowRef<{ left: number; top: number }>()
  /** The index of its tile; -1 if there is none. */
  const active = computed(() =>
    activeName.value === undefined ? -1 : nodes.value.findIndex((view) => view.name === activeName.value)
  )
  const activeView = computed(() => nodes.value[active.value])
  const best = computed(() => bestFirst(nodes.value, verdictOf()))
  const start = () => Math.max(0, chosen.value)

  function look(index: number) {
    const view = nodes.value[index]
    activeName.value = view?.name
    cardAt.value = view && placeOf(index)
  }
  function placeOf(index: number) {
    const { x, y, pitch } = layout.value
    const tile = { x: (x[index] ?? 0) + margin, y: (y[index] ?? 0) - (scroller.value?.scrollTop ?? 0), pitch }
    return placeCard(
      tile,
      { width: cardWidth, height: cardHeight() },
      { width: frame.value?.clientWidth ?? 0, height: frame.value?.clientHeight ?? 0 }
    )
  }
  function move(index: number) {
    const box = scroller.value
    const top =
      box &&
      scrollTo(
        { y: layout.value.y[index] ?? 0, pitch: layout.value.pitch },
        { top: box.scrollTop, height: box.clientHeight }
      )
    if (box && top !== undefined) box.scrollTop = top
    look(index)
  }
  function pointAt(event: MouseEvent): number {
    const box = list.value?.getBoundingClientRect()
    return box ? tileAt(layout.value, event.clientX - box.left, event.clientY - box.top) : -1
  }

  return {
    activeName,
    active,
    activeView,
    cardAt,
    onPointer(event: PointerEvent) {
      if (event.pointerType === 'touch') return
      const index = pointAt(event)
      if (index !== active.value) look(index)
    },
    onLeave() {
      if (!focused.value) look(-1)
    },
    onClick(event: MouseEvent) {
      const index = pointAt(event)
      const view = nodes.value[index]
      if (!view) return
      // Touch cannot hover: the first tap shows the card, the second opens the node.
      const touch = event instanceof PointerEvent && event.pointerType === 'touch'
      if (touch && activeName.value !== view.name) look(index)
      else open(view.name)
    },
    onMenu(event: MouseEvent) {
      const view = event.button === 2 ? nodes.value[pointAt(event)] : activeView.value
      if (view) openObjectMenu([nodeRef(view.name)], event)
    },
    onKey(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      const to = tileForKey(event.key, {
        layout: layout.value,
        count: nodes.value.length,
        active: active.value,
        start: start(),
        best: best.value,
      })
      if (to !== undefined) move(to)
      else if (event.key === 'Enter' && activeView.value) open(activeView.value.name)
      else if (event.key === 'Escape' && activeName.value !== undefined) look(-1)
      else if (!/^[0-9]$/.test(event.key) || !isolate(Number(event.key) - 1)) return
      event.preventDefault()
      event.stopPropagation()
    },
    onFocus() {
      focused.value = true
      if (activeName.value === undefined && list.value?.matches(':focus-visible')) look(start())
    },
    onBlur() {
      focused.value = false
      look(-1)
    },
    onScroll() {
      if (active.value >= 0) cardAt.value = placeOf(active.value)
    },
  }
}
