// The movement from tile to tile, and the position of a tile's card.

import type { NodeVerdict } from '@/features/decision/model/cycle'
import type { NodeView } from '@/kubernetes/cluster'
import { nextTile, type Direction, type TileLayout } from './tiles'

const arrows: Record<string, Direction> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' }

/** The tiles that keys can reach. Indexes are those of the layout; -1 is none. */
export interface TileStops {
  layout: TileLayout
  count: number
  active: number
  /** The first tile for keys: the chosen node's, otherwise tile 0. */
  start: number
  /** Tiles of scored nodes, best first. */
  best: readonly number[]
}

/** The tile that a key moves to; undefined if it moves to none. */
export function tileForKey(key: string, { layout, count, active, start, best }: TileStops): number | undefined {
  const direction = arrows[key]
  if (direction) return active < 0 ? start : nextTile(layout, active, direction)
  if (key === 'Home') return start
  if (key === 'End') return count - 1
  if (key === 'n' && best.length) return best[(best.indexOf(active) + 1) % best.length] ?? active
  return undefined
}

/** The indexes of scored nodes, best first; among equals the chosen one first. */
export function bestFirst(
  nodes: readonly NodeView[],
  verdictOf: ((node: string) => NodeVerdict) | undefined
): number[] {
  if (!verdictOf) return []
  const scored = nodes.flatMap(({ name }, i) => {
    const verdict = verdictOf(name)
    return verdict.kind === 'scored' ? [{ i, verdict }] : []
  })
  return scored
    .sort((a, b) => b.verdict.total - a.verdict.total || Number(b.verdict.chosen) - Number(a.verdict.chosen))
    .map(({ i }) => i)
}

interface Size {
  width: number
  height: number
}

/**
 * The top left corner of a card that is beside a tile and inside the frame. Positions are relative
 * to the frame.
 */
export function placeCard(
  tile: { x: number; y: number; pitch: number },
  card: Size,
  frame: Size
): { left: number; top: number } {
  const right = tile.x + tile.pitch + 10
  const left = right + card.width <= frame.width ? right : Math.max(4, tile.x - card.width - 10)
  return { left, top: Math.max(4, Math.min(tile.y + tile.pitch + 6, frame.height - card.height - 4)) }
}

/**
 * The scroll position of a box at which a tile is visible with some room around it; undefined if it
 * already is.
 */
export function scrollTo(tile: { y: number; pitch: number }, box: { top: number; height: number }): number | undefined {
  if (tile.y < box.top + 20) return tile.y - 40
  if (tile.y + tile.pitch > box.top + box.height - 20) return tile.y + tile.pitch - box.height + 40
  return undefined
}
