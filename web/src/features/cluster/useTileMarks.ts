// The outlines above the canvas of tiles, and the tag with the chosen node's name. They are
// elements, so that moving the pointer does not repaint the canvas.

import { computed, type Ref } from 'vue'
import type { NodeVerdict } from '@/features/decision/model/cycle'
import type { NodeView } from '@/kubernetes/cluster'
import type { TileLayout } from './model/tiles'

type Style = Record<string, string>

/** Tiles up to this pitch are small (px). */
const smallPitch = 18
/** The maximum width of the tag (px). */
const tagWidth = 150
const tagHeight = 18
/** About the width of a letter in a tag (px). */
const letter = 6.6

export function useTileMarks({
  layout,
  nodes,
  chosen,
  nearest,
  nearestSays,
  active,
  stageWidth,
  verdictOf,
}: {
  layout: Ref<TileLayout>
  nodes: Ref<readonly NodeView[]>
  chosen: Ref<number>
  nearest: Ref<number>
  /** What the nearest node lacks. */
  nearestSays: () => string
  active: Ref<number>
  stageWidth: Ref<number>
  verdictOf: () => ((node: string) => NodeVerdict) | undefined
}) {
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
    /** Above its tile, or below one at the top, and inside the stage, also where that is narrow. */
    nearestTag: computed(() => {
      const name = nodes.value[nearest.value]?.name
      if (name === undefined) return undefined
      const { x, y, pitch } = placeOf(nearest.value)
      const says = nearestSays()
      const width = Math.min(stageWidth.value, (name.length + says.length) * letter + 24)
      return {
        name,
        says,
        style: {
          top: `${y < tagHeight + 4 ? y + pitch + 4 : y - tagHeight - 4}px`,
          left: `${Math.max(0, Math.min(x - 2, stageWidth.value - width))}px`,
          maxWidth: `${stageWidth.value}px`,
        },
      }
    }),
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
