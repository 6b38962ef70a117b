// Draws tiles on a canvas. Each face is drawn once as a sprite and then copied.

import { levels } from './model/scale'
import type { TileFace } from './model/tileFaces'
import type { TileLayout } from './model/tiles'

const tokens = ['bg', 'surface', 'inset', 'line', 'line-2', 'fill', 'pass', 'rej', 'rej-bg', 'warn'] as const
export type TileColours = Record<(typeof tokens)[number], string>

/** The current colours of the design tokens; read again when the theme changes. */
export function readColours(): TileColours {
  const style = getComputedStyle(document.documentElement)
  return Object.fromEntries(
    tokens.map((name) => [name, style.getPropertyValue(`--${name}`).trim() || '#888888'])
  ) as TileColours
}

/** Mixes two colours, #rrggbb or #rgb (a build may shorten them); 0 is the first. */
export function blend(from: string, to: string, part: number): string {
  const channel = (colour: string, i: number) =>
    parseInt(colour.length < 7 ? colour.charAt(1 + i).repeat(2) : colour.slice(1 + 2 * i, 3 + 2 * i), 16)
  const mixed = [0, 1, 2].map((i) => Math.round(channel(from, i) + (channel(to, i) - channel(from, i)) * part))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

/** The visible part of the layout, in layout px. */
export interface Window {
  top: number
  width: number
  height: number
}

interface Painted {
  layout: TileLayout
  faces: readonly TileFace[]
  window: Window
  dim: (index: number) => boolean
}

export class TilePainter {
  private readonly sprites = new Map<string, HTMLCanvasElement>()
  private readonly size: number
  private painted: Painted | undefined

  constructor(
    private readonly colours: TileColours,
    pitch: number,
    private readonly ratio: number
  ) {
    this.size = pitch - (pitch > 6 ? 1 : 0)
  }

  /**
   * Draws the visible tiles and dims those in `dim`. Always call it with the same canvas:
   * if only faces changed since the last call, it draws only those tiles, unless `cleared`
   * says that the canvas lost its contents.
   */
  paint(
    context: CanvasRenderingContext2D,
    layout: TileLayout,
    faces: readonly TileFace[],
    window: Window,
    dim: (index: number) => boolean,
    cleared = false
  ): void {
    const last = this.painted
    this.painted = { layout, faces, window, dim }
    const kept =
      !cleared &&
      last?.layout === layout &&
      last.dim === dim &&
      sameWindow(last.window, window) &&
      last.faces.length === faces.length
        ? last.faces
        : undefined
    context.setTransform(1, 0, 0, 1, 0, 0)
    if (!kept) context.clearRect(0, 0, context.canvas.width, context.canvas.height)
    const { ratio, size } = this
    for (let i = 0; i < faces.length; i++) {
      const face = faces[i]
      const y = (layout.y[i] ?? 0) - window.top
      if (!face || y < -layout.pitch || y > window.height || (kept && sameFace(face, kept[i]))) continue
      const [left, top] = [Math.round((layout.x[i] ?? 0) * ratio), Math.round(y * ratio)]
      if (kept) context.clearRect(left, top, Math.round(size * ratio), Math.round(size * ratio))
      context.globalAlpha = dim(i) ? 0.16 : 1
      context.drawImage(this.sprite(face), left, top)
    }
    context.globalAlpha = 1
  }

  /** One tile; the legend uses it, too. */
  sprite(face: TileFace): HTMLCanvasElement {
    const key = keyOf(face)
    let sprite = this.sprites.get(key)
    if (!sprite) {
      sprite = document.createElement('canvas')
      const px = Math.max(1, Math.round(this.size * this.ratio))
      sprite.width = px
      sprite.height = px
      const context = sprite.getContext('2d')
      if (context) {
        context.scale(px / 10, px / 10)
        draw(context, face, this.colours)
      }
      this.sprites.set(key, sprite)
    }
    return sprite
  }
}

const sameWindow = (a: Window, b: Window) => a.top === b.top && a.width === b.width && a.height === b.height
const sameFace = (a: TileFace, b: TileFace | undefined) => a === b || (b !== undefined && keyOf(a) === keyOf(b))

function keyOf(face: TileFace): string {
  switch (face.kind) {
    case 'load':
      return `l${face.level}${face.flagged ? '!' : ''}`
    case 'total':
      return `t${face.level}`
    case 'rejected':
      return face.level === undefined ? `r${Math.min(face.sign, signs.length)}` : `n${face.level}`
    default:
      return face.kind
  }
}

/** In a 10 × 10 square. */
function draw(c: CanvasRenderingContext2D, face: TileFace, colours: TileColours): void {
  switch (face.kind) {
    case 'load':
      drawLoad(c, face, colours)
      break
    case 'total':
      fill(c, blend(colours.surface, colours.pass, 0.2 + (0.8 * face.level) / levels))
      break
    case 'feasible':
      fill(c, colours.pass)
      break
    case 'rejected':
      if (face.level !== undefined) {
        drawNearness(c, face.level, colours)
        break
      }
      fill(c, colours['rej-bg'])
      c.fillStyle = c.strokeStyle = blend(colours['rej-bg'], colours.rej, 0.72)
      c.lineWidth = 1.2
      ;(signs[face.sign] ?? drawFrame)(c)
      break
    case 'notEvaluated':
      fill(c, blend(colours.bg, colours.inset, 0.6))
      c.strokeStyle = colours['line-2']
      c.lineWidth = 0.8
      line(c, 0, 7, 7, 0)
      line(c, 3, 10, 10, 3)
      break
    default:
      c.strokeStyle = colours['line-2']
      c.lineWidth = 1
      drawFrame(c)
  }
}

function drawLoad(
  c: CanvasRenderingContext2D,
  { level, flagged }: { level: number; flagged: boolean },
  colours: TileColours
): void {
  if (level > levels) fill(c, colours.rej)
  else fill(c, level === 0 ? colours.inset : blend(colours.inset, colours.fill, 0.06 + (0.94 * level) / levels))
  if (level === 0) {
    c.strokeStyle = colours['line-2']
    c.lineWidth = 0.8
    drawFrame(c)
  }
  if (!flagged) return
  c.fillStyle = colours.warn
  polygon(c, [5, 0], [10, 0], [10, 5])
}

/** A node that has none of a resource has a cross, not the weakest shade. */
function drawNearness(c: CanvasRenderingContext2D, level: number, colours: TileColours): void {
  if (level > 0) return fill(c, blend(colours['rej-bg'], colours.rej, ((level - 1) / (levels - 1)) ** 1.2))
  fill(c, blend(colours.bg, colours.inset, 0.6))
  c.strokeStyle = colours['line-2']
  c.lineWidth = 0.8
  line(c, 2, 2, 8, 8)
  line(c, 2, 8, 8, 2)
}

const fill = (c: CanvasRenderingContext2D, colour: string) => {
  c.fillStyle = colour
  c.fillRect(0, 0, 10, 10)
}
const line = (c: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number) => {
  c.beginPath()
  c.moveTo(x1, y1)
  c.lineTo(x2, y2)
  c.stroke()
}
function polygon(c: CanvasRenderingContext2D, ...points: readonly (readonly [number, number])[]): void {
  c.beginPath()
  for (const [x, y] of points) c.lineTo(x, y)
  c.closePath()
  c.fill()
}
const drawFrame = (c: CanvasRenderingContext2D) => c.strokeRect(0.8, 0.8, 8.4, 8.4)

/**
 * Signs for the rejecting plugins, most frequent first, which need no colour. Further plugins share
 * the frame.
 */
const signs: readonly ((c: CanvasRenderingContext2D) => void)[] = [
  (c) => c.fillRect(0, 5, 10, 5),
  (c) => polygon(c, [0, 0], [10, 10], [0, 10]),
  (c) => {
    line(c, 2, 2, 8, 8)
    line(c, 8, 2, 2, 8)
  },
  (c) => c.fillRect(3.2, 3.2, 3.6, 3.6),
  (c) => c.fillRect(0, 0, 3.6, 10),
  (c) => line(c, 1, 9, 9, 1),
]
