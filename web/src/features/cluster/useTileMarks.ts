// The outlines above the canvas of tiles, and the tag with the chosen node's name. They are
// elements, so that moving the pointer does not repaint the canvas.

import { computed, type ComputedRef, type Ref } from 'vue'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import type { NodeView } from '@/kubernetes/cluster'
import type { TileLayout } from './model/tiles'

type Style = Record<string, string>

export interface TileMarks {
  outlines: ComputedRef<{ kind: 'chosen' | 'nearest' | 'active'; style: Style }[]>
  /** Only for small tiles; larger ones have room for the name. */
  chosenTag: ComputedRef<{ name: string; total: number | undefined; style: Style } | undefined>
}

/** Tiles up to this pitch are small (px). */
const smallPitch = 18
/** The maximum width of the tag (px). */
const tagWidth = 150

export function useTileMarks({
  layout,
  nodes,
  chosen,
  nearest,
  active,
  stageWidth,
  verdictOf,
}: {
  layout: Ref<TileLayout>
  nodes: Ref<readonly NodeView[]>
  chosen: Ref<number>
  nearest: Ref<number>
  active: Ref<number>
  stageWidth: Ref<number>
  verdictOf: () => ((node: string) => NodeVerdict) | undefined
}): TileMarks {
  const placeOf = (tile: number) => ({
    x: layout.value.x[tile] ?? 0,
    y: layout.value.y[tile] ?? 0,
    pitch: layout.value.pitch,
  })
  return {
    outlines: computed(() =>
      (
        [
          ['chosen', chosen.value],
          ['nearest', nearest.value],
          ['active', active.value],
        ] as const
      ).flatMap(([kind, tile]) => {
        if (tile < 0) return []
        const { x, y, pitch } = placeOf(tile)
        return [
          {
            kind,
            style: {
              transform: `translate(${x - 2}px, ${y - 2}px)`,
              width: `${pitch + 3}px`,
              height: `${pitch + 3}px`,
            },
          },
        ]
      })
    ),
    chosenTag: computed(() => {
      const view = nodes.value[chosen.value]
      if (!view || layout.value.pitch > smallPitch) return undefined
      const verdict = verdictOf()?.(view.name)
      const { x, y, pitch } = placeOf(chosen.value)
      const left = x + pitch + 5
      const before = left + tagWidth > stageWidth.value
      const side: Style = before ? { right: `${stageWidth.value - left + pitch + 10}px` } : { left: `${left}px` }
      return {
        name: view.name,
        total: verdict?.kind === 'scored' ? verdict.total : undefined,
        style: { top: `${y + pitch / 2 - 9}px`, ...side },
      }
    }),
  }
}
