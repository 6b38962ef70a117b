// Paints the tiles on a canvas, at most once per frame.

import { useRafFn } from '@vueuse/core'
import { computed, onMounted, watch, type ComputedRef, type Ref } from 'vue'
import { drawnTheme } from '@/ui/theme'
import type { TileFace } from './model/tileFaces'
import type { TileLayout } from './model/tiles'
import { readColours, TilePainter } from './tilePainter'

export interface TileSheet {
  canvas: Ref<HTMLCanvasElement | undefined>
  scroller: Ref<HTMLElement | undefined>
  layout: Ref<TileLayout>
  faces: Ref<readonly TileFace[]>
  dim: Ref<(tile: number) => boolean>
  /** The size of the visible part, in px. */
  width: Ref<number>
  height: Ref<number>
  /** The size of all tiles, in px. */
  stageWidth: Ref<number>
  stageHeight: Ref<number>
}

/** Up to this height and area in device pixels, the canvas holds all tiles. */
const highest = 8192
const largest = 16e6
const ratio = () => Math.min(3, window.devicePixelRatio || 1)

/** Paints whenever one of the refs changes. Call onScroll when the user scrolls. */
export function useTilePainting({
  canvas,
  scroller,
  layout,
  faces,
  dim,
  width,
  height,
  stageWidth,
  stageHeight,
}: TileSheet): { canvasHeight: ComputedRef<number>; onScroll: () => void } {
  const painter = computed(() => {
    void drawnTheme.value
    return new TilePainter(readColours(), layout.value.pitch, ratio())
  })
  /** A canvas with all tiles scrolls without repainting, but a very large one would take too much memory. */
  const whole = computed(
    () => stageHeight.value * ratio() <= highest && stageWidth.value * stageHeight.value * ratio() ** 2 <= largest
  )
  const canvasHeight = computed(() => (whole.value ? stageHeight.value : height.value))

  function paint() {
    const context = canvas.value?.getContext('2d')
    if (!context || !canvas.value || !scroller.value) return
    const [w, h] = [Math.round(stageWidth.value * ratio()), Math.round(canvasHeight.value * ratio())]
    const resized = canvas.value.width !== w || canvas.value.height !== h
    if (resized) {
      canvas.value.width = w
      canvas.value.height = h
    }
    painter.value.paint(
      context,
      layout.value,
      faces.value,
      { top: whole.value ? 0 : scroller.value.scrollTop, width: stageWidth.value, height: canvasHeight.value },
      dim.value,
      resized
    )
  }
  const { resume: paintSoon } = useRafFn(paint, { immediate: false, once: true })
  watch([layout, faces, dim, painter, width, height, canvasHeight], paintSoon, { flush: 'post' })
  onMounted(paintSoon)
  return {
    canvasHeight,
    onScroll() {
      if (!whole.value) paintSoon()
    },
  }
}
