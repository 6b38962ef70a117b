// The map as tiles: the position of each node's tile, the tile at a point, and the next
// tile in a direction. Columns fill from the top; blocks stand side by side.

import type { NodeGroup } from './arrange'

/** A group without its nodes: everything that tile positions depend on. */
export interface GroupShape {
  name: string
  count: number
  parts: readonly { name: string; count: number }[]
}

export interface TileBlock {
  name: string
  count: number
  /** Top left corner of the first tile. */
  x: number
  y: number
  rows: number
  columns: number
  /** Index of its first tile. */
  first: number
}

export interface TileRow {
  name: string
  count: number
  /** Top of its heading. */
  y: number
  blocks: TileBlock[]
}

export interface TileLayout {
  /** The distance from one tile to the next, including the gap. */
  pitch: number
  height: number
  rows: TileRow[]
  /** One entry for each tile, in the order of the groups' nodes. */
  x: Float32Array
  y: Float32Array
}

const largest = 44
const smallest = 9
const between = 22
const headingHeight = 24
const labelHeight = 19
const rowGap = 22

export function shapeOf(groups: readonly NodeGroup[]): GroupShape[] {
  return groups.map(({ name, nodes, parts }) => ({
    name,
    count: nodes.length,
    parts: parts.map((part) => ({ name: part.name, count: part.nodes.length })),
  }))
}

/**
 * Lays out tiles in width px: as large as possible if all fit into height px, otherwise at the
 * smallest readable size.
 */
export function layoutTiles(
  groups: readonly GroupShape[],
  { width, height }: { width: number; height: number }
): TileLayout {
  const usable = Math.max(width, smallest * 4)
  let pitch = largest
  while (pitch > smallest && placeBlocks(groups, usable, pitch).height > height) pitch--
  const layout = placeBlocks(groups, usable, pitch)
  placeTiles(layout)
  return layout
}

function placeBlocks(groups: readonly GroupShape[], width: number, pitch: number): TileLayout {
  const layout: TileLayout = { pitch, height: 0, rows: [], x: new Float32Array(0), y: new Float32Array(0) }
  let y = 0
  let first = 0
  for (const group of groups) {
    const row: TileRow = { name: group.name, count: group.count, y, blocks: [] }
    if (group.name || groups.length > 1) y += headingHeight
    y = placeRow(pitch, row, group, { width, top: y, first }) + rowGap
    first += group.count
    layout.rows.push(row)
  }
  layout.height = Math.max(0, y - rowGap)
  return layout
}

function placeTiles(layout: TileLayout): void {
  const blocks = layout.rows.flatMap((row) => row.blocks)
  const tiles = blocks.reduce((sum, block) => sum + block.count, 0)
  layout.x = new Float32Array(tiles)
  layout.y = new Float32Array(tiles)
  for (const { x, y, rows, first, count } of blocks) {
    for (let i = 0; i < count; i++) {
      layout.x[first + i] = x + Math.floor(i / rows) * layout.pitch
      layout.y[first + i] = y + (i % rows) * layout.pitch
    }
  }
}

/** Returns the bottom of the placed groups. */
function placeRow(
  pitch: number,
  row: TileRow,
  group: GroupShape,
  { width, top, first }: { width: number; top: number; first: number }
): number {
  const labelled = group.parts.length > 1 || !!group.parts[0]?.name
  const rows = rowsToFit(group, width, pitch)
  let x = 0
  let y = top + (labelled ? labelHeight : 0)
  let bottom = y
  for (const part of group.parts) {
    const wide = blockWidth(part, rows, pitch, width)
    if (x > 0 && x + wide > width) {
      x = 0
      y = bottom + (labelled ? labelHeight : 0) + 8
    }
    const fitting = Math.max(1, Math.floor(width / pitch))
    const columns = Math.min(fitting, Math.ceil(part.count / rows))
    const block: TileBlock = {
      name: part.name,
      count: part.count,
      x,
      y,
      columns,
      rows: Math.ceil(part.count / columns),
      first,
    }
    first += part.count
    row.blocks.push(block)
    x += wide + between
    bottom = Math.max(bottom, y + block.rows * pitch)
  }
  return bottom
}

/**
 * The smallest number of tiles per column with which the group's blocks fit side by side; at most
 * 24, then they wrap.
 */
function rowsToFit(group: GroupShape, width: number, pitch: number): number {
  const widthAt = (rows: number) =>
    group.parts.reduce((sum, part) => sum + blockWidth(part, rows, pitch, width) + between, -between)
  for (let rows = 1; rows < 24; rows++) if (widthAt(rows) <= width) return rows
  return 24
}

function blockWidth(part: { name: string; count: number }, rows: number, pitch: number, width: number): number {
  // An estimate of the label's width; a narrower page cuts the label.
  const label = part.name ? Math.min(width, (part.name.length + String(part.count).length + 1) * 6.4) : 0
  return Math.max(Math.min(width, Math.ceil(part.count / rows) * pitch), label)
}

/** The index of the tile at a point of the layout; -1 when there is none. */
export function tileAt(layout: TileLayout, x: number, y: number): number {
  const { pitch } = layout
  for (const { blocks } of layout.rows) {
    for (const block of blocks) {
      const column = Math.floor((x - block.x) / pitch)
      const row = Math.floor((y - block.y) / pitch)
      if (column < 0 || row < 0 || column >= block.columns || row >= block.rows) continue
      const index = column * block.rows + row
      return index < block.count ? block.first + index : -1
    }
  }
  return -1
}

export type Direction = 'left' | 'right' | 'up' | 'down'
const directions: Record<Direction, readonly [dx: number, dy: number]> = {
  left: [-1, 0],
  right: [1, 0],
  up: [0, -1],
  down: [0, 1],
}

/** The index of the nearest tile in a direction, across blocks; the same tile at the edge. */
export function nextTile(layout: TileLayout, from: number, direction: Direction): number {
  const [dx, dy] = directions[direction]
  const [x, y] = [layout.x[from] ?? 0, layout.y[from] ?? 0]
  let best = from
  let least = Infinity
  for (let i = 0; i < layout.x.length; i++) {
    const [across, down] = [(layout.x[i] ?? 0) - x, (layout.y[i] ?? 0) - y]
    const along = across * dx + down * dy
    if (along <= 0) continue
    // Prefer tiles straight ahead over tiles to the side.
    const distance = along + 4 * Math.abs(across * dy) + 4 * Math.abs(down * dx)
    if (distance < least) {
      least = distance
      best = i
    }
  }
  return best
}
